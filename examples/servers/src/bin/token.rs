//! A token issuer: `token KEY.pem [ADDRESS]`. All requests share batches; see `zariz_servers::token`.

use std::error::Error;
use std::process::ExitCode;

use zariz::rsa::PrivateKey;
use zariz_servers::{http, token};

// One thread for connections: zariz's workers sign.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::exit(run().await)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: token KEY.pem [ADDRESS]")?;
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".into());
    let key = PrivateKey::parse(&http::read(&file)?).map_err(|error| format!("{file}: {error}"))?;
    http::serve(&address, token::by_zariz(&key).routes()).await?;
    Ok(())
}

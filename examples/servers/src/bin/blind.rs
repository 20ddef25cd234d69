//! A blind issuer: `blind KEY.pem [ADDRESS]`. The key must be for PSS only, with SHA-384 and a salt of 48
//! bytes, and be used nowhere else; see `zariz_servers::blind`.

use std::error::Error;
use std::process::ExitCode;

use zariz::rsa::blind::PrivateKey;
use zariz_servers::{blind, http};

// One thread for connections: zariz's workers sign.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::exit(run().await)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: blind KEY.pem [ADDRESS]")?;
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8081".into());
    let key =
        PrivateKey::parse(blind::VARIANT, &http::read(&file)?).map_err(|error| format!("{file}: {error}"))?;
    http::serve(&address, blind::Issuer::new(key)?.routes()).await?;
    Ok(())
}

//! Full TLS 1.3 handshakes per second of a server on one thread, with zariz and with aws-lc-rs in turn.
//!
//! `cargo run --release -p zariz-rustls --example handshakes [ROUNDS]`. Client and server pass their messages
//! through memory, and only the server's part is timed: the work of an async server's executor thread for a
//! connection, without the network. Ratios are medians over rounds.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection};

/// The handshakes in a round with each provider.
const HANDSHAKES: usize = 40;

const CERTIFICATE: &[u8] = include_bytes!("../tests/data/rsa2048.pem");
const KEY: &[u8] = include_bytes!("../tests/data/rsa2048.key.pem");

fn main() -> Result<(), Box<dyn Error>> {
    let rounds = std::env::args().nth(1).map_or(Ok(25), |rounds| rounds.parse())?;
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE)?;
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone())?;
    let client = Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth());
    let [zariz, other] = [zariz_rustls::default_provider(), aws_lc_rs::default_provider()].map(|provider| {
        let builder =
            ServerConfig::builder_with_provider(provider.into()).with_safe_default_protocol_versions()?;
        let key =
            PrivateKeyDer::from_pem_slice(KEY).map_err(|error| rustls::Error::General(error.to_string()))?;
        let mut config = builder.with_no_client_auth().with_single_cert(vec![certificate.clone()], key)?;
        // Without tickets, each handshake is a full one.
        config.send_tls13_tickets = 0;
        Ok::<_, rustls::Error>(Arc::new(config))
    });
    let (zariz, other) = (zariz?, other?);

    let (mut times, mut ratios) = ([Duration::MAX; 2], Vec::new());
    for round in 0..=rounds {
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        let mut spent = [Duration::ZERO; 2];
        for which in order {
            for _ in 0..HANDSHAKES {
                spent[which] += handshake([&zariz, &other][which], &client)?;
            }
        }
        // The first round warms up.
        if round > 0 {
            ratios.push(spent[1].as_secs_f64() / spent[0].as_secs_f64());
            times = [0, 1].map(|which| times[which].min(spent[which]));
        }
    }
    ratios.sort_by(f64::total_cmp);
    let rate = |time: Duration| HANDSHAKES as f64 / time.as_secs_f64();
    println!(
        "RSA-2048, TLS 1.3, one thread, the server's part of {rounds} rounds of {HANDSHAKES} handshakes"
    );
    println!("aws-lc-rs  {:8.0} handshakes a second (best round)", rate(times[1]));
    println!("zariz      {:8.0} handshakes a second (best round)", rate(times[0]));
    println!("ratio      {:8.2} (median)", ratios[ratios.len() / 2]);
    Ok(())
}

/// The time that the server needs for one handshake.
fn handshake(server: &Arc<ServerConfig>, client: &Arc<ClientConfig>) -> Result<Duration, Box<dyn Error>> {
    let mut client = Connection::from(ClientConnection::new(client.clone(), "localhost".try_into()?)?);
    let mut time = Duration::ZERO;
    let mut start = Instant::now();
    let mut server = Connection::from(ServerConnection::new(server.clone())?);
    time += start.elapsed();
    while server.is_handshaking() || client.is_handshaking() {
        let sent = written(&mut client)?;
        start = Instant::now();
        read(&mut server, &sent)?;
        let answer = written(&mut server)?;
        time += start.elapsed();
        read(&mut client, &answer)?;
    }
    black_box(&server);
    Ok(time)
}

/// The messages that a side has to send.
fn written(from: &mut Connection) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut bytes)?;
    }
    Ok(bytes)
}

fn read(to: &mut Connection, mut bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    while !bytes.is_empty() {
        to.read_tls(&mut bytes)?;
        to.process_new_packets()?;
    }
    Ok(())
}

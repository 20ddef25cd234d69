//! Full TLS 1.3 handshakes per second of servers on rustls, with keys of aws-lc-rs and of zariz: `handshakes
//! [ROUNDS [CONNECTIONS]]`, RSA-2048.
//!
//! Each server is a process on processor 0; this process has the clients, on processor 1. Servers alternate
//! in short rounds. rustls requests a signature by a call that blocks. So batches form only if several
//! threads of the server are in that call at once: with a thread for each connection, or several for tokio's
//! tasks.

use std::error::Error;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};
use tokio_rustls::TlsAcceptor;
use zariz::Dispatch;
use zariz::batcher::Batcher;
use zariz_servers::measure::{CLIENT_CPU, SERVER_CPU, Server, median, pin, processor, ratio, ready};

const CERTIFICATE: &[u8] = include_bytes!("../../../../crates/rustls/tests/data/rsa2048.pem");
const KEY: &[u8] = include_bytes!("../../../../crates/rustls/tests/data/rsa2048.key.pem");
const ROUND: Duration = Duration::from_secs(1);

/// The servers.
const SERVERS: [(&str, &str); 3] = [
    ("threads", "a thread for each connection"),
    ("tokio-1", "tokio, 1 thread"),
    ("tokio-8", "tokio, 8 threads"),
];
/// The signers. The first is the reference.
const SIGNERS: [(&str, &str); 3] =
    [("aws", "aws-lc-rs"), ("zariz", "zariz"), ("batcher", "zariz, with_batcher")];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [serve, server, signer] = &arguments[..]
        && serve == "serve"
    {
        pin(SERVER_CPU)?;
        return serve_by(server, signer);
    }
    let number = |at: usize, default| arguments.get(at).map_or(Ok(default), |text| text.parse::<usize>());
    let (rounds, connections) = (number(0, 10)?.max(1), number(1, 32)?.max(1));
    let variants: Vec<_> = SERVERS.iter().flat_map(|server| SIGNERS.map(|signer| (server, signer))).collect();
    let servers = variants
        .iter()
        .map(|((server, _), (signer, _))| Server::start(&["serve", server, signer]))
        .collect::<Result<Vec<_>, _>>()?;
    pin(CLIENT_CPU)?;
    let client = client()?;
    let mut rates: Vec<Vec<f64>> = variants.iter().map(|_| Vec::new()).collect();
    let mut times = rates.clone();
    for server in &servers {
        handshakes(server.address, &client, connections, ROUND / 4)?; // warms up
    }
    for round in 0..rounds {
        for turn in 0..servers.len() {
            let which = (round + turn) % servers.len();
            let before = servers[which].processor_time()?;
            let (count, seconds) = handshakes(servers[which].address, &client, connections, ROUND)?;
            rates[which].push(count / seconds);
            times[which].push((servers[which].processor_time()? - before) * 1e6 / count);
        }
    }
    println!("{}", processor());
    println!(
        "Engine {} of zariz; {connections} clients, {rounds} rounds of {ROUND:?}\n",
        Dispatch::Auto.main().name()
    );
    println!(
        "| server | signatures | handshakes a second | of aws-lc-rs's | µs of processor time for one | of aws-lc-rs's |"
    );
    println!("|---|---|---:|---:|---:|---:|");
    for (which, ((_, server), (_, signer))) in variants.iter().enumerate() {
        let peer = which - which % SIGNERS.len();
        let (rate, time) = (&rates[which], &times[which]);
        let (of_rate, of_time) = (ratio(rate, &rates[peer]), ratio(time, &times[peer]));
        let (rate, time) = (median(rate.clone()), median(time.clone()));
        println!("| {server} | {signer} | {rate:.0} | {of_rate:.2} | {time:.0} | {of_time:.2} |");
    }
    Ok(())
}

fn client() -> Result<Arc<ClientConfig>, Box<dyn Error>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(CERTIFICATE)?)?;
    let mut client = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    client.resumption = Resumption::disabled();
    Ok(Arc::new(client))
}

/// Makes handshakes with several clients, each of which connects repeatedly. Returns their number, and the
/// seconds that they took.
fn handshakes(
    address: SocketAddr,
    client: &Arc<ClientConfig>,
    connections: usize,
    time: Duration,
) -> io::Result<(f64, f64)> {
    let (count, start) = (AtomicUsize::new(0), Instant::now());
    let one = || {
        let mut connection =
            ClientConnection::new(client.clone(), "localhost".try_into().map_err(io::Error::other)?)
                .map_err(io::Error::other)?;
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        while connection.is_handshaking() {
            connection.complete_io(&mut stream)?;
        }
        // The server closes when it has received the last message.
        io::copy(&mut stream, &mut io::sink()).map(|_| ())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..connections)
            .map(|_| {
                scope.spawn(|| -> io::Result<()> {
                    while start.elapsed() < time {
                        one()?;
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("a client panicked")))
        })
    })?;
    Ok((count.load(Ordering::Relaxed) as f64, start.elapsed().as_secs_f64()))
}

fn provider(signer: &str) -> CryptoProvider {
    match signer {
        "zariz" => zariz_rustls::default_provider(),
        "batcher" => zariz_rustls::with_batcher(aws_lc_rs::default_provider(), Batcher::new()),
        _ => aws_lc_rs::default_provider(),
    }
}

fn serve_by(server: &str, signer: &str) -> Result<(), Box<dyn Error>> {
    let builder =
        ServerConfig::builder_with_provider(provider(signer).into()).with_safe_default_protocol_versions()?;
    let (certificate, key) =
        (CertificateDer::from_pem_slice(CERTIFICATE)?, PrivateKeyDer::from_pem_slice(KEY)?);
    let mut config = builder.with_no_client_auth().with_single_cert(vec![certificate], key)?;
    // Without tickets, every handshake is a full one.
    config.send_tls13_tickets = 0;
    let config = Arc::new(config);
    match server {
        "threads" => with_threads(config),
        "tokio-1" => {
            tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(with_tasks(config))
        }
        _ => {
            let mut runtime = tokio::runtime::Builder::new_multi_thread();
            let runtime = runtime.worker_threads(8).enable_all().build()?;
            // Accept on the runtime's own threads: the first task moves there.
            runtime.block_on(async {
                tokio::spawn(async { with_tasks(config).await.map_err(|error| error.to_string()) }).await
            })??;
            Ok(())
        }
    }
}

/// A thread for each connection.
fn with_threads(config: Arc<ServerConfig>) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    ready(listener.local_addr()?);
    loop {
        let (mut stream, _) = listener.accept()?;
        let config = config.clone();
        thread::spawn(move || -> io::Result<()> {
            stream.set_nodelay(true)?;
            let mut connection = ServerConnection::new(config).map_err(io::Error::other)?;
            while connection.is_handshaking() {
                connection.complete_io(&mut stream)?;
            }
            Ok(())
        });
    }
}

/// A task for each connection.
async fn with_tasks(config: Arc<ServerConfig>) -> Result<(), Box<dyn Error>> {
    let (acceptor, listener) =
        (TlsAcceptor::from(config), tokio::net::TcpListener::bind("127.0.0.1:0").await?);
    ready(listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            stream.set_nodelay(true)?;
            acceptor.accept(stream).await.map(drop)
        });
    }
}

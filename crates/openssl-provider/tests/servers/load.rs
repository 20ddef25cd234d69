//! A TLS client that makes many full handshakes at once, checks every response and counts failures.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, Stream, SupportedProtocolVersion};

use crate::cut::Cut;
use crate::random::Random;

/// How long a client waits for a silent server. No server here takes a hundredth of it.
const SILENCE: Duration = Duration::from_secs(60);
/// How many failures are reported in full.
const TOLD: usize = 5;

/// The client's request.
pub const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// 1.2, with ECDHE and RSA signatures.
    V12,
    /// 1.3, with RSA-PSS signatures.
    V13,
}

impl Tls {
    /// Both.
    pub const ALL: [Self; 2] = [Self::V12, Self::V13];

    fn version(self) -> &'static SupportedProtocolVersion {
        match self {
            Self::V12 => &rustls::version::TLS12,
            Self::V13 => &rustls::version::TLS13,
        }
    }
}

impl fmt::Display for Tls {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::V12 => "TLS 1.2",
            Self::V13 => "TLS 1.3",
        })
    }
}

/// A client configuration of one TLS version for full handshakes with servers that have these certificates.
pub fn config(certificates: &[PathBuf], tls: Tls) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for file in certificates {
        roots.add(CertificateDer::from_pem_file(file).expect("a certificate")).expect("a sound certificate");
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[tls.version()])
        .expect("ring supports both versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    Arc::new(config)
}

/// The load of a server.
pub struct Load {
    address: SocketAddr,
    config: Arc<ClientConfig>,
    body: &'static str,
    clients: usize,
    cuts: bool,
    progress: AtomicUsize,
}

/// The results of a load.
#[derive(Debug, Default)]
pub struct Tally {
    /// Handshakes that were followed by the right response.
    pub answered: usize,
    /// Connections that the test cut off.
    pub cut: usize,
    /// Everything else.
    pub failed: usize,
    /// The first failures, as text.
    pub failures: Vec<String>,
    /// From the first connection to the last response.
    pub time: Duration,
}

impl Load {
    /// 64 clients that connect to `port`, request `/` and expect `body`, repeatedly.
    pub fn new(port: u16, certificate: &Path, tls: Tls, body: &'static str) -> Self {
        Self {
            address: SocketAddr::from(([127, 0, 0, 1], port)),
            config: config(&[certificate.to_owned()], tls),
            body,
            clients: 64,
            cuts: false,
            progress: AtomicUsize::new(0),
        }
    }

    /// A load in which every connection is cut off at a random place.
    pub fn cut(mut self) -> Self {
        self.cuts = true;
        self
    }

    /// How many connections have ended.
    pub fn progress(&self) -> usize {
        self.progress.load(Relaxed)
    }

    /// Makes this many connections and waits for all.
    pub fn run(&self, connections: usize) -> Tally {
        let (next, tally, start) = (AtomicUsize::new(0), Mutex::new(Tally::default()), Instant::now());
        std::thread::scope(|scope| {
            for _ in 0..self.clients.min(connections) {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Relaxed);
                        if number >= connections {
                            break;
                        }
                        let outcome = self.visit(number as u64);
                        self.progress.fetch_add(1, Relaxed);
                        tally.lock().expect("no client panics while it counts").count(outcome);
                    }
                });
            }
        });
        let mut tally = tally.into_inner().expect("no client panics while it counts");
        tally.time = start.elapsed();
        tally
    }

    /// Makes this many connections, sends a request on each, and keeps them all open without a response.
    pub fn hold(&self, connections: usize) -> Vec<(ClientConnection, TcpStream)> {
        let hold = || {
            let mut tcp = TcpStream::connect(self.address)?;
            tcp.set_read_timeout(Some(SILENCE))?;
            let mut tls = self.client();
            while tls.is_handshaking() {
                tls.complete_io(&mut tcp)?;
            }
            tls.writer().write_all(REQUEST)?;
            tls.complete_io(&mut tcp)?;
            Ok((tls, tcp))
        };
        (0..connections)
            .map(|_| hold().unwrap_or_else(|error: std::io::Error| panic!("holding: {error}")))
            .collect()
    }

    fn client(&self) -> ClientConnection {
        let name = ServerName::try_from("localhost").expect("a name");
        ClientConnection::new(Arc::clone(&self.config), name).expect("a configuration that works")
    }

    /// Makes one connection. Returns whether it was answered (`true`) or cut (`false`).
    fn visit(&self, number: u64) -> Result<bool, String> {
        let tcp = TcpStream::connect(self.address).map_err(|error| format!("connecting: {error}"))?;
        tcp.set_nodelay(true).map_err(|error| format!("set_nodelay: {error}"))?;
        tcp.set_read_timeout(Some(SILENCE)).map_err(|error| format!("set_read_timeout: {error}"))?;
        let mut tcp = match self.cuts {
            true => Cut::at_random(tcp, &mut Random(number << 32)),
            false => Cut::never(tcp),
        };
        match self.converse(&mut tcp) {
            _ if tcp.happened() => Ok(false),
            Ok(()) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// The handshake, the request and the response.
    fn converse(&self, tcp: &mut Cut) -> Result<(), String> {
        let mut tls = self.client();
        while tls.is_handshaking() {
            tls.complete_io(tcp).map_err(|error| format!("handshake: {error}"))?;
        }
        let mut stream = Stream::new(&mut tls, tcp);
        stream.write_all(REQUEST).map_err(|error| format!("request: {error}"))?;
        let mut answer = Vec::new();
        match stream.read_to_end(&mut answer) {
            Ok(_) => {}
            // Some servers close without saying so in TLS: the length of the response shows whether it is
            // complete.
            Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => {}
            Err(error) => return Err(format!("answer: {error}")),
        }
        check(&answer, self.body)
    }
}

/// Checks that a response is complete and has this body.
pub fn check(answer: &[u8], expected: &str) -> Result<(), String> {
    let answer = String::from_utf8_lossy(answer);
    let (head, body) =
        answer.split_once("\r\n\r\n").ok_or_else(|| format!("an answer without end: {answer:?}"))?;
    if !head.starts_with("HTTP/1.1 200 ") {
        return Err(format!("the answer is {:?}", head.lines().next().unwrap_or_default()));
    }
    if body != expected {
        return Err(format!("the answer's body is {body:?}"));
    }
    Ok(())
}

impl Tally {
    fn count(&mut self, outcome: Result<bool, String>) {
        match outcome {
            Ok(true) => self.answered += 1,
            Ok(false) => self.cut += 1,
            Err(error) => {
                self.failed += 1;
                if self.failures.len() < TOLD {
                    self.failures.push(error);
                }
            }
        }
    }

    /// Panics unless every connection that was not cut got the right response.
    pub fn assert_no_failure(&self) {
        assert_eq!(self.failed, 0, "connections failed, the first: {:#?}", self.failures);
    }

    /// Handshakes per second.
    pub fn rate(&self) -> f64 {
        self.answered as f64 / self.time.as_secs_f64()
    }
}

//! Handshakes with zariz's signatures: rustls with itself, and with the program `openssl`.
#![cfg(feature = "aws-lc-rs")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, aws_lc_rs, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::sign::SigningKey as _;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection};
use rustls::{InconsistentKeys, SignatureAlgorithm, SignatureScheme, SupportedProtocolVersion};
use zariz::Modulus;
use zariz::batcher::Batcher;
use zariz_needs::needs;
use zariz_rustls::{SigningKey, default_provider, with_batcher};

const RSA: (&[u8], &[u8]) = (include_bytes!("data/rsa2048.pem"), include_bytes!("data/rsa2048.key.pem"));
const P256: (&[u8], &[u8]) = (include_bytes!("data/p256.pem"), include_bytes!("data/p256.key.pem"));
const RSA_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rsa2048.pem");

fn certificate((pem, _): (&[u8], &[u8])) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem).expect("a certificate")
}

fn key((_, pem): (&[u8], &[u8])) -> PrivateKeyDer<'static> {
    PrivateKeyDer::from_pem_slice(pem).expect("a key")
}

/// A server with a certificate, for one TLS version.
fn server(pair: (&[u8], &[u8]), version: &'static SupportedProtocolVersion) -> Arc<ServerConfig> {
    server_on(default_provider(), pair, version)
}

/// Like [`server`], on a given provider.
fn server_on(
    provider: CryptoProvider,
    pair: (&[u8], &[u8]),
    version: &'static SupportedProtocolVersion,
) -> Arc<ServerConfig> {
    let builder = ServerConfig::builder_with_provider(provider.into());
    let builder = builder.with_protocol_versions(&[version]).expect("a version").with_no_client_auth();
    Arc::new(builder.with_single_cert(vec![certificate(pair)], key(pair)).expect("a key that fits"))
}

/// A client without zariz, whose provider verifies only these schemes.
fn client(pair: (&[u8], &[u8]), schemes: &[SignatureScheme]) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate(pair)).expect("a root");
    let mut provider: CryptoProvider = aws_lc_rs::default_provider();
    let mapping = provider.signature_verification_algorithms.mapping;
    let mapping: Vec<_> = mapping.iter().filter(|(scheme, _)| schemes.contains(scheme)).copied().collect();
    provider.signature_verification_algorithms.mapping = Box::leak(mapping.into());
    let builder = ClientConfig::builder_with_provider(provider.into()).with_safe_default_protocol_versions();
    Arc::new(builder.expect("versions").with_root_certificates(roots).with_no_client_auth())
}

/// Passes the messages of one side to the other.
fn pass(from: &mut Connection, to: &mut Connection) -> Result<(), rustls::Error> {
    let mut bytes = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut bytes).expect("a vector");
    }
    let mut bytes = &bytes[..];
    while !bytes.is_empty() {
        to.read_tls(&mut bytes).expect("a slice");
        to.process_new_packets()?;
    }
    Ok(())
}

fn handshake(server: Arc<ServerConfig>, client: Arc<ClientConfig>) -> Result<(), rustls::Error> {
    let mut server = Connection::from(ServerConnection::new(server)?);
    let mut client =
        Connection::from(ClientConnection::new(client, "localhost".try_into().expect("a name"))?);
    while server.is_handshaking() || client.is_handshaking() {
        pass(&mut client, &mut server)?;
        pass(&mut server, &mut client)?;
    }
    Ok(())
}

const PSS: [SignatureScheme; 3] =
    [SignatureScheme::RSA_PSS_SHA256, SignatureScheme::RSA_PSS_SHA384, SignatureScheme::RSA_PSS_SHA512];
const PKCS1: [SignatureScheme; 3] =
    [SignatureScheme::RSA_PKCS1_SHA256, SignatureScheme::RSA_PKCS1_SHA384, SignatureScheme::RSA_PKCS1_SHA512];

#[test]
fn rustls_accepts_each_scheme_in_each_version() {
    // The certificate itself is signed with PKCS#1 and SHA-256.
    for scheme in PSS {
        for version in [&TLS12, &TLS13] {
            assert_eq!(handshake(server(RSA, version), client(RSA, &[scheme])), Ok(()), "{scheme:?}");
        }
    }
    for scheme in PKCS1 {
        assert_eq!(handshake(server(RSA, &TLS12), client(RSA, &[scheme])), Ok(()), "{scheme:?}");
        let refused =
            handshake(server(RSA, &TLS13), client(RSA, &[scheme])).expect_err("not in TLS 1.3").to_string();
        assert!(refused.contains("NoSignatureSchemesInCommon"), "{scheme:?}: {refused}");
    }
}

#[test]
fn the_provider_may_be_another_one() {
    let batcher = Batcher::new();
    let provider = with_batcher(ring::default_provider(), batcher.clone());
    for (version, scheme) in [(&TLS12, PKCS1[0]), (&TLS12, PSS[0]), (&TLS13, PSS[2])] {
        assert_eq!(
            handshake(server_on(provider.clone(), RSA, version), client(RSA, &[scheme])),
            Ok(()),
            "{scheme:?}"
        );
    }
    let ecdsa = [SignatureScheme::ECDSA_NISTP256_SHA256];
    assert_eq!(handshake(server_on(provider, P256, &TLS13), client(P256, &ecdsa)), Ok(()));
    assert_eq!(batcher.metrics().operations, 3, "RSA signatures are zariz's");
}

/// Several threads make handshakes, and the client verifies each signature. They share batches: the only slot
/// is taken when they come.
#[test]
fn threads_share_a_batcher() {
    const THREADS: usize = 8;
    let batcher = Batcher::builder().threads(1).build();
    let provider = Arc::new(with_batcher(aws_lc_rs::default_provider(), batcher.clone()));
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.expect("versions").with_no_client_auth();
    let server =
        Arc::new(builder.with_single_cert(vec![certificate(RSA)], key(RSA)).expect("a key that fits"));
    let mut client = ClientConfig::clone(&client(RSA, &PSS));
    client.resumption = Resumption::disabled(); // every handshake needs a signature
    let client = Arc::new(client);
    let long = Modulus::new(&[0xff; Modulus::MAX_BITS / 8]).expect("an odd number");
    thread::scope(|scope| {
        scope.spawn(|| batcher.pow(&long, &[3], &[0xff; Modulus::MAX_BITS / 8]).expect("a power"));
        while batcher.metrics().batches == 0 {
            thread::yield_now();
        }
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..4 {
                    assert_eq!(handshake(server.clone(), client.clone()), Ok(()));
                }
            });
        }
    });
    let metrics = batcher.metrics();
    assert_eq!(metrics.operations, 4 * THREADS as u64 + 1);
    assert!(metrics.batches < metrics.operations && metrics.largest_batch > 1, "{metrics:?}");
}

#[test]
fn other_keys_go_to_the_other_loader() {
    let scheme = [SignatureScheme::ECDSA_NISTP256_SHA256];
    assert_eq!(handshake(server(P256, &TLS13), client(P256, &scheme)), Ok(()));
}

/// Signatures of a client with a certificate.
#[test]
fn a_server_accepts_clients_of_zariz() {
    let mut roots = RootCertStore::empty();
    roots.add(certificate(RSA)).expect("a root");
    for version in [&TLS12, &TLS13] {
        // The server does not use zariz.
        let builder = ServerConfig::builder_with_provider(aws_lc_rs::default_provider().into());
        let builder = builder.with_protocol_versions(&[version]).expect("a version");
        let verifier = WebPkiClientVerifier::builder_with_provider(
            Arc::new(roots.clone()),
            aws_lc_rs::default_provider().into(),
        );
        let builder = builder.with_client_cert_verifier(verifier.build().expect("a verifier"));
        let server = builder.with_single_cert(vec![certificate(P256)], key(P256)).expect("a key that fits");
        let mut trusted = RootCertStore::empty();
        trusted.add(certificate(P256)).expect("a root");
        let builder = ClientConfig::builder_with_provider(default_provider().into());
        let builder =
            builder.with_protocol_versions(&[version]).expect("a version").with_root_certificates(trusted);
        let client =
            builder.with_client_auth_cert(vec![certificate(RSA)], key(RSA)).expect("a key that fits");
        assert_eq!(handshake(server.into(), client.into()), Ok(()), "{version:?}");
    }
}

#[test]
fn keys_of_every_format_are_loaded() {
    let rsa = zariz::rsa::PrivateKey::parse(key(RSA).secret_der()).expect("a key");
    // PKCS#8 wraps the PKCS#1 structure; in a 2048-bit key, 26 bytes precede it.
    let pkcs1 = PrivatePkcs1KeyDer::from(key(RSA).secret_der()[26..].to_vec()).into();
    let loaded = default_provider().key_provider.load_private_key(pkcs1).expect("PKCS#1");
    assert_eq!(
        loaded.public_key().expect("a public key"),
        rsa.public_key().to_der().expect("DER")[..].into()
    );
    let signer = loaded.choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256]).expect("a scheme");
    let signature = signer.sign(b"message").expect("a signature");
    rsa.public_key().verify(zariz::rsa::Algorithm::RS256, b"message", &signature).expect("a right one");
}

/// zariz signs for a client. The server is the program `openssl`, which asks for a certificate.
#[needs("openssl")]
#[test]
fn a_server_of_openssl_accepts_clients_of_zariz() {
    const KEY_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rsa2048.key.pem");
    for (version, option) in [(&TLS12, "-tls1_2"), (&TLS13, "-tls1_3")] {
        // A free port. If another program takes it in between, openssl says so.
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
        let mut program = Command::new("openssl");
        program.args(["s_server", "-accept", &format!("127.0.0.1:{port}"), option, "-naccept", "1", "-rev"]);
        program.args([
            "-cert",
            RSA_FILE,
            "-key",
            KEY_FILE,
            "-CAfile",
            RSA_FILE,
            "-Verify",
            "1",
            "-verify_return_error",
        ]);
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = program.spawn().expect("the program openssl is installed");
        let mut stream = loop {
            match TcpStream::connect(("127.0.0.1", port)) {
                Ok(stream) => break stream,
                Err(error) if child.try_wait().expect("a state").is_some() => {
                    panic!("openssl ended: {error}")
                }
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        };
        let mut roots = RootCertStore::empty();
        roots.add(certificate(RSA)).expect("a root");
        let builder = ClientConfig::builder_with_provider(default_provider().into());
        let builder =
            builder.with_protocol_versions(&[version]).expect("a version").with_root_certificates(roots);
        let config =
            builder.with_client_auth_cert(vec![certificate(RSA)], key(RSA)).expect("a key that fits");
        let name = "localhost".try_into().expect("a name");
        let mut connection = ClientConnection::new(Arc::new(config), name).expect("a connection");
        let mut tls = rustls::Stream::new(&mut connection, &mut stream);
        // The server returns each line reversed.
        let mut answer = [0; 7];
        let answered = tls.write_all(b"zariz!\n").and_then(|()| tls.read_exact(&mut answer));
        drop(stream);
        let output = child.wait_with_output().expect("an end");
        let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
        assert!(answered.is_ok(), "{version:?}: {answered:?}: {said:?}");
        assert_eq!(&answer, b"!ziraz\n", "{version:?}");
    }
}

#[needs("openssl")]
#[test]
fn openssl_accepts_each_scheme() {
    for (version, option, schemes) in [
        (&TLS12, "-tls1_2", &["RSA+SHA256", "RSA+SHA512", "rsa_pss_rsae_sha256", "rsa_pss_rsae_sha512"][..]),
        (&TLS13, "-tls1_3", &["rsa_pss_rsae_sha256", "rsa_pss_rsae_sha384", "rsa_pss_rsae_sha512"]),
    ] {
        for scheme in schemes {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let address = listener.local_addr().expect("an address").to_string();
            let mut program = Command::new("openssl");
            program.args(["s_client", "-connect", &address, option, "-sigalgs", scheme, "-CAfile", RSA_FILE]);
            program.args(["-verify_return_error", "-ign_eof"]);
            program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let child = program.spawn().expect("the program openssl is installed");
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut connection = ServerConnection::new(server(RSA, version)).expect("a connection");
            rustls::Stream::new(&mut connection, &mut stream)
                .write_all(b"hello from zariz\n")
                .expect("a handshake");
            connection.send_close_notify();
            connection.write_tls(&mut stream).expect("the end");
            drop(stream);
            let output = child.wait_with_output().expect("an end");
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(
                said.contains("hello from zariz") && said.contains("Verify return code: 0"),
                "{scheme}: {said}"
            );
        }
    }
}

#[test]
fn hostile_and_wrong_keys_give_clear_errors() {
    let load = |der: Vec<u8>| {
        let loaded = default_provider().key_provider.load_private_key(PrivatePkcs8KeyDer::from(der).into());
        loaded.map(|key| key.algorithm()).map_err(|error| error.to_string())
    };
    let der = key(RSA).secret_der().to_vec();
    assert_eq!(load(der.clone()), Ok(SignatureAlgorithm::RSA));
    for length in [0, 1, 20, der.len() / 2, der.len() - 1] {
        let error = load(der[..length].to_vec()).expect_err("a part of a key");
        assert!(error.contains("private key"), "{length} bytes: {error}");
    }
    let mut damaged = der.clone();
    damaged[der.len() / 2] ^= 1;
    let error = load(damaged).expect_err("numbers that do not fit");
    assert!(error.contains("RSA private key cannot be used"), "{error}");
    let rsa = zariz::rsa::PrivateKey::parse(&der).expect("a key");
    let pss = load(rsa.with_usage(zariz::rsa::Usage::Pss).to_der().expect("DER").to_vec());
    assert!(pss.expect_err("a key for PSS alone").contains("rsaEncryption"));
    // A certificate for another key is refused before any handshake.
    let builder = ServerConfig::builder_with_provider(default_provider().into());
    let builder = builder.with_safe_default_protocol_versions().expect("versions").with_no_client_auth();
    let refused = builder.with_single_cert(vec![certificate(P256)], key(RSA)).map(drop);
    assert_eq!(refused, Err(rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch)));
    let offered = [SignatureScheme::ED25519];
    assert!(SigningKey::new(rsa).expect("a key").choose_scheme(&offered).is_none());
}

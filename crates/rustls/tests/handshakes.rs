//! Handshakes with zariz's signatures: rustls with itself, and with the program `openssl`.
#![cfg(feature = "aws-lc-rs")]

use std::io::Write;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::SigningKey as _;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection};
use rustls::{SignatureScheme, SupportedProtocolVersion};
use zariz_rustls::{SigningKey, default_provider};

const RSA: (&[u8], &[u8]) = (include_bytes!("data/rsa2048.pem"), include_bytes!("data/rsa2048.key.pem"));
const P256: (&[u8], &[u8]) = (include_bytes!("data/p256.pem"), include_bytes!("data/p256.key.pem"));
const RSA_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rsa2048.pem");

fn certificate((pem, _): (&[u8], &[u8])) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem).expect("a certificate")
}

fn key((_, pem): (&[u8], &[u8])) -> PrivateKeyDer<'static> {
    PrivateKeyDer::from_pem_slice(pem).expect("a key")
}

/// A server with that certificate that speaks one version.
fn server(pair: (&[u8], &[u8]), version: &'static SupportedProtocolVersion) -> Arc<ServerConfig> {
    let builder = ServerConfig::builder_with_provider(default_provider().into());
    let builder = builder.with_protocol_versions(&[version]).expect("a version").with_no_client_auth();
    Arc::new(builder.with_single_cert(vec![certificate(pair)], key(pair)).expect("a key that fits"))
}

/// A client without zariz, whose provider verifies these schemes alone.
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

/// Passes what one side has to say to the other.
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
    let mut client = Connection::from(ClientConnection::new(client, "localhost".try_into().expect("a name"))?);
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
    // The certificate itself is signed by PKCS#1 with SHA-256.
    for scheme in PSS {
        for version in [&TLS12, &TLS13] {
            assert_eq!(handshake(server(RSA, version), client(RSA, &[scheme])), Ok(()), "{scheme:?}");
        }
    }
    for scheme in PKCS1 {
        assert_eq!(handshake(server(RSA, &TLS12), client(RSA, &[scheme])), Ok(()), "{scheme:?}");
        assert!(handshake(server(RSA, &TLS13), client(RSA, &[scheme])).is_err(), "{scheme:?}: not in TLS 1.3");
    }
}

#[test]
fn other_keys_go_to_the_other_loader() {
    let scheme = [SignatureScheme::ECDSA_NISTP256_SHA256];
    assert_eq!(handshake(server(P256, &TLS13), client(P256, &scheme)), Ok(()));
}

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
            let Ok(child) = program.spawn() else {
                eprintln!("SKIPPED: the program openssl is missing; install it to compare with it");
                return;
            };
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut connection = ServerConnection::new(server(RSA, version)).expect("a connection");
            rustls::Stream::new(&mut connection, &mut stream).write_all(b"hello from zariz\n").expect("a handshake");
            connection.send_close_notify();
            connection.write_tls(&mut stream).expect("the end");
            drop(stream);
            let output = child.wait_with_output().expect("an end");
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(said.contains("hello from zariz") && said.contains("Verify return code: 0"), "{scheme}: {said}");
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
    assert!(load(der.clone()).is_ok());
    for length in [0, 1, 20, der.len() / 2, der.len() - 1] {
        assert!(load(der[..length].to_vec()).is_err(), "{length} bytes");
    }
    let mut damaged = der.clone();
    damaged[der.len() / 2] ^= 1;
    let error = load(damaged).expect_err("numbers that do not fit");
    assert!(error.contains("RSA private key cannot be used"), "{error}");
    let rsa = zariz::rsa::PrivateKey::parse(&der).expect("a key");
    let pss = load(rsa.with_usage(zariz::rsa::Usage::Pss).to_pkcs8_der().expect("DER").to_vec());
    assert!(pss.expect_err("a key for PSS alone").contains("rsaEncryption"));
    // A certificate of another key is refused before any handshake.
    let builder = ServerConfig::builder_with_provider(default_provider().into());
    let builder = builder.with_safe_default_protocol_versions().expect("versions").with_no_client_auth();
    assert!(builder.with_single_cert(vec![certificate(P256)], key(RSA)).is_err());
    let offered = [SignatureScheme::ED25519];
    assert!(SigningKey::new(rsa).expect("a key").choose_scheme(&offered).is_none());
}

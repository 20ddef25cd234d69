//! The programs: errors in their arguments, and a shutdown that first answers the requests under way.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use data_encoding::BASE64URL;
use zariz::rsa::blind::PrivateKey;
use zariz_servers::blind;

const TOKEN: &str = env!("CARGO_BIN_EXE_token");
const BLIND: &str = env!("CARGO_BIN_EXE_blind");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/cli/keys/bench-2048.pem");

/// A started server, and its address.
fn started(program: &str, key: &str) -> (Child, String) {
    let mut child = Command::new(program)
        .args([key, "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the server starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
    (child, line.trim().strip_prefix("listening on ").expect("an address").to_owned())
}

#[test]
fn requests_under_way_are_answered_before_the_end() {
    let (mut child, address) = started(TOKEN, KEY);
    let address = &address[..];
    let (mut idle, mut busy) =
        (TcpStream::connect(address).expect("a port"), TcpStream::connect(address).expect("a port"));
    let body = r#"{"sub":"alice"}"#;
    let head = "POST /token HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n";
    busy.write_all(head.as_bytes()).expect("written");
    thread::sleep(Duration::from_millis(200));
    assert!(Command::new("kill").arg(child.id().to_string()).status().expect("kill").success());
    // A connection without a request is closed; the other still gets its response.
    assert_eq!(idle.read(&mut [0; 16]).expect("the end"), 0);
    // Soon after, it accepts no new connections.
    while TcpStream::connect(address).is_ok() {
        thread::sleep(Duration::from_millis(10));
    }
    busy.write_all(body.as_bytes()).expect("written");
    let mut answer = String::new();
    busy.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("access_token"), "{answer}");
    assert!(child.wait().expect("it ends").success());
}

/// A blind issuer's key is for nothing else; the server publishes what its clients need.
#[test]
fn a_blind_issuer_says_its_key() {
    let key = PrivateKey::generate(blind::VARIANT, 2048).expect("a key");
    let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/blind.pem");
    std::fs::write(file, key.to_pem().expect("PEM")).expect("written");
    let (mut child, address) = started(BLIND, file);
    let mut connection = TcpStream::connect(address).expect("a port");
    let path = "/.well-known/private-token-issuer-directory";
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).expect("written");
    let mut answer = String::new();
    connection.read_to_string(&mut answer).expect("an answer");
    let public = BASE64URL.encode(&key.public_key().to_der().expect("DER"));
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains(&public), "{answer}");
    child.kill().expect("killed");
    child.wait().expect("it ends");
}

#[test]
fn wrong_arguments_are_named() {
    for (program, arguments, expected) in [
        (TOKEN, &[][..], "usage: token KEY.pem"),
        (TOKEN, &["/nowhere.pem"], "cannot read /nowhere.pem"),
        (TOKEN, &[concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")], "Cargo.toml: "),
        (BLIND, &[], "usage: blind KEY.pem"),
        (BLIND, &[KEY], "bench-2048.pem: "),
        (BLIND, &["/nowhere.pem"], "cannot read /nowhere.pem"),
        (BLIND, &[concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")], "Cargo.toml: "),
    ] {
        let output = Command::new(program).args(arguments).output().expect("it runs");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && message.contains(expected), "{message}");
    }
}

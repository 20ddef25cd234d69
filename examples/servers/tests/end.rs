//! The program itself: it says what is wrong with its arguments, and when it is told to end, it answers the requests
//! that are under way first.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

const TOKEN: &str = env!("CARGO_BIN_EXE_token");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/cli/keys/bench-2048.pem");

#[test]
fn requests_under_way_are_answered_before_the_end() {
    let mut child =
        Command::new(TOKEN).args([KEY, "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().expect("the server starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
    let address = line.trim().strip_prefix("listening on ").expect("an address");
    let (mut idle, mut busy) =
        (TcpStream::connect(address).expect("a port"), TcpStream::connect(address).expect("a port"));
    let body = r#"{"sub":"alice"}"#;
    let head =
        "POST /token HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n";
    busy.write_all(head.as_bytes()).expect("written");
    thread::sleep(Duration::from_millis(200));
    assert!(Command::new("kill").arg(child.id().to_string()).status().expect("kill").success());
    // A connection that asks for nothing is closed; the other has its answer yet to come.
    assert_eq!(idle.read(&mut [0; 16]).expect("the end"), 0);
    // It takes no new ones, soon after.
    while TcpStream::connect(address).is_ok() {
        thread::sleep(Duration::from_millis(10));
    }
    busy.write_all(body.as_bytes()).expect("written");
    let mut answer = String::new();
    busy.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("access_token"), "{answer}");
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn wrong_arguments_are_named() {
    for (arguments, expected) in [
        (&[][..], "usage: token KEY.pem"),
        (&["/nowhere.pem"], "cannot read /nowhere.pem"),
        (&[concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")], "Cargo.toml: "),
    ] {
        let output = Command::new(TOKEN).args(arguments).output().expect("it runs");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && message.contains(expected), "{message}");
    }
}

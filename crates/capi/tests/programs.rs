//! C and C++ programs over the header and the library, as users compile them.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use zariz::rsa::{Algorithm, PrivateKey};
use zariz_needs::needs;

const HERE: &str = env!("CARGO_MANIFEST_DIR");
/// Warnings are errors.
const STRICT: &[&str] = &["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-g"];
/// What a program needs besides the static library.
const STATIC: &[&str] = &["-lpthread", "-ldl", "-lm", "-lgcc_s"];

/// The newest library of this name that cargo built: beside this test program, or one folder above.
fn library(name: &str) -> PathBuf {
    let program = env::current_exe().expect("the path of this program");
    let files = program.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    let dated = files.filter_map(|file| Some((fs::metadata(&file).ok()?.modified().ok()?, file)));
    let newest = dated.max_by_key(|(time, _)| *time);
    newest.unwrap_or_else(|| panic!("no {name} beside {}", program.display())).1
}

/// Runs a command, and returns what it said.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{text}", output.status);
    text
}

/// Compiles a program of this folder into another.
fn compile(compiler: &[&str], program: &str, flags: &[&str], folder: &Path) -> PathBuf {
    let source = Path::new(HERE).join(program);
    let made = folder.join(source.file_stem().expect("a name"));
    let mut command = Command::new(compiler[0]);
    command.args(&compiler[1..]).args(STRICT).arg(format!("-I{HERE}/include"));
    command.arg(source).args(["-x", "none"]).arg("-o").arg(&made);
    run(command.args(flags));
    made
}

/// Flags that link the shared library, which gets the name that programs ask for.
fn shared(folder: &Path) -> [String; 2] {
    let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
    let version = if major == "0" { format!("0.{minor}") } else { major.to_owned() };
    let named = folder.join(format!("libzariz.so.{version}"));
    symlink(library("libzariz_capi.so"), &named).expect("a link to the library");
    [named.display().to_string(), format!("-Wl,-rpath,{}", folder.display())]
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Every function, in three languages. OpenSSL verifies a signature that the program made.
#[needs("cc", "c++", "openssl")]
#[test]
fn interface() {
    let compilers: [&[&str]; 3] =
        [&["cc", "-std=c99"], &["cc", "-std=c11"], &["c++", "-std=c++17", "-x", "c++"]];
    for compiler in compilers {
        let folder = folder();
        let shared = shared(folder.path());
        let program = compile(
            compiler,
            "tests/programs/interface.c",
            &shared.each_ref().map(String::as_str),
            folder.path(),
        );
        let said = run(Command::new(program).arg(folder.path()));
        assert!(said.contains("does what it says"), "{said}");
        let mut verify = Command::new("openssl");
        verify.args(["dgst", "-sha256", "-verify", "public.pem", "-signature", "signature"]);
        verify.args(["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32", "message"]);
        assert!(run(verify.current_dir(folder.path())).contains("Verified OK"));
    }
}

/// The static library, with the address sanitizer: nothing is read or written outside of the caller's memory,
/// and what the library allocated is freed.
#[needs("cc")]
#[test]
fn sanitized() {
    let folder = folder();
    let library = library("libzariz_capi.a").display().to_string();
    let flags = [&["-fsanitize=address,undefined", "-fno-sanitize-recover", &library], STATIC].concat();
    for program in ["tests/programs/interface.c", "tests/programs/batcher.c"] {
        run(&mut Command::new(compile(&["cc", "-std=c11"], program, &flags, folder.path())));
    }
}

/// Under valgrind: the library, too, reads nothing that is not there or not written. `sanitized` looks for
/// leaks: after a fork, what the parent's threads had is lost.
#[needs("cc", "valgrind")]
#[test]
#[ignore = "takes minutes; `cargo xtask sanitizers valgrind` runs it"]
fn valgrind() {
    let folder = folder();
    let shared = shared(folder.path());
    let flags = [&["-pthread", "-DBITS=1024"], &shared.each_ref().map(String::as_str)[..]].concat();
    for program in ["tests/programs/interface.c", "tests/programs/batcher.c"] {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["-q", "--error-exitcode=9"]);
        run(valgrind.arg(compile(&["cc", "-std=c11"], program, &flags, folder.path())));
    }
}

/// Requests of threads, callbacks and event loops.
#[needs("cc")]
#[test]
fn batcher() {
    let folder = folder();
    let shared = shared(folder.path());
    let flags = [&["-pthread"], &shared.each_ref().map(String::as_str)[..]].concat();
    let program = compile(&["cc", "-std=c11"], "tests/programs/batcher.c", &flags, folder.path());
    for _ in 0..5 {
        assert!(run(&mut Command::new(&program)).contains("one result"));
    }
}

/// A program may unload the library while it computes.
#[needs("cc")]
#[test]
fn unload() {
    let folder = folder();
    let program = compile(&["cc", "-std=c11"], "tests/programs/unload.c", &["-ldl"], folder.path());
    let said = run(Command::new(program).arg(library("libzariz_capi.so")));
    assert!(said.contains("after the library was unloaded"), "{said}");
}

/// The example server signs lines of many clients, each of which gets its own signatures, in order.
#[needs("cc")]
#[test]
fn event_loop() {
    let folder = folder();
    let shared = shared(folder.path());
    let shared = shared.each_ref().map(String::as_str);
    let program = compile(&["cc", "-std=c11"], "../../examples/c/signer.c", &shared, folder.path());
    let key = PrivateKey::generate(1024).expect("a key");
    let pem = folder.path().join("key.pem");
    fs::write(&pem, key.to_pem().expect("PEM").as_bytes()).expect("the key's file");
    let mut server =
        Command::new(program).arg(pem).arg("0").stdout(Stdio::piped()).spawn().expect("the server");
    let mut said = String::new();
    BufReader::new(server.stdout.take().expect("its output")).read_line(&mut said).expect("its port");
    let port: u16 = said.trim().rsplit(' ').next().and_then(|port| port.parse().ok()).expect("its port");
    let client = |client: usize| {
        let lines: Vec<_> = (0..20).map(|line| format!("client {client}, line {line}")).collect();
        let mut socket = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        socket.write_all(format!("{}\n", lines.join("\n")).as_bytes()).expect("lines are sent");
        socket.shutdown(Shutdown::Write).expect("no more lines");
        let mut replies = String::new();
        socket.read_to_string(&mut replies).expect("replies");
        let hex = |bytes: Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let sign = |line| hex(key.sign(Algorithm::RS256, line).expect("a signature"));
        assert_eq!(
            replies.lines().map(str::to_owned).collect::<Vec<_>>(),
            lines.iter().map(sign).collect::<Vec<_>>()
        );
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..10).map(|i| scope.spawn(move || client(i))).collect();
        clients.into_iter().for_each(|it| it.join().expect("the client has its signatures"));
    });
    server.kill().expect("the server runs until the end");
    server.wait().expect("the server's end");
}

/// The library exports the functions of the header, and nothing else.
#[needs("nm")]
#[test]
fn symbols() {
    let header = fs::read_to_string(format!("{HERE}/include/zariz.h")).expect("the header");
    let name = |line: &str| {
        let (before, _) = line.split_once('(')?;
        let name = before.rsplit([' ', '*']).next()?;
        (!line.starts_with("//") && name.starts_with("zariz_")).then(|| name.to_owned())
    };
    let mut declared: Vec<_> = header.lines().filter_map(name).collect();
    let symbols = run(Command::new("nm").args(["-D", "--defined-only"]).arg(library("libzariz_capi.so")));
    let mut exported: Vec<_> =
        symbols.lines().filter_map(|line| line.rsplit(' ').next().map(str::to_owned)).collect();
    declared.sort();
    exported.sort();
    assert!(declared.len() > 40);
    assert_eq!(declared, exported);
}

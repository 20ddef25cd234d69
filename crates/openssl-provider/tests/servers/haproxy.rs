//! haproxy in asynchronous mode: one thread, whose handshakes share batches.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread::spawn;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::counters::Counters;
use crate::identity::Identity;
use crate::load::{Load, Tally, Tls};
use crate::process::{Server, open_descriptors, resident_bytes};
use crate::provider::{Active, Setup};
use crate::{handshakes, turn};

/// Its response.
pub const BODY: &str = "haproxy answers";
/// The least mean number of requests in a batch with 64 clients at once: half of the largest batch, which has
/// two for each lane.
fn mean_batch() -> f64 {
    zariz::Engine::best().lanes() as f64
}
/// How much its memory may grow between the first part of a load and the whole. Pools and the heap settle
/// late; a connection that is not freed costs tens of kilobytes, and a handshake's state some hundred bytes.
const GROWTH: u64 = 4 << 20;

/// How haproxy calls the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One signature at a time.
    Synchronous,
    /// Many at a time. haproxy can no longer create threads after it drops root's rights, so its own thread
    /// computes them.
    Alone,
    /// Many at a time, with threads that compute them.
    Threads,
}

/// OpenSSL never frees the stack of a job that does not run to its end, nor what that refers to.
const LOST_JOB: u64 = 64 << 10;

/// A running haproxy, its worker's certificate and its counters.
pub struct Haproxy {
    /// The master process.
    pub server: Server,
    setup: Setup,
    identity: Identity,
}

impl Haproxy {
    /// Starts haproxy with more environment variables.
    pub fn start(setup: Setup, mode: Mode, environment: &[(&str, &str)]) -> Self {
        let service =
            format!("    http-request return status 200 content-type text/plain string \"{BODY}\"\n");
        Self::start_with(setup, mode, environment, "", &service)
    }

    /// Starts haproxy with more lines in the section `global`, and with a rule for requests.
    fn start_with(
        setup: Setup,
        mode: Mode,
        environment: &[(&str, &str)],
        global: &str,
        service: &str,
    ) -> Self {
        let identity = Identity::make(setup.folder());
        let openssl = setup.configuration(Active::ByName);
        let path = setup.folder().join("haproxy.cfg");
        let mut server = Server::start("haproxy", setup.folder(), |port| {
            let text = configuration(&setup, &[&identity.both], mode, port, global, service);
            fs::write(&path, text).expect("our own folder");
            let mut command = Command::new("haproxy");
            command
                .arg("-W")
                .arg("-f")
                .arg(&path)
                .env("OPENSSL_CONF", &openssl)
                .envs(environment.iter().copied());
            command
        });
        // It listens before it has a worker.
        server.wait("it is loaded", |server| server.log().contains("Loading success"));
        Self { server, setup, identity }
    }

    /// A load of 64 clients.
    pub fn load(&self, tls: Tls) -> Load {
        Load::new(self.server.port, &self.identity.certificate, tls, BODY)
    }

    /// The one process that serves.
    pub fn worker(&self) -> u32 {
        let children = self.server.children();
        assert_eq!(children.len(), 1, "the workers of haproxy:\n{}", self.server.log());
        children[0]
    }

    /// The counters now.
    pub fn counters(&self) -> Counters {
        self.setup.counters()
    }

    /// Stops it softly: it must have nothing left to wait for.
    pub fn stop(self) {
        self.server.stop(Signal::USR1);
    }

    /// Starts a new worker, like `systemctl reload haproxy`, and waits for it.
    fn reload(&mut self) {
        reload(&mut self.server);
    }
}

/// Starts a new worker, and waits for it. The master loses a signal that comes while it restarts itself; then
/// the signal is sent again.
pub fn reload(server: &mut Server) {
    let loaded = |server: &Server| server.log().matches("Loading success").count();
    let (before, old) = (loaded(server), server.children());
    let mut sent = None::<Instant>;
    server.wait("a new worker after a reload", |server| {
        if sent.is_none_or(|sent| sent.elapsed() > Duration::from_secs(3)) {
            server.signal(Signal::USR2);
            sent = Some(Instant::now());
        }
        loaded(server) > before && server.children().iter().any(|worker| !old.contains(worker))
    });
}

/// A configuration with these key and certificate files, and with more lines in the section `global` and at
/// the end.
pub fn configuration(
    setup: &Setup,
    files: &[&PathBuf],
    mode: Mode,
    port: u16,
    global: &str,
    service: &str,
) -> String {
    let certificates: String = files.iter().map(|file| format!(" crt {}", file.display())).collect();
    let provider = setup
        .module()
        .map(|module| format!("    ssl-provider-path {}\n    ssl-provider zariz\n", module.display()));
    format!(
        "global\n    user haproxy\n    group haproxy\n    chroot /var/lib/haproxy\n{}    ssl-provider default\n    ssl-propquery ?provider=zariz\n{}    nbthread 1\n{global}\
         defaults\n    mode http\n    timeout connect 10s\n    timeout client 60s\n    timeout server 60s\n\
         frontend tls\n    bind 127.0.0.1:{port} ssl{certificates} no-tls-tickets\n{service}",
        provider.unwrap_or_default(),
        match mode {
            Mode::Synchronous => "",
            Mode::Alone => "    ssl-mode-async\n",
            Mode::Threads => "    ssl-mode-async\n    insecure-fork-wanted\n",
        },
    )
}

/// A whole load in two parts, with the worker's memory after each.
fn load_and_watch(haproxy: &Haproxy, load: &Load, count: usize) -> (Tally, Tally) {
    let worker = haproxy.worker();
    let first = load.run(count / 4);
    let warm = resident_bytes(worker);
    let rest = load.run(count - count / 4);
    let end = resident_bytes(worker);
    println!("  memory: {} KiB after a quarter, {} KiB at the end", warm / 1024, end / 1024);
    assert!(end < warm + GROWTH, "haproxy grew from {warm} to {end} bytes");
    (first, rest)
}

#[test]
fn answers_64_clients_at_once() {
    answer(Mode::Alone);
}

#[test]
fn answers_64_clients_at_once_with_threads() {
    answer(Mode::Threads);
}

fn answer(mode: Mode) {
    let _turn = turn();
    let haproxy = Haproxy::start(Setup::new(), mode, &[]);
    for tls in Tls::ALL {
        let before = haproxy.counters();
        let count = handshakes();
        let (first, rest) = load_and_watch(&haproxy, &haproxy.load(tls), count);
        first.assert_no_failure();
        rest.assert_no_failure();
        assert_eq!(first.answered + rest.answered, count);
        haproxy.setup.assert_signed(before, count);
        let counted = haproxy.counters().since(before);
        println!("haproxy {mode:?}, {tls}: {count} handshakes, {:.0} a second; {counted:?}", rest.rate());
        if haproxy.setup.module().is_some() {
            assert!(
                counted.mean_batch() > mean_batch(),
                "batches of {:.1}: {counted:?}",
                counted.mean_batch()
            );
        }
    }
    haproxy.stop();
}

#[test]
fn bears_connections_cut_off_anywhere() {
    bear_cuts(Mode::Alone);
}

#[test]
fn bears_connections_cut_off_anywhere_with_threads() {
    bear_cuts(Mode::Threads);
}

fn bear_cuts(mode: Mode) {
    let _turn = turn();
    let haproxy = Haproxy::start(Setup::new(), mode, &[]);
    for tls in Tls::ALL {
        let before = haproxy.counters();
        let count = handshakes();
        let (first, rest) = load_and_watch(&haproxy, &haproxy.load(tls).cut(), count);
        first.assert_no_failure();
        rest.assert_no_failure();
        let (answered, cut) = (first.answered + rest.answered, first.cut + rest.cut);
        assert!(cut > count / 2, "only {cut} of {count} connections were cut");
        let whole = haproxy.load(tls).run(200);
        whole.assert_no_failure();
        let counted = haproxy.counters().since(before);
        println!("haproxy {mode:?}, {tls}: {cut} connections cut off, {answered} answered; {counted:?}");
        if haproxy.setup.module().is_some() {
            let signed = counted.private as usize;
            assert!(signed >= answered + 200 && signed <= count + 200, "{counted:?}");
            assert_eq!((counted.fallbacks, counted.check_failures), (0, 0), "{counted:?}");
        }
    }
    haproxy.stop();
}

#[test]
fn reloads_under_load() {
    reload_under_load(Mode::Alone);
}

#[test]
fn reloads_under_load_with_threads() {
    reload_under_load(Mode::Threads);
}

fn reload_under_load(mode: Mode) {
    let _turn = turn();
    let mut haproxy = Haproxy::start(Setup::new(), mode, &[]);
    for tls in Tls::ALL {
        let before = haproxy.counters();
        let (count, reloads) = (handshakes(), 5);
        let load = haproxy.load(tls);
        let tally = std::thread::scope(|scope| {
            let tally = scope.spawn(|| load.run(count));
            for reload in 1..=reloads {
                let due = count * reload / (reloads + 1);
                haproxy.server.wait("the load goes on", |_| load.progress() >= due || tally.is_finished());
                haproxy.reload();
            }
            tally.join().expect("the load runs to its end")
        });
        tally.assert_no_failure();
        haproxy.setup.assert_signed(before, count);
        haproxy.server.wait("the former workers have ended", |server| server.children().len() == 1);
        println!(
            "haproxy {mode:?}, {tls}: {count} handshakes through {reloads} reloads; {:?}",
            haproxy.counters().since(before)
        );
    }
    assert_no_worker_failed(&haproxy.server);
    haproxy.stop();
}

/// The master's log says how each worker ended.
pub fn assert_no_worker_failed(server: &Server) {
    let log = server.log();
    let ends: Vec<&str> = log.lines().filter(|line| line.contains("exited with code")).collect();
    assert!(!ends.is_empty(), "no former worker has ended:\n{log}");
    assert!(ends.iter().all(|line| line.contains("exited with code 0 ")), "a worker failed:\n{log}");
}

/// In asynchronous mode a connection has three descriptors: the client's, the one of the server behind
/// haproxy, and zariz's, which haproxy does not count. The `maxsslconn` of docs/haproxy.md leaves space for
/// all in its table.
#[test]
fn keeps_within_its_table_of_descriptors() {
    let _turn = turn();
    let connections = 400;
    let global = format!("    maxconn {}\n    maxsslconn {connections}\n", connections * 3 / 2);
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let server = silent.local_addr().expect("a bound socket");
    let service = format!("    default_backend silent\nbackend silent\n    server silent {server}\n");
    let haproxy = Haproxy::start_with(Setup::new(), Mode::Alone, &[], &global, &service);
    let worker = haproxy.worker();
    let (sender, behind) = channel();
    // It ends with the program, or with the test.
    spawn(move || while silent.accept().is_ok_and(|(stream, _)| sender.send(stream).is_ok()) {});
    for _ in 0..2 {
        let held = haproxy.load(Tls::V13).hold(connections);
        let behind: Vec<TcpStream> = behind.iter().take(connections).collect();
        println!("haproxy has {} descriptors for {connections} connections", open_descriptors(worker));
        assert_eq!((held.len(), behind.len(), haproxy.worker()), (connections, connections, worker));
    }
    haproxy.stop();
}

/// haproxy gives up on clients while their signatures are being made: it frees their TLS state, and never
/// runs their jobs again. OpenSSL never frees the stacks of such jobs, nor what is on them; nothing else may
/// be lost.
#[test]
fn bears_clients_that_time_out() {
    let _turn = turn();
    let answer = format!("    http-request return status 200 content-type text/plain string \"{BODY}\"\n");
    let service = format!("    timeout client 2ms\n{answer}");
    for mode in [Mode::Alone, Mode::Threads] {
        let haproxy = Haproxy::start_with(Setup::new(), mode, &[], "", &service);
        let (worker, count) = (haproxy.worker(), 1000);
        for tls in Tls::ALL {
            let before = resident_bytes(worker);
            let tally = haproxy.load(tls).run(count);
            let growth = resident_bytes(worker).saturating_sub(before);
            println!(
                "haproxy {mode:?}, {tls}: {} timed out, {} KiB more memory",
                tally.failed,
                growth / 1024
            );
            assert!(growth < LOST_JOB * tally.failed as u64 + GROWTH, "{growth} bytes more");
        }
        let counted = haproxy.counters();
        assert_eq!((counted.fallbacks, counted.check_failures), (0, 0), "{counted:?}");
        assert_eq!(haproxy.worker(), worker);
        haproxy.stop();
    }
}

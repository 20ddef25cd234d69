//! Clients that visit haproxy, well-behaved or not: whole handshakes, connections cut off at each stage,
//! pauses, and clients that fall silent until haproxy closes the connection.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, Stream};

use crate::load::{REQUEST, Tls, check, config};
use crate::random::Random;
use crate::soak::Identities;

/// haproxy's `timeout client`: it may give up on clients that take longer.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How long a silent client keeps its connection: haproxy has closed it by then.
const SILENCE: Duration = Duration::from_millis(6500);
/// How long a client waits for a silent server. No server is silent for a tenth of it.
const HANGING: Duration = Duration::from_secs(120);
/// The number of clients at once, without silent ones.
pub const CLIENTS: usize = 64;
/// How many failures are reported in full.
const TOLD: usize = 5;

/// Where a client misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Connected,
    InHello,
    AfterHello,
    BeforeFinished,
    Established,
}

impl Stage {
    pub const ALL: [Self; 5] =
        [Self::Connected, Self::InHello, Self::AfterHello, Self::BeforeFinished, Self::Established];
}

/// What a client does there.
#[derive(Clone, Copy, Debug)]
enum Deed {
    /// It closes the connection after a moment, often while the server makes a signature.
    Cut(Duration),
    /// It pauses, and goes on.
    Pause(Duration),
    /// It falls silent, and keeps the connection open.
    Leave,
}

/// The shares of clients with each deed, in thousandths; the others behave well.
#[derive(Clone, Copy)]
pub struct Mix {
    pub cut: u64,
    pub pause: u64,
    pub leave: u64,
    /// How long silent connections stay open.
    pub silence: Duration,
}

impl Mix {
    pub const USUAL: Self = Self { cut: 200, pause: 30, leave: 10, silence: SILENCE };

    fn draw(self, random: &mut Random) -> Option<(Stage, Deed)> {
        let number = random.below(1000);
        let deed = if number < self.cut {
            Deed::Cut(Duration::from_micros(random.below(4) * random.below(2000)))
        } else if number < self.cut + self.pause {
            Deed::Pause(Duration::from_millis(random.below(500)))
        } else if number < self.cut + self.pause + self.leave {
            Deed::Leave
        } else {
            return None;
        };
        Some((Stage::ALL[random.below(Stage::ALL.len() as u64) as usize], deed))
    }
}

/// How many connections had each fate.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Handshakes that were followed by the right response, by TLS version.
    pub answered: [usize; 2],
    /// Of these, handshakes with a pause.
    pub paused: usize,
    /// Connections that were cut off, by stage.
    pub cut: [usize; Stage::ALL.len()],
    pub left: usize,
    /// Well-behaved clients that took longer than haproxy waits, on a busy machine.
    pub late: usize,
    /// Everything else; the first failures as text.
    pub failed: usize,
    pub failures: Vec<String>,
}

impl Tally {
    pub fn answered(&self) -> usize {
        self.answered.iter().sum()
    }

    pub fn connections(&self) -> usize {
        self.answered() + self.cut.iter().sum::<usize>() + self.left + self.late + self.failed
    }
}

/// All clients.
pub struct Visitors<'a> {
    port: u16,
    identities: &'a Identities,
    configs: [std::sync::Arc<ClientConfig>; 2],
    body: &'static str,
    mix: Mix,
    seed: u64,
    next: AtomicUsize,
    answered: AtomicUsize,
    /// Whether clients leave while their signatures are made.
    pub cuts_signatures: AtomicBool,
    /// Set when visits must end.
    ended: AtomicBool,
    tally: Mutex<Tally>,
    /// Silent connections, and when to close them.
    silent: Mutex<VecDeque<(Instant, TcpStream)>>,
}

/// Why a visit ended before the response.
enum End {
    Cut(Stage),
    Left,
    Error(String),
}

impl<'a> Visitors<'a> {
    pub fn new(port: u16, identities: &'a Identities, body: &'static str, mix: Mix, seed: u64) -> Self {
        let configs = Tls::ALL.map(|tls| config(&identities.certificates, tls));
        let (next, answered) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (cuts_signatures, ended) = (AtomicBool::new(true), AtomicBool::new(false));
        let (tally, silent) = (Mutex::default(), Mutex::default());
        Self {
            port,
            identities,
            configs,
            body,
            mix,
            seed,
            next,
            answered,
            cuts_signatures,
            ended,
            tally,
            silent,
        }
    }

    /// How many handshakes have been answered.
    pub fn progress(&self) -> usize {
        self.answered.load(Relaxed)
    }

    pub fn tally(&self) -> Tally {
        self.tally.lock().expect("no client panics while it counts").clone()
    }

    /// Ends the visits when dropped, also if the watching thread panics.
    pub fn end(&self) -> impl Drop {
        struct End<'a>(&'a AtomicBool);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.store(true, Relaxed);
            }
        }
        End(&self.ended)
    }

    /// Visits until this many handshakes were answered, the time has passed, or a connection failed.
    pub fn run(&self, handshakes: usize, due: Instant) {
        thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| {
                    while self.progress() < handshakes && Instant::now() < due && !self.ended.load(Relaxed) {
                        self.close_silent(Instant::now());
                        self.visit(self.next.fetch_add(1, Relaxed) as u64);
                    }
                });
            }
        });
    }

    /// Closes all silent connections.
    pub fn close_all(&self) {
        self.close_silent(Instant::now() + self.mix.silence);
    }

    fn close_silent(&self, now: Instant) {
        let mut silent = self.silent.lock().expect("no client panics with silent connections");
        while silent.front().is_some_and(|(due, _)| *due <= now) {
            silent.pop_front();
        }
    }

    fn visit(&self, number: u64) {
        let mut random = Random(self.seed ^ number << 24);
        let (start, version) = (Instant::now(), random.below(2) as usize);
        let is_allowed = |plan: &(Stage, Deed)| {
            !matches!(plan, (Stage::AfterHello, Deed::Cut(_))) || self.cuts_signatures.load(Relaxed)
        };
        let plan = self.mix.draw(&mut random).filter(is_allowed);
        let end = self.converse(version, plan, &mut random);
        let mut tally = self.tally.lock().expect("no client panics while it counts");
        match end {
            Ok(()) => {
                tally.answered[version] += 1;
                tally.paused += usize::from(plan.is_some());
                self.answered.fetch_add(1, Relaxed);
            }
            Err(End::Cut(stage)) => tally.cut[stage as usize] += 1,
            Err(End::Left) => tally.left += 1,
            Err(End::Error(_)) if start.elapsed() > PATIENCE => tally.late += 1,
            Err(End::Error(error)) => {
                tally.failed += 1;
                self.ended.store(true, Relaxed);
                if tally.failures.len() < TOLD {
                    tally
                        .failures
                        .push(format!("{}, {plan:?}, connection {number}: {error}", Tls::ALL[version]));
                }
            }
        }
    }

    /// One connection, up to the response.
    fn converse(
        &self,
        version: usize,
        plan: Option<(Stage, Deed)>,
        random: &mut Random,
    ) -> std::result::Result<(), End> {
        let error = |what: &'static str| move |error: Error| End::Error(format!("{what}: {error}"));
        let tcp = TcpStream::connect(("127.0.0.1", self.port)).map_err(error("connecting"))?;
        tcp.set_nodelay(true)
            .and_then(|()| tcp.set_read_timeout(Some(HANGING)))
            .map_err(error("setting up"))?;
        let name = self.identities.names[random.below(self.identities.names.len() as u64) as usize].clone();
        let name = ServerName::try_from(name).expect("a name");
        let tls =
            ClientConnection::new(self.configs[version].clone(), name).expect("a configuration that works");
        let mut visit = Visit { tcp, tls, plan };
        match visit.converse(random).map_err(error("talking"))? {
            Some((_, Deed::Leave)) => {
                let due = Instant::now() + self.mix.silence;
                let mut silent = self.silent.lock().expect("no client panics with silent connections");
                silent.push_back((due, visit.tcp));
                Err(End::Left)
            }
            Some((stage, _)) => Err(End::Cut(stage)),
            None => visit.answer().and_then(|answer| check(&answer, self.body)).map_err(End::Error),
        }
    }
}

/// One connection, and its planned deed.
struct Visit {
    tcp: TcpStream,
    tls: ClientConnection,
    plan: Option<(Stage, Deed)>,
}

impl Visit {
    /// Carries out the plan for a stage; returns it if that ends the visit.
    fn reach(&self, stage: Stage) -> Option<(Stage, Deed)> {
        let (_, deed) = self.plan.filter(|(at, _)| *at == stage)?;
        match deed {
            Deed::Pause(time) => {
                sleep(time);
                return None;
            }
            Deed::Cut(time) => sleep(time),
            Deed::Leave => {}
        }
        Some((stage, deed))
    }

    /// The handshake, flight by flight, and the request.
    fn converse(&mut self, random: &mut Random) -> Result<Option<(Stage, Deed)>> {
        if let Some(end) = self.reach(Stage::Connected) {
            return Ok(Some(end));
        }
        let hello = self.flight()?;
        let part = random.below(hello.len() as u64) as usize;
        self.tcp.write_all(&hello[..part])?;
        if let Some(end) = self.reach(Stage::InHello) {
            return Ok(Some(end));
        }
        self.tcp.write_all(&hello[part..])?;
        if let Some(end) = self.reach(Stage::AfterHello) {
            return Ok(Some(end));
        }
        let mut has_answered = false;
        while self.tls.is_handshaking() {
            // The server's first flight is complete when there is something to answer.
            while !self.tls.wants_write() && self.tls.is_handshaking() {
                if self.tls.read_tls(&mut self.tcp)? == 0 {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                self.tls.process_new_packets().map_err(Error::other)?;
            }
            if !has_answered && let Some(end) = self.reach(Stage::BeforeFinished) {
                return Ok(Some(end));
            }
            has_answered = true;
            let flight = self.flight()?;
            self.tcp.write_all(&flight)?;
        }
        if let Some(end) = self.reach(Stage::Established) {
            return Ok(Some(end));
        }
        self.tls.writer().write_all(REQUEST)?;
        let request = self.flight()?;
        self.tcp.write_all(&request)?;
        Ok(None)
    }

    /// What TLS has to send now.
    fn flight(&mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while self.tls.wants_write() {
            self.tls.write_tls(&mut bytes)?;
        }
        Ok(bytes)
    }

    fn answer(&mut self) -> std::result::Result<Vec<u8>, String> {
        let mut answer = Vec::new();
        match Stream::new(&mut self.tls, &mut self.tcp).read_to_end(&mut answer) {
            Ok(_) => Ok(answer),
            // The length of the response shows whether it is complete.
            Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => {
                Ok(answer)
            }
            Err(error) => Err(format!("answer: {error}")),
        }
    }
}

//! Load for a server of HTTP/1.1: one request again and again, over connections that are kept.
//!
//! * [`Load::closed`]: each connection asks as soon as it has its answer. This finds the highest rate.
//! * [`Load::open`]: requests arrive at a rate of their own, however slow the server is (a Poisson process).
//!   A request that finds no connection free waits for one. Its time is counted from its arrival: if a server
//!   does not answer for a while, all who would have come meanwhile have waited.
//!
//! A thread for each connection, since tokio's clock has steps of a millisecond.

use std::io::{Error, Read, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The longest head and body of a response; longer ones are an error.
const LONGEST: usize = 1 << 16;

/// A request for a server, and the number of connections.
#[derive(Clone, Debug)]
pub struct Load {
    address: SocketAddr,
    request: Vec<u8>,
    connections: usize,
}

/// A persistent connection.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Load {
    /// A POST of JSON.
    #[must_use]
    pub fn post(address: SocketAddr, path: &str, body: &str, connections: usize) -> Self {
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n\
             {body}"
        );
        Self { address, request: request.into_bytes(), connections }
    }

    /// Sends the request again on every connection as soon as the response has come. Returns the number of
    /// responses, and the seconds that they took.
    ///
    /// # Errors
    /// Those of a connection, and a response other than 200.
    pub fn closed(&self, time: Duration) -> Result<(f64, f64)> {
        let (over, count) = (AtomicBool::new(false), AtomicUsize::new(0));
        let times = self.on_all(|connection, start| {
            while !over.load(Ordering::Relaxed) {
                connection.ask(&self.request)?;
                count.fetch_add(1, Ordering::Relaxed);
                if start.elapsed() >= time {
                    over.store(true, Ordering::Relaxed);
                }
            }
            Ok(start.elapsed())
        })?;
        let took = times.into_iter().max().unwrap_or(time);
        Ok((count.load(Ordering::Relaxed) as f64, took.as_secs_f64()))
    }

    /// The times from arrival to response of requests that arrive at `rate` per second.
    ///
    /// # Errors
    /// Those of [`closed`](Self::closed).
    pub fn open(&self, rate: f64, time: Duration, seed: u64) -> Result<Vec<Duration>> {
        let (arrivals, next) = (arrivals(rate, time, seed), AtomicUsize::new(0));
        self.on_all(|connection, start| {
            // All threads have started before the first arrival.
            let start = start + Duration::from_millis(50);
            let mut times = Vec::new();
            while let Some(after) = arrivals.get(next.fetch_add(1, Ordering::Relaxed)) {
                let due = start + *after;
                thread::sleep(due.saturating_duration_since(Instant::now()));
                connection.ask(&self.request)?;
                times.push(due.elapsed());
            }
            Ok(times)
        })
        .map(|times| times.concat())
    }

    /// Opens all connections, then calls `work` for each on its own thread, with the time when the last was
    /// opened.
    fn on_all<T: Send>(&self, work: impl Fn(&mut Connection, Instant) -> Result<T> + Sync) -> Result<Vec<T>> {
        let connections =
            (0..self.connections).map(|_| Connection::open(self.address)).collect::<Result<Vec<_>>>()?;
        let start = Instant::now();
        thread::scope(|scope| {
            let work = &work;
            let threads: Vec<_> = connections
                .into_iter()
                .map(|mut connection| scope.spawn(move || work(&mut connection, start)))
                .collect();
            let join = |thread: thread::ScopedJoinHandle<Result<T>>| {
                thread.join().unwrap_or_else(|_| Err(Error::other("a thread of the generator panicked")))
            };
            threads.into_iter().map(join).collect()
        })
    }
}

impl Connection {
    fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    /// Sends a request, and reads the whole response.
    fn ask(&mut self, request: &[u8]) -> Result<()> {
        self.stream.write_all(request)?;
        self.buffer.clear();
        let whole = loop {
            let filled = self.buffer.len();
            self.buffer.resize(filled + 4096, 0);
            let read = self.stream.read(&mut self.buffer[filled..])?;
            self.buffer.truncate(filled + read);
            if read == 0 || self.buffer.len() > LONGEST {
                return Err(Error::other("the server's answer ends early, or is too long"));
            }
            if let Some(whole) = length(&self.buffer)?.filter(|&whole| self.buffer.len() >= whole) {
                break whole;
            }
        };
        if self.buffer.len() > whole || !self.buffer.starts_with(b"HTTP/1.1 200 ") {
            return Err(Error::other(format!(
                "the server answers {}",
                String::from_utf8_lossy(&self.buffer)
            )));
        }
        Ok(())
    }
}

/// The length of a response, head and body, once the head is there.
fn length(answer: &[u8]) -> Result<Option<usize>> {
    let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length = length.and_then(|length| length.trim().parse::<usize>().ok());
    length
        .map(|length| Some(end + 4 + length))
        .ok_or_else(|| Error::other("the server's answer has no length"))
}

/// The arrival times of requests from the start: a Poisson process, equal for equal seeds.
fn arrivals(rate: f64, time: Duration, seed: u64) -> Vec<Duration> {
    // xorshift64 never leaves zero.
    let (mut random, mut at, mut all) = (seed | 1, 0.0, Vec::new());
    loop {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // From 2⁻⁵³ to 1.
        let share = ((random >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
        at -= share.ln() / rate;
        if at >= time.as_secs_f64() {
            return all;
        }
        all.push(Duration::from_secs_f64(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_have_their_rate_and_no_rhythm() {
        let all = arrivals(1000.0, Duration::from_secs(100), 0x9e37_79b9_7f4a_7c15);
        assert!((98_000..102_000).contains(&all.len()), "{}", all.len());
        let gaps: Vec<_> = all.windows(2).map(|two| (two[1] - two[0]).as_secs_f64() * 1000.0).collect();
        // Gaps of a Poisson process vary by as much as their mean.
        let variance = gaps.iter().map(|gap| (gap - 1.0).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((0.95..1.05).contains(&variance), "{variance}");
    }

    #[test]
    fn the_end_of_an_answer_is_found() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        assert_eq!(length(answer).expect("an answer"), Some(answer.len()));
        assert_eq!(length(&answer[..30]).expect("a part"), None);
        assert!(length(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }

    /// The server stalls once, for 200 ms: requests that arrive meanwhile have waited.
    #[test]
    fn a_pause_of_the_server_counts_for_all_who_come_meanwhile() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let (mut buffer, mut answers) = ([0; 1024], 0);
            while stream.read(&mut buffer).is_ok_and(|read| read > 0) {
                if answers == 10 {
                    thread::sleep(Duration::from_millis(200));
                }
                answers += 1;
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").expect("written");
            }
        });
        let load = Load::post(address, "/", "", 1);
        let times = load.open(200.0, Duration::from_millis(500), 7).expect("answers");
        server.join().expect("no panic");
        let late = times.iter().filter(|time| **time > Duration::from_millis(50)).count();
        assert!(late > 10, "{late} of {}", times.len());
    }
}

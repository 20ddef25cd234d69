//! A connection that is cut off after some bytes in one direction, as by a network failure or a visitor who
//! leaves.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use crate::random::Random;

/// More bytes than a client sends, and than a server sends, until the response is complete; some cuts come
/// too late to have an effect.
const SENT: u64 = 450;
const RECEIVED: u64 = 1700;

/// A connection with this many bytes left in each direction.
pub struct Cut {
    stream: TcpStream,
    sent: usize,
    received: usize,
    /// How long the cut connection stays open and silent: the server may be making a signature when it
    /// closes.
    silence: Duration,
    happened: bool,
}

impl Cut {
    /// Never cut.
    pub fn never(stream: TcpStream) -> Self {
        Self { stream, sent: usize::MAX, received: usize::MAX, silence: Duration::ZERO, happened: false }
    }

    /// Cut at a random place, at the latest in the server's response.
    pub fn at_random(stream: TcpStream, random: &mut Random) -> Self {
        let mut cut = Self::never(stream);
        match random.below(2) {
            0 => cut.sent = random.below(SENT) as usize,
            _ => cut.received = random.below(RECEIVED) as usize,
        }
        cut.silence = Duration::from_micros(random.below(4) * random.below(2000));
        cut
    }

    /// Whether it was cut.
    pub fn happened(&self) -> bool {
        self.happened
    }

    fn cut<T>(&mut self) -> Result<T> {
        self.happened = true;
        sleep(self.silence);
        Err(Error::new(ErrorKind::ConnectionAborted, "cut off by the test"))
    }
}

impl Read for Cut {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.received == 0 {
            return self.cut();
        }
        let most = buffer.len().min(self.received);
        let count = self.stream.read(&mut buffer[..most])?;
        if self.received != usize::MAX {
            self.received -= count;
        }
        Ok(count)
    }
}

impl Write for Cut {
    fn write(&mut self, buffer: &[u8]) -> Result<usize> {
        if self.sent == 0 {
            return self.cut();
        }
        let count = self.stream.write(&buffer[..buffer.len().min(self.sent)])?;
        if self.sent != usize::MAX {
            self.sent -= count;
        }
        Ok(count)
    }

    fn flush(&mut self) -> Result<()> {
        self.stream.flush()
    }
}

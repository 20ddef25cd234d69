//! Memory in regions, and the trace of what is accessed.

use std::cell::RefCell;

use crate::machine::Stop;
use crate::value::{Region, Value};

/// The stack's region. Offset 0 is where the stack pointer is when a function is called; the frame is below.
pub const STACK: Region = 0;
/// Words of stack below that.
const FRAME: usize = 64;

/// Memory that the code is given.
struct Place {
    name: &'static str,
    words: Vec<Value>,
    writable: bool,
}

/// All regions.
pub struct Memory {
    places: Vec<Place>,
    /// Addresses of instructions, and of what they access: the region, and the byte in it.
    trace: RefCell<Vec<(u64, i64)>>,
}

/// What a run shows and leaves: it must not depend on a carry.
#[derive(PartialEq)]
pub struct Traces {
    trace: Vec<(u64, i64)>,
    frame: Vec<Value>,
}

impl Memory {
    /// A stack; the caller's words on it begin with `above`.
    pub fn new(above: &[Value]) -> Self {
        let words = [&[Value::Unknown; FRAME], above].concat();
        Self { places: vec![Place { name: "the stack", words, writable: true }], trace: RefCell::default() }
    }

    /// A region that the code may read, and write if `writable`.
    pub fn region(&mut self, name: &'static str, words: Vec<Value>, writable: bool) -> Region {
        self.places.push(Place { name, words, writable });
        self.places.len() - 1
    }

    /// What a region holds.
    pub fn words(&self, region: Region) -> &[Value] {
        &self.places[region].words
    }

    /// An instruction is executed.
    pub fn executes(&mut self, address: u64) {
        self.trace.get_mut().push((address, 0));
    }

    /// What the run has shown and left.
    pub fn traces(mut self) -> Traces {
        Traces { trace: self.trace.into_inner(), frame: self.places.swap_remove(STACK).words }
    }

    /// No word is left on the stack.
    pub fn check_frame(&self) -> Result<(), Stop> {
        let secret = |value: &Value| {
            matches!(value, Value::Word(_) | Value::Mask(_) | Value::Byte(_) | Value::Two(..))
        };
        match self.places[STACK].words.iter().position(secret) {
            Some(at) => {
                Err(format!("a word is left in the frame, {} bytes below its end", 8 * (FRAME - at)).into())
            }
            None => Ok(()),
        }
    }

    /// Eight bytes.
    pub fn load(&self, region: Region, offset: i64, stack_pointer: Value) -> Result<Value, Stop> {
        Ok(self.places[region].words[self.slot(region, offset, stack_pointer)?])
    }

    /// Writes eight bytes.
    pub fn store(
        &mut self,
        region: Region,
        offset: i64,
        stack_pointer: Value,
        value: Value,
    ) -> Result<(), Stop> {
        let slot = self.slot(region, offset, stack_pointer)?;
        let place = &mut self.places[region];
        if !place.writable {
            return Err(format!("it writes to {}", place.name).into());
        }
        place.words[slot] = value;
        Ok(())
    }

    /// The word of a region at an offset. On the stack, nothing below the stack pointer is accessed.
    fn slot(&self, region: Region, offset: i64, stack_pointer: Value) -> Result<usize, Stop> {
        self.trace.borrow_mut().push((region as u64, offset));
        let place = &self.places[region];
        let from_start = if region == STACK { offset + 8 * FRAME as i64 } else { offset };
        let slot =
            usize::try_from(from_start / 8).ok().filter(|slot| from_start >= 0 && *slot < place.words.len());
        let below = region == STACK && !matches!(stack_pointer, Value::Pointer(STACK, at) if at <= offset);
        match slot {
            Some(slot) if from_start % 8 == 0 && !below => Ok(slot),
            _ => Err(format!("it accesses byte {offset} of {}", place.name).into()),
        }
    }
}

//! What is flipped: one random bit of a register or of memory that an operation uses.

use anyhow::{Result, ensure};
use nix::libc::user_regs_struct;
use rand::Rng;
use rand::rngs::StdRng;
use std::fmt::{self, Display, Formatter};

use super::process::Process;
use super::raw;
use super::tracer::Tracer;

/// Where a bit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Region {
    General,
    Vector,
    Stack,
    Key,
    Table,
    Number,
}

/// All of them: each is as likely as another.
pub const REGIONS: [Region; 6] =
    [Region::General, Region::Vector, Region::Stack, Region::Key, Region::Table, Region::Number];

impl Display for Region {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.pad(match self {
            Self::General => "general registers",
            Self::Vector => "vector registers",
            Self::Stack => "stack",
            Self::Key => "key",
            Self::Table => "tables",
            Self::Number => "numbers",
        })
    }
}

/// Allocations of at least so many bytes are called tables.
const TABLE: u64 = 4096;
/// What leaf functions may use below the stack pointer.
const RED_ZONE: u64 = 128;
/// Arithmetic flags and the direction flag.
const FLAGS: [u32; 7] = [0, 2, 4, 6, 7, 10, 11];
/// MXCSR, and the parts of the state that have vectors and masks: 1 and 2 are xmm and the upper halves of
/// ymm, 5 to 7 are those of AVX-512.
const MXCSR: usize = 24;
const PARTS: [u32; 5] = [1, 2, 5, 6, 7];
const STATE: usize = 512;

/// What was flipped.
pub struct Flip {
    pub region: Region,
    /// In words.
    pub place: String,
}

/// Flips a bit of a process that is in an operation, whose frames end at `stack`.
pub fn flip(tracer: &Tracer, process: Process, stack: u64, random: &mut StdRng) -> Result<Flip> {
    let registers = process.registers()?;
    let (live, epoch) = tracer.live(process)?;
    let is = |region, &[_, size, born]: &[u64; 3]| {
        region
            == if born != epoch {
                Region::Key
            } else if size >= TABLE {
                Region::Table
            } else {
                Region::Number
            }
    };
    loop {
        let region = REGIONS[random.random_range(0..REGIONS.len())];
        let place = match region {
            Region::General => general(process, registers, random)?,
            Region::Vector => vector(process, random)?,
            Region::Stack => {
                let low = registers.rsp - RED_ZONE;
                ensure!(low < stack, "the stack pointer is above its operation");
                let at = memory(process, low, stack - low, random)?;
                format!("{at} of {}", stack - low)
            }
            _ => {
                let mine: Vec<_> = live.iter().filter(|slot| is(region, slot)).collect();
                let all: u64 = mine.iter().map(|slot| slot[1]).sum();
                if all == 0 {
                    continue; // not every phase has a table
                }
                let mut at = random.random_range(0..all);
                let mut slots = mine.into_iter();
                let slot = slots.find(|slot| {
                    let found = at < slot[1];
                    at = if found { at } else { at - slot[1] };
                    found
                });
                let Some(&[address, size, _]) = slot else { continue };
                memory(process, address + at, 1, random)?;
                format!("{at} of {size}")
            }
        };
        return Ok(Flip { region, place });
    }
}

/// Flips a bit of `len` bytes, and returns which byte.
fn memory(process: Process, start: u64, len: u64, random: &mut StdRng) -> Result<u64> {
    let at = random.random_range(0..len);
    let (address, bit) = ((start + at) & !7, (start + at) % 8 * 8 + random.random_range(0..8));
    process.set_word(address, process.word(address)? ^ 1 << bit)?;
    Ok(at)
}

fn general(process: Process, mut registers: user_regs_struct, random: &mut StdRng) -> Result<String> {
    let r = &mut registers;
    let all = [
        ("rax", &mut r.rax),
        ("rbx", &mut r.rbx),
        ("rcx", &mut r.rcx),
        ("rdx", &mut r.rdx),
        ("rsi", &mut r.rsi),
        ("rdi", &mut r.rdi),
        ("rbp", &mut r.rbp),
        ("rsp", &mut r.rsp),
        ("r8", &mut r.r8),
        ("r9", &mut r.r9),
        ("r10", &mut r.r10),
        ("r11", &mut r.r11),
        ("r12", &mut r.r12),
        ("r13", &mut r.r13),
        ("r14", &mut r.r14),
        ("r15", &mut r.r15),
        ("flags", &mut r.eflags),
    ];
    let i = random.random_range(0..all.len() + 1);
    let Some((name, register)) = all.into_iter().nth(i) else {
        let mut state = raw::vectors(process.0)?;
        state[MXCSR + random.random_range(0..2)] ^= 1 << random.random_range(0..8);
        raw::set_vectors(process.0, &mut state)?;
        return Ok("mxcsr".into());
    };
    let bit =
        if name == "flags" { FLAGS[random.random_range(0..FLAGS.len())] } else { random.random_range(0..64) };
    *register ^= 1 << bit;
    process.set_registers(registers)?;
    Ok(name.into())
}

fn vector(process: Process, random: &mut StdRng) -> Result<String> {
    let mut state = raw::vectors(process.0)?;
    let features = u64::from_le_bytes(state[464..472].try_into()?);
    let place = |part| if part == 1 { (160, 256) } else { raw::part_of_state(part) };
    let parts: Vec<_> = PARTS.into_iter().filter(|part| features >> part & 1 == 1).collect();
    let all: usize = parts.iter().map(|&part| place(part).1).sum();
    let mut at = random.random_range(0..all);
    for part in parts {
        let (start, size) = place(part);
        if at < size {
            // A part that is all zeros may be marked so, and is then not read.
            if state[STATE] >> part & 1 == 0 {
                state[start..start + size].fill(0);
                state[STATE] |= 1 << part;
            }
            state[start + at] ^= 1 << random.random_range(0..8);
            break;
        }
        at -= size;
    }
    raw::set_vectors(process.0, &mut state)?;
    Ok(format!("{at}"))
}

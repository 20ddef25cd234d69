//! Operands of instructions (AT&T syntax).

use anyhow::{Context, Result, bail};

use crate::codegen::entry_points::split;

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand<'a> {
    /// A number in the code; `None` for the address of a symbol.
    Immediate(Option<i64>),
    /// A general register, and how many bytes of it; `%ah` counts as two.
    General(usize, usize),
    /// A vector register, and its bytes.
    Vector(usize, usize),
    /// A mask register.
    Mask(usize),
    Memory(Address<'a>),
}

/// `symbol+displacement(base, index, scale)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Address<'a> {
    /// Relative to the instruction.
    pub symbol: Option<&'a str>,
    pub displacement: i64,
    pub base: Option<usize>,
    pub index: Option<Index>,
    pub scale: i64,
    /// Whether one element is read, and brought to all.
    pub broadcast: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Index {
    General(usize),
    Vector(usize),
}

/// The operands of an instruction, and the mask under which it writes.
#[derive(Clone, Debug, Default)]
pub struct Operands<'a> {
    pub all: Vec<Operand<'a>>,
    pub mask: Option<usize>,
    /// Whether elements outside the mask become zero; else they stay.
    pub zeroing: bool,
}

pub const RAX: usize = 0;
pub const RDX: usize = 2;
pub const RSP: usize = 4;
/// The registers of arguments, in order.
pub const ARGUMENTS: [usize; 6] = [7, 6, RDX, 1, 8, 9];
const NAMES: [&str; 8] = ["ax", "cx", "dx", "bx", "sp", "bp", "si", "di"];

/// The operands of an instruction.
pub fn parse(text: &str) -> Result<Operands<'_>> {
    let mut operands = Operands::default();
    for part in split(text).into_iter().filter(|part| !part.is_empty()) {
        if part.starts_with('{') {
            // A rounding mode.
            continue;
        }
        let (operand, marks) =
            part.split_once('{').map_or((part, ""), |(operand, marks)| (operand.trim_end(), marks));
        let mut broadcast = false;
        for mark in marks.split(['{', '}', ' ']).filter(|mark| !mark.is_empty()) {
            match mark {
                "z" => operands.zeroing = true,
                _ if mark.starts_with("1to") => broadcast = true,
                _ => match register(mark.strip_prefix('%').unwrap_or("")) {
                    Some(Operand::Mask(mask)) => operands.mask = Some(mask),
                    _ => bail!("{mark:?} is no mask"),
                },
            }
        }
        operands.all.push(one(operand, broadcast).with_context(|| format!("the operand {part:?}"))?);
    }
    Ok(operands)
}

fn one(text: &str, broadcast: bool) -> Result<Operand<'_>> {
    if let Some(number) = text.strip_prefix('$') {
        return Ok(Operand::Immediate(integer(number)));
    }
    // Of an indirect jump.
    let text = text.trim_start_matches('*');
    if let Some(name) = text.strip_prefix('%') {
        return register(name).context("is no register known here");
    }
    let Some((before, inside)) = text.split_once('(') else { bail!("is neither register nor memory") };
    let inside = inside.strip_suffix(')').context("has no closing parenthesis")?;
    let mut parts = inside.split(',').map(str::trim);
    let (base, index, scale) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""), parts.next());
    let mut address = Address { symbol: None, displacement: 0, base: None, index: None, scale: 1, broadcast };
    match (integer(before), base) {
        (_, "%rip") => address.symbol = Some(before),
        (Some(displacement), _) => address.displacement = displacement,
        (None, _) if before.is_empty() => {}
        _ => bail!("has a displacement that is not a number"),
    }
    let named = |name: &str| register(name.strip_prefix('%').unwrap_or(""));
    match (base, named(base)) {
        ("" | "%rip", _) => {}
        (_, Some(Operand::General(register, 8))) => address.base = Some(register),
        _ => bail!("has an unknown base"),
    }
    match (index, named(index)) {
        ("", _) => {}
        (_, Some(Operand::General(register, 8))) => address.index = Some(Index::General(register)),
        (_, Some(Operand::Vector(register, _))) => address.index = Some(Index::Vector(register)),
        _ => bail!("has an unknown index"),
    }
    if let Some(scale) = scale {
        address.scale = scale.parse().context("has an unknown scale")?;
    }
    Ok(Operand::Memory(address))
}

fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { (value as i64).wrapping_neg() } else { value as i64 })
}

/// A register by its name, without `%`.
fn register(name: &str) -> Option<Operand<'static>> {
    for (prefix, bytes) in [("xmm", 16), ("ymm", 32), ("zmm", 64)] {
        if let Some(number) = name.strip_prefix(prefix) {
            return number
                .parse()
                .ok()
                .filter(|&number| number < 32)
                .map(|number| Operand::Vector(number, bytes));
        }
    }
    if let Some(number) = name.strip_prefix('k') {
        return number.parse().ok().filter(|&number| number < 8).map(Operand::Mask);
    }
    let old = |rest: &str| NAMES.iter().position(|name| *name == rest);
    if let Some(number) = name.strip_prefix('r').and_then(old) {
        return Some(Operand::General(number, 8));
    }
    if let Some(number) = name.strip_prefix('e').and_then(old) {
        return Some(Operand::General(number, 4));
    }
    if let Some(number) = old(name) {
        return Some(Operand::General(number, 2));
    }
    if let Some(number) = name.strip_prefix('r') {
        let digits = number.trim_end_matches(['d', 'w', 'b']);
        let bytes = match &number[digits.len()..] {
            "" => 8,
            "d" => 4,
            "w" => 2,
            "b" => 1,
            _ => return None,
        };
        return digits
            .parse()
            .ok()
            .filter(|number| (8..16).contains(number))
            .map(|number| Operand::General(number, bytes));
    }
    match name.strip_suffix(['l', 'h'])? {
        letter @ ("a" | "b" | "c" | "d") => {
            Some(Operand::General(old(&format!("{letter}x"))?, if name.ends_with('h') { 2 } else { 1 }))
        }
        other => Some(Operand::General(old(other)?, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_read() {
        let all = parse("$-128, %r9d, -8(%rax,%r11,8){1to8}, {rz-sae}, %zmm31 {%k5} {z}").unwrap();
        let address = Address {
            symbol: None,
            displacement: -8,
            base: Some(0),
            index: Some(Index::General(11)),
            scale: 8,
            broadcast: true,
        };
        let (number, memory) = (Operand::Immediate(Some(-128)), Operand::Memory(address));
        assert_eq!(all.all, [number, Operand::General(9, 4), memory, Operand::Vector(31, 64)]);
        assert_eq!((all.mask, all.zeroing), (Some(5), true));
        let bytes = [("%sil", 6), ("%al", 0), ("%bpl", 5), ("%r15b", 15)];
        for (name, number) in bytes {
            assert_eq!(parse(name).unwrap().all, [Operand::General(number, 1)]);
        }
        assert!(parse("%cr0").is_err() && parse("%k8").is_err() && parse("8(%eax)").is_err());
    }
}

//! Sums, differences and products, with what they carry: an equation for each.

use crate::facts::Facts;
use crate::form::Id;
use crate::machine::Stop;
use crate::value::{Flag, Value};

impl Facts {
    /// `(name, greatest value, least value)`; a constant has the name of 1.
    fn operand(&self, value: Value) -> Result<(Id, u64, u64), Stop> {
        match value {
            Value::Word(id) => Ok((id, self.max(id), 0)),
            Value::Constant(constant) => Ok((0, constant, constant)),
            other => Err(format!("computes with {other:?}").into()),
        }
    }

    fn flag(flag: Flag) -> Result<(Id, u64, u64), Stop> {
        match flag {
            Flag::Carry(id) => Ok((id, 1, 0)),
            Flag::Known(flag) => Ok((0, flag.into(), flag.into())),
            Flag::Unknown => Err("depends on a flag that holds nothing certain".into()),
        }
    }

    /// A word that is 0 or 1, as a flag.
    pub fn bit(&self, value: Value) -> Option<Flag> {
        match value {
            Value::Word(id) if self.max(id) <= 1 => Some(Flag::Carry(id)),
            Value::Constant(value @ 0..=1) => Some(Flag::Known(value == 1)),
            _ => None,
        }
    }

    /// `a + b + carry`, and the carry.
    pub fn sum(&mut self, a: Value, b: Value, carry: Flag) -> Result<(Value, Flag), Stop> {
        match (a, b, carry) {
            (Value::Pointer(region, offset), Value::Constant(by), Flag::Known(false)) => {
                return Ok((Value::Pointer(region, offset.wrapping_add(by as i64)), Flag::Unknown));
            }
            (Value::Mask(a), Value::Mask(b), Flag::Known(false)) if a == b => {
                return Ok((Value::Unknown, Flag::Carry(a)));
            }
            (Value::Two(..), Value::Two(..), Flag::Known(false)) => {
                return Ok((Value::Unknown, Flag::Known(false)));
            }
            (Value::Word(a), Value::Constant(u64::MAX), Flag::Known(false)) if self.max(a) == 1 => {
                return Ok((Value::Unknown, Flag::Carry(a)));
            }
            (_, Value::Constant(0), Flag::Known(false)) => return Ok((a, carry)),
            (Value::Constant(0), _, Flag::Known(false)) => return Ok((b, carry)),
            _ => {}
        }
        let parts = [self.operand(a)?, self.operand(b)?, Self::flag(carry)?];
        let greatest: u128 = parts.iter().map(|part| u128::from(part.1)).sum();
        self.linear(&parts, [1, 1, 1], greatest as i128, 0, false)
    }

    /// `a − b − borrow`, and the borrow.
    pub fn difference(&mut self, a: Value, b: Value, borrow: Flag) -> Result<(Value, Flag), Stop> {
        match (a, b, borrow) {
            (Value::Pointer(region, offset), Value::Constant(by), Flag::Known(false)) => {
                return Ok((Value::Pointer(region, offset.wrapping_sub(by as i64)), Flag::Unknown));
            }
            (_, Value::Constant(0), Flag::Known(false)) => return Ok((a, borrow)),
            _ => {}
        }
        let parts @ [a, b, c] = [self.operand(a)?, self.operand(b)?, Self::flag(borrow)?];
        let range = |a: u64, b: u64, c: u64| i128::from(a) - i128::from(b) - i128::from(c);
        self.linear(&parts, [1, -1, -1], range(a.1, b.2, c.2), range(a.2, b.1, c.1), true)
    }

    /// A sum with signs, between `least` and `greatest`: its low word, and what is carried or borrowed.
    fn linear(
        &mut self,
        parts: &[(Id, u64, u64); 3],
        signs: [i128; 3],
        greatest: i128,
        least: i128,
        borrows: bool,
    ) -> Result<(Value, Flag), Stop> {
        const RADIX: i128 = 1 << 64;
        if parts.iter().all(|part| part.0 == 0) {
            let value: i128 = parts.iter().zip(signs).map(|(part, sign)| sign * i128::from(part.1)).sum();
            let out = !(0..RADIX).contains(&value);
            return Ok((Value::Constant(value as u64), Flag::Known(out)));
        }
        let factor = |(id, value, _): &(Id, u64, u64)| if *id == 0 { i128::from(*value) } else { 1 };
        let terms = parts.iter().zip(signs).map(|(part, sign)| ((0, part.0), sign * factor(part))).collect();
        if least >= 0 && greatest < RADIX {
            let max = greatest as u64;
            let (low, _) = self.define(terms, (max, None), borrows, false);
            return Ok((Value::Word(low), Flag::Known(false)));
        }
        let (low, high) = self.define(terms, (u64::MAX, Some(1)), borrows, false);
        let high = high.expect("asked for");
        let flag = match self.cases.iter().find(|(id, _)| *id == high).copied() {
            Some((_, value)) => {
                self.suppose(high, value);
                Flag::Known(value)
            }
            None => Flag::Carry(high),
        };
        Ok((Value::Word(low), flag))
    }

    /// `a·b`: its high word and its low word.
    pub fn product(&mut self, a: Value, b: Value) -> Result<(Value, Value), Stop> {
        let ((x, a_max, _), (y, b_max, _)) = (self.operand(a)?, self.operand(b)?);
        let greatest = u128::from(a_max) * u128::from(b_max);
        if x == 0 && y == 0 {
            return Ok((Value::Constant((greatest >> 64) as u64), Value::Constant(greatest as u64)));
        }
        let factor = if x == 0 {
            a_max
        } else if y == 0 {
            b_max
        } else {
            1
        };
        let terms = vec![((x.min(y), x.max(y)), i128::from(factor))];
        let high_max = u64::try_from(greatest >> 64).ok().filter(|max| *max > 0);
        let low_max = if high_max.is_some() { u64::MAX } else { greatest as u64 };
        let (low, high) = self.define(terms, (low_max, high_max), false, true);
        Ok((high.map_or(Value::Constant(0), Value::Word), Value::Word(low)))
    }
}

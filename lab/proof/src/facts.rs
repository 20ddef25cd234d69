//! What a run says about its words: one equation for each instruction, and what follows from them.
//!
//! An addition gives `low + 2^64·high = a + b + carry`, a subtraction `low − 2^64·high = a − b − borrow`, a
//! product `low + 2^64·high = a·b`, where `low` is a new word and `high` a new carry, borrow or word. A digit
//! (`names`) is cut off a word likewise, with a smaller radix. All are equations of integers, for all inputs.
//!
//! A claim is a form that must be 0. From the newest equation to the oldest, each replaces what it defines;
//! a carry that was added one limb up cancels with the `2^64·high` of its own equation. A carry that was
//! dropped stays, unless `decide` shows which value it has.

use num_bigint::BigInt;
use std::collections::{BTreeMap, HashMap};

use crate::form::{Form, Id, Monomial, radix};

/// Equations that may be used to decide one carry. A row has 27, a triangle of eight limbs about 130.
const MOST_STEPS: usize = 300;

/// `low ± 2^bits·high = Σ terms`.
#[derive(Debug)]
pub struct Equation {
    /// The result.
    pub low: Id,
    /// None if nothing can be carried.
    pub high: Option<Id>,
    /// 64, but where a word is cut.
    pub bits: u32,
    /// Whether `2^bits·high` is subtracted: `high` is a borrow.
    pub borrows: bool,
    /// Monomials and their coefficients.
    pub terms: Vec<(Monomial, i128)>,
    /// Whether it is that of a product.
    pub product: bool,
}

impl Equation {
    fn sum(&self) -> Form {
        let mut sum = Form::default();
        self.terms.iter().for_each(|(monomial, coefficient)| sum.add(*monomial, BigInt::from(*coefficient)));
        sum
    }

    /// `2^bits`.
    fn modulus(&self) -> BigInt {
        BigInt::from(1) << self.bits
    }

    /// The coefficient of `high`.
    fn radix(&self) -> BigInt {
        if self.borrows { -self.modulus() } else { self.modulus() }
    }
}

/// A number of several limbs that is at most `max`: a precondition.
struct Number {
    first: Id,
    limbs: usize,
    max: BigInt,
}

/// All that is known.
#[derive(Default)]
pub struct Facts {
    /// By name: no word is greater.
    max: Vec<u64>,
    equations: Vec<Equation>,
    /// By name: the equation that defines it; none for inputs.
    defined: Vec<Option<usize>>,
    /// By name: whether another equation has it.
    used: Vec<bool>,
    /// Carries and high halves with one possible value; `None` if that was tried in vain.
    known: HashMap<Id, Option<u64>>,
    zero: HashMap<Id, bool>,
    numbers: Vec<Number>,
    /// By word or product, and how many bits the lower part has.
    cuts: HashMap<(Monomial, u32), (Id, Id)>,
    /// Two words whose product is −1 modulo 2^64: a precondition.
    inverse: Option<(Id, Id)>,
    /// Carries by name, with the values that this run supposes when they appear; other runs suppose the other
    /// value.
    pub cases: Vec<(Id, bool)>,
    /// Those that have appeared.
    pub supposed: Vec<Id>,
}

/// Which equations a step may use.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    All,
    /// Those whose carry the form has.
    Carries,
}

impl Facts {
    /// Nothing yet.
    pub fn new() -> Self {
        Self { max: vec![1], defined: vec![None], used: vec![false], ..Self::default() }
    }

    /// Nothing yet, with values for carries that appear.
    pub fn supposing(cases: Vec<(Id, bool)>) -> Self {
        Self { cases, ..Self::new() }
    }

    /// A number that nothing defines.
    pub fn input(&mut self, max: u64) -> Id {
        self.max.push(max);
        self.defined.push(None);
        self.used.push(false);
        Id::try_from(self.max.len() - 1).expect("fewer than 2^32 words")
    }

    /// The words of a number of `limbs` limbs, at most `max`.
    pub fn number(&mut self, limbs: usize, max: Option<&BigInt>) -> Vec<Id> {
        let words: Vec<Id> = (0..limbs)
            .map(|i| {
                let top = max.filter(|_| i + 1 == limbs).and_then(|max| u64::try_from(max >> (64 * i)).ok());
                self.input(top.unwrap_or(u64::MAX))
            })
            .collect();
        if let Some(max) = max {
            self.numbers.push(Number { first: words[0], limbs, max: max.clone() });
        }
        words
    }

    /// Supposes `a·b ≡ −1 (mod 2^64)`.
    pub fn suppose_inverse(&mut self, a: Id, b: Id) {
        self.inverse = Some((a.min(b), a.max(b)));
    }

    /// The two words of that precondition.
    pub fn inverse(&self) -> Option<(Id, Id)> {
        self.inverse
    }

    /// Supposes the value of a carry. The caller must also show its claims for the other value.
    pub fn suppose(&mut self, carry: Id, value: bool) {
        self.known.insert(carry, Some(value.into()));
        self.supposed.push(carry);
    }

    /// No greater value is possible.
    pub fn max(&self, id: Id) -> u64 {
        self.max[id as usize]
    }

    /// How many equations there are.
    #[allow(clippy::len_without_is_empty)] // a count, not a collection
    pub fn len(&self) -> usize {
        self.equations.len()
    }

    /// How many carries were dropped and shown to have one value.
    pub fn decided(&self) -> usize {
        self.known.values().flatten().count() - self.supposed.len()
    }

    /// Names what an instruction computes: `low` at most `low_max`, and `high` at most `high_max`, if any.
    pub fn define(
        &mut self,
        terms: Vec<(Monomial, i128)>,
        (low_max, high_max): (u64, Option<u64>),
        borrows: bool,
        product: bool,
    ) -> (Id, Option<Id>) {
        for ((x, y), _) in &terms {
            (self.used[*x as usize], self.used[*y as usize]) = (true, true);
        }
        let low = self.input(low_max);
        let high = high_max.map(|max| self.input(max));
        let number = self.equations.len();
        self.equations.push(Equation { low, high, bits: 64, borrows, terms, product });
        for id in [Some(low), high].into_iter().flatten() {
            self.defined[id as usize] = Some(number);
        }
        (low, high)
    }

    /// Names the lower `bits` bits of a word or product and those above, always by the same names.
    pub fn cut(&mut self, monomial: Monomial, bits: u32) -> (Id, Id) {
        if let Some(parts) = self.cuts.get(&(monomial, bits)) {
            return *parts;
        }
        let product = monomial.0 != 0;
        let high_max = if product { u64::MAX } else { self.max(monomial.1) >> bits };
        let (low, high) = self.define(vec![(monomial, 1)], ((1 << bits) - 1, Some(high_max)), false, product);
        self.equations.last_mut().expect("defined above").bits = bits;
        let parts = (low, high.expect("asked for"));
        self.cuts.insert((monomial, bits), parts);
        parts
    }

    /// A value that the form cannot exceed.
    ///
    /// A product `x·y` is at most `max(x)·y`. That is used where the form also subtracts `y`.
    pub fn upper(&self, form: &Form) -> BigInt {
        let (mut total, mut linear) = (BigInt::ZERO, BTreeMap::<Id, BigInt>::new());
        for ((x, y), coefficient) in &form.0 {
            match (x, y) {
                (0, 0) => total += coefficient,
                (0, _) => *linear.entry(*y).or_default() += coefficient,
                _ if *coefficient < BigInt::ZERO => {}
                _ => {
                    let subtracted = |id: &Id| form.0.get(&(0, *id)).is_some_and(|c| *c < BigInt::ZERO);
                    match (subtracted(x), subtracted(y)) {
                        (_, true) => *linear.entry(*y).or_default() += coefficient * self.max(*x),
                        (true, _) => *linear.entry(*x).or_default() += coefficient * self.max(*y),
                        _ => total += coefficient * self.max(*x) * self.max(*y),
                    }
                }
            }
        }
        for number in &self.numbers {
            let name = |i: usize| number.first + i as Id;
            let Some(lowest) = linear.get(&number.first).cloned() else { continue };
            if (0..number.limbs).all(|i| linear.get(&name(i)) == Some(&(&lowest * radix(i)))) {
                (0..number.limbs).for_each(|i| _ = linear.remove(&name(i)));
                total += (&lowest * &number.max).max(BigInt::ZERO);
            }
        }
        for (id, coefficient) in linear {
            match self.known.get(&id) {
                Some(Some(value)) => total += coefficient * value,
                _ if coefficient > BigInt::ZERO => total += coefficient * self.max(id),
                _ => {}
            }
        }
        total
    }

    /// A value that the form cannot fall below.
    pub fn lower(&self, form: &Form) -> BigInt {
        let mut negative = form.clone();
        negative.scale(&BigInt::from(-1));
        -self.upper(&negative)
    }

    /// Uses the newest equation that defines a word or carry of the form named below `limit`. Where the form
    /// must be multiplied by 2^64 first, so is `scale`. Returns the next limit.
    fn step(&mut self, form: &mut Form, scale: &mut BigInt, limit: Id, which: Use) -> Option<Id> {
        let newest = form.last_linear(limit)?;
        let Some(number) = self.defined[newest as usize] else { return Some(newest) };
        let (low, high) = (self.equations[number].low, self.equations[number].high);
        let mut of_low = form.take(low);
        let Some(high) = high else {
            if which == Use::Carries {
                form.add((0, low), of_low);
                return Some(low);
            }
            let sum = self.equations[number].sum();
            form.add_scaled(&sum, &of_low);
            return Some(low);
        };
        let mut of_high = form.take(high);
        let radix_here = self.equations[number].radix();
        if which == Use::Carries && of_high == BigInt::ZERO {
            form.add((0, low), of_low);
            return Some(low);
        }
        let known = match self.known.get(&high) {
            Some(known) => *known,
            None if of_high == BigInt::ZERO && !self.used[high as usize] => self.decide(high),
            None => None,
        };
        let sum = self.equations[number].sum();
        if let Some(value) = known.filter(|_| which == Use::All) {
            form.add_scaled(&sum, &of_low);
            form.add((0, 0), (of_high - of_low * radix_here) * value);
        } else if of_high == &of_low * &radix_here {
            form.add_scaled(&sum, &of_low);
        } else if of_high == BigInt::ZERO {
            // The carry of a sum is left; of a product without its high half, the low one, which is a
            // quotient.
            if self.used[high as usize] || self.equations[number].product {
                form.add((0, low), of_low);
            } else {
                form.add_scaled(&sum, &of_low);
                form.add((0, high), -of_low * radix_here);
            }
        } else {
            if &of_high % &radix_here != BigInt::ZERO {
                let factor = radix(1);
                [&mut of_low, &mut of_high, scale].into_iter().for_each(|value| *value *= &factor);
                form.scale(&factor);
            }
            let factor = of_high / radix_here;
            form.add_scaled(&sum, &factor);
            if !self.is_zero(low) {
                form.add((0, low), of_low - factor);
            }
        }
        Some(low)
    }

    /// The value of a carry, borrow or high half that nothing uses, if there is one possible value alone.
    ///
    /// `2^bits·high` is what its equation says; the equations before that one make it `F/K` of older words.
    /// Where `F < K`, it is 0; where `F > 0`, a carry is 1.
    fn decide(&mut self, high: Id) -> Option<u64> {
        if let Some(known) = self.known.get(&high) {
            return *known;
        }
        // So that nothing goes round in circles; older equations are decided first, so nothing does.
        self.known.insert(high, None);
        let (mut form, mut scale, mut limit) = self.alone(high);
        for _ in 0..MOST_STEPS {
            let value = if self.upper(&form) < scale {
                Some(0)
            } else if self.max(high) == 1 && self.lower(&form) > BigInt::ZERO {
                Some(1)
            } else {
                None
            };
            if value.is_some() {
                self.known.insert(high, value);
                return value;
            }
            limit = self.step(&mut form, &mut scale, limit, Use::All)?;
        }
        None
    }

    /// A form that is `scale·high`, by the equation of `high`; the name below which to go on.
    fn alone(&self, high: Id) -> (Form, BigInt, Id) {
        let equation = &self.equations[self.defined[high as usize].expect("a carry has an equation")];
        let mut form = equation.sum();
        form.add((0, equation.low), BigInt::from(-1));
        if equation.borrows {
            form.scale(&BigInt::from(-1));
        }
        (form, equation.modulus(), equation.low)
    }

    /// Whether a word is 0 because it is a multiple of `2^bits`: Montgomery's lowest limb or digit.
    pub fn is_zero(&mut self, low: Id) -> bool {
        if let Some(known) = self.zero.get(&low) {
            return *known;
        }
        let zero = self.is_multiple(low);
        self.zero.insert(low, zero);
        zero
    }

    /// Computes modulo `2^bits`: `low` is the sum of its equation, and so is each lower part with as many
    /// bits. The newest is replaced first. Of limbs, products alone are: nothing else is between a quotient
    /// and them.
    fn is_multiple(&self, low: Id) -> bool {
        type Residue = BTreeMap<Vec<Id>, u64>;
        let equation = |id: Id| self.defined[id as usize].map(|number| &self.equations[number]);
        let add = |residue: &mut Residue, mut names: Vec<Id>, mut coefficient: u64| {
            names.retain(|id| *id != 0);
            if let Some((a, b)) = self.inverse {
                let at = |names: &[Id], id: Id| names.iter().position(|name| *name == id);
                while let (Some(first), Some(_)) = (at(&names, a), at(&names, b)) {
                    names.remove(first);
                    names.remove(at(&names, b).expect("found above"));
                    coefficient = coefficient.wrapping_neg();
                }
            }
            names.sort_unstable();
            let sum = residue.entry(names.clone()).or_default();
            *sum = sum.wrapping_add(coefficient);
            if *sum == 0 {
                residue.remove(&names);
            }
        };
        let Some(first) = equation(low) else { return false };
        let mut residue = Residue::new();
        first.terms.iter().for_each(|((x, y), c)| add(&mut residue, vec![*x, *y], *c as u64));
        let replaced = |id: &Id| {
            equation(*id)
                .is_some_and(|it| it.low == *id && it.bits >= first.bits && (it.product || first.bits < 64))
        };
        let newest = |names: &Vec<Id>| names.iter().copied().filter(replaced).max();
        while let Some(names) = residue.keys().max_by_key(|names| newest(names)).cloned()
            && let Some(id) = newest(&names)
        {
            let coefficient = residue.remove(&names).unwrap_or_default();
            let at = names.iter().position(|name| *name == id).expect("found above");
            for ((x, y), c) in &equation(id).expect("it has one").terms {
                let mut names = names.clone();
                names.remove(at);
                names.extend([*x, *y]);
                add(&mut residue, names, coefficient.wrapping_mul(*c as u64));
            }
        }
        residue.values().all(|coefficient| coefficient << (64 - first.bits) == 0)
    }

    /// Shows that the form is 0, or a multiple of `modulus`, which is odd; an error says what is left of it.
    ///
    /// What is left after all equations is a number too. If all its coefficients are multiples of some `L`,
    /// and the bounds exclude all multiples of `L` but 0, it is 0.
    pub fn vanish(&mut self, claim: &Form, modulus: Option<&BigInt>) -> Result<(), String> {
        let (mut form, scale) = self.replaced(claim);
        if let Some(modulus) = modulus {
            form.0.retain(|_, coefficient| &*coefficient % modulus != BigInt::ZERO);
        }
        if form.0.is_empty() {
            return Ok(());
        }
        let left = self.show(&form);
        if modulus.is_some() {
            return Err(left);
        }
        let divisor = form.0.values().fold(BigInt::ZERO, gcd);
        let mut scaled = claim.clone();
        scaled.scale(&scale);
        let upper = self.upper(&scaled).min(self.upper(&form));
        let lower = self.lower(&scaled).max(self.lower(&form));
        if upper < divisor && lower > -divisor { Ok(()) } else { Err(left) }
    }

    /// Shows that the form is 0 by the equations alone, without any bound.
    pub fn cancel(&mut self, claim: &Form) -> Result<(), String> {
        let (form, _) = self.replaced(claim);
        if form.0.is_empty() && self.decided() == 0 { Ok(()) } else { Err(self.show(&form)) }
    }

    /// A multiple of the form in the oldest words, and by what it is multiplied.
    fn replaced(&mut self, claim: &Form) -> (Form, BigInt) {
        let (mut form, mut scale, mut limit) = (claim.clone(), BigInt::from(1), Id::MAX);
        while let Some(next) = self.step(&mut form, &mut scale, limit, Use::All) {
            limit = next;
        }
        (form, scale)
    }

    /// Shows that the form is at most `limit`.
    pub fn at_most(&mut self, claim: &Form, most: &BigInt) -> Result<(), String> {
        let mut starts = vec![claim.clone()];
        // What the supposed carries say, as forms that are 0.
        for carry in self.supposed.clone() {
            let (mut form, mut scale, mut limit) = self.alone(carry);
            while let Some(next) = self.step(&mut form, &mut scale, limit, Use::Carries) {
                limit = next;
            }
            form.add((0, carry), -scale);
            for sign in [1, -1] {
                let mut start = claim.clone();
                start.add_scaled(&form, &BigInt::from(sign));
                starts.push(start);
            }
        }
        for mut form in starts {
            let (mut scale, mut limit) = (BigInt::from(1), Id::MAX);
            loop {
                if self.upper(&form) <= most * &scale {
                    return Ok(());
                }
                match self.step(&mut form, &mut scale, limit, Use::All) {
                    Some(next) => limit = next,
                    None => break,
                }
            }
        }
        Err("its bound does not follow".into())
    }

    /// What is left of a claim, in short.
    fn show(&self, form: &Form) -> String {
        let carries = form.0.keys().filter(|(x, y)| *x == 0 && *y != 0 && self.max(*y) == 1).count();
        let words = form.0.keys().filter(|(x, y)| *x == 0 && *y != 0).count() - carries;
        let products = form.0.keys().filter(|(x, _)| *x != 0).count();
        format!("{carries} carries, {words} words and {products} products do not cancel")
    }
}

fn gcd(a: BigInt, b: &BigInt) -> BigInt {
    let (mut a, mut b) = (a, b.clone());
    while b != BigInt::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    if a < BigInt::ZERO { -a } else { a }
}

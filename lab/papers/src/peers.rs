//! The libraries that the papers compare with: GMP and OpenSSL, where this system has them. They compute one
//! after the other what a batch computes at once.

use zariz_cli::exit::Failure;
use zariz_peers::{Error, Gmp, NotFound, OpenSsl};

use super::Library;
use super::measure::Numbers;
use super::timing::Contestant;

/// The libraries, or why they cannot be used.
pub struct Peers {
    /// GMP.
    pub gmp: Result<Gmp, NotFound>,
    /// OpenSSL.
    pub openssl: Result<OpenSsl, NotFound>,
}

impl Peers {
    /// Looks for both.
    pub fn load() -> Self {
        Self { gmp: Gmp::load(), openssl: OpenSsl::load() }
    }

    /// What was found.
    pub(super) fn libraries(&self) -> Vec<Library> {
        let library = |name, version: Result<&str, &NotFound>| Library {
            name,
            version: version.ok().map(str::to_owned),
            note: version.err().map(|missing| missing.why().to_owned()),
        };
        vec![
            library("GMP", self.gmp.as_ref().map(Gmp::version)),
            library("OpenSSL", self.openssl.as_ref().map(OpenSsl::version)),
        ]
    }
}

/// GMP's `x·y mod m` for every lane's numbers, one after the other. Its results are checked.
pub fn gmp_multiply(gmp: &Gmp, numbers: &Numbers) -> Result<Contestant<'static>, Failure> {
    let product =
        |lane: usize| gmp.product(&numbers.bases[lane], &numbers.factors[lane], &numbers.moduli[lane]);
    let mut products = each(product, gmp.version())?;
    for (product, expected) in products.iter_mut().zip(&numbers.products) {
        product.multiply();
        agree(&product.value(), expected, gmp.version())?;
    }
    Ok(one_after_the_other(products, |product| {
        product.multiply();
        Ok(())
    }))
}

/// GMP's `x² mod m` for every lane's numbers.
pub fn gmp_square(gmp: &Gmp, numbers: &Numbers) -> Result<Contestant<'static>, Failure> {
    let product =
        |lane: usize| gmp.product(&numbers.bases[lane], &numbers.bases[lane], &numbers.moduli[lane]);
    let mut products = each(product, gmp.version())?;
    for (product, expected) in products.iter_mut().zip(&numbers.squares) {
        product.square();
        agree(&product.value(), expected, gmp.version())?;
    }
    Ok(one_after_the_other(products, |product| {
        product.square();
        Ok(())
    }))
}

/// GMP's constant-time power of every lane's numbers.
pub fn gmp_power(gmp: &Gmp, numbers: &Numbers) -> Result<Contestant<'static>, Failure> {
    let power =
        |lane: usize| gmp.power(&numbers.bases[lane], &numbers.exponents[lane], &numbers.moduli[lane]);
    let mut powers = each(power, gmp.version())?;
    for (power, expected) in powers.iter_mut().zip(&numbers.powers) {
        power.compute();
        agree(&power.value(), expected, gmp.version())?;
    }
    Ok(one_after_the_other(powers, |power| {
        power.compute();
        Ok(())
    }))
}

/// OpenSSL's Montgomery multiplication of every lane's numbers.
pub fn openssl_multiply(openssl: &OpenSsl, numbers: &Numbers) -> Result<Contestant<'static>, Failure> {
    let name = openssl.version().to_owned();
    let product =
        |lane: usize| openssl.product(&numbers.bases[lane], &numbers.factors[lane], &numbers.moduli[lane]);
    let mut products = each(product, &name)?;
    for (product, expected) in products.iter_mut().zip(&numbers.products) {
        product.multiply().map_err(failed(&name))?;
        agree(&product.value().map_err(failed(&name))?, expected, &name)?;
    }
    Ok(one_after_the_other(products, move |product| product.multiply().map_err(failed(&name))))
}

/// OpenSSL's constant-time power of every lane's numbers.
pub fn openssl_power(openssl: &OpenSsl, numbers: &Numbers) -> Result<Contestant<'static>, Failure> {
    let name = openssl.version().to_owned();
    let mut powers = openssl_powers(openssl, numbers)?;
    for (power, expected) in powers.iter_mut().zip(&numbers.powers) {
        power.compute().map_err(failed(&name))?;
        agree(&power.value().map_err(failed(&name))?, expected, &name)?;
    }
    Ok(one_after_the_other(powers, move |power| power.compute().map_err(failed(&name))))
}

/// OpenSSL's constant-time powers of every two lanes' numbers; nothing where it has no such function.
pub fn openssl_power_pair(
    openssl: &OpenSsl,
    numbers: &Numbers,
) -> Result<Option<Contestant<'static>>, Failure> {
    let name = openssl.version().to_owned();
    let (mut powers, mut pairs) = (openssl_powers(openssl, numbers)?.into_iter(), Vec::new());
    while let (Some(a), Some(b)) = (powers.next(), powers.next()) {
        let Some(mut pair) = openssl.power_pair([a, b]) else { return Ok(None) };
        pair.compute().map_err(failed(&name))?;
        for (power, expected) in pair.powers().iter().zip(&numbers.powers[2 * pairs.len()..]) {
            agree(&power.value().map_err(failed(&name))?, expected, &name)?;
        }
        pairs.push(pair);
    }
    Ok(Some(one_after_the_other(pairs, move |pair| pair.compute().map_err(failed(&name)))))
}

fn openssl_powers(openssl: &OpenSsl, numbers: &Numbers) -> Result<Vec<zariz_peers::OpenSslPower>, Failure> {
    let power =
        |lane: usize| openssl.power(&numbers.bases[lane], &numbers.exponents[lane], &numbers.moduli[lane]);
    each(power, openssl.version())
}

/// One object for each lane.
fn each<T>(make: impl Fn(usize) -> Result<T, Error>, library: &str) -> Result<Vec<T>, Failure> {
    (0..Numbers::LANES).map(make).collect::<Result<_, _>>().map_err(failed(library))
}

/// A call that works on all objects in turn: eight lanes' worth.
fn one_after_the_other<T: 'static>(
    mut objects: Vec<T>,
    mut work: impl FnMut(&mut T) -> Result<(), Failure> + 'static,
) -> Contestant<'static> {
    Contestant { call: Box::new(move || objects.iter_mut().try_for_each(&mut work)), calls: 1.0 }
}

/// Checks a result, leading zeros aside.
pub fn agree(result: &[u8], expected: &[u8], library: &str) -> Result<(), Failure> {
    let trimmed = |number: &[u8]| number.iter().copied().skip_while(|&byte| byte == 0).collect::<Vec<u8>>();
    if trimmed(result) == trimmed(expected) {
        Ok(())
    } else {
        Err(Failure::Input(format!("{library} and zariz compute different results: nothing was measured")))
    }
}

fn failed(library: &str) -> impl Fn(Error) -> Failure {
    move |error| Failure::Input(format!("{library}: {error}"))
}

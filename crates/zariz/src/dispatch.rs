//! Which engine computes which requests.

use std::fmt;
use std::str::FromStr;

use zariz_kernels::batch::Method;

use crate::backend::Backend;
use crate::engine::{Engine, EngineError};
use crate::prepared::Prepared;

/// How requests are shared out between engines.
///
/// A vector machine does up to eight powers in the time of one. An engine that does one or two at a time may
/// be faster for fewer requests; which engine that is depends on the processor and on the length of the
/// numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dispatch {
    /// The cheapest combination of this processor's engines for the number of requests in a call. The costs
    /// come from built-in tables: on x86-64 for processors with AVX-512, for those that split 256-bit
    /// operations (AMD's Zen and Zen+) and for the others; on 64-bit Arm one, computed by a model. Between
    /// the lengths of a table they are interpolated. So the choice depends only on the processor, the lengths
    /// and the number of requests; nothing is measured at run time.
    #[default]
    Auto,
    /// One engine for everything.
    Only(Engine),
}

impl From<Engine> for Dispatch {
    fn from(engine: Engine) -> Self {
        Self::Only(engine)
    }
}

impl fmt::Display for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Auto => f.pad("auto"),
            Self::Only(engine) => f.pad(engine.name()),
        }
    }
}

impl FromStr for Dispatch {
    type Err = EngineError;

    /// The dispatch named `auto`, or by an engine's name. An unknown name is [`EngineError::Unknown`].
    fn from_str(name: &str) -> Result<Self, EngineError> {
        if name == "auto" { Ok(Self::Auto) } else { name.parse().map(Self::Only) }
    }
}

impl Dispatch {
    /// The engine that computes when there are enough requests to fill its lanes.
    pub fn main(self) -> Engine {
        match self {
            Self::Auto => Engine::best(),
            Self::Only(engine) => engine,
        }
    }

    /// Checks that this processor can run the main engine.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] for an engine whose instructions the processor lacks.
    pub fn check(self) -> Result<(), EngineError> {
        self.main().check()
    }
}

/// A dispatch, and the machine of its main engine.
#[derive(Clone, Copy)]
pub(crate) struct Route {
    pub dispatch: Dispatch,
    main: &'static dyn Backend,
}

/// What moduli must have in common to share a batch: whether the main engine takes them, and their digits or
/// limbs. Public, like lengths.
pub(crate) type Shape = (bool, usize);

impl Default for Route {
    /// The route of [`Dispatch::Auto`].
    fn default() -> Self {
        let main = Engine::best().backend().unwrap_or_else(|_| Engine::of_any_length());
        Self { dispatch: Dispatch::Auto, main }
    }
}

impl Route {
    /// Fails where this processor cannot run the engine.
    pub fn new(dispatch: Dispatch) -> Result<Self, EngineError> {
        Ok(Self { dispatch, main: dispatch.main().backend()? })
    }

    pub fn engine(self) -> Engine {
        self.dispatch.main()
    }

    /// The machine for batches that fill all lanes: the main engine's, or another where that does not take
    /// moduli of this length.
    pub fn machine(self, modulus: &Prepared) -> &'static dyn Backend {
        if self.main.fits(modulus.size()) { self.main } else { Engine::of_any_length() }
    }

    /// The modulus's shape.
    pub fn shape(self, modulus: &Prepared) -> Shape {
        (self.main.fits(modulus.size()), self.machine(modulus).shape(modulus))
    }

    /// The method for powers.
    pub fn method(self, modulus: &Prepared) -> Method {
        self.machine(modulus).method(modulus)
    }
}

/// Groups the indices below `count` by the dispatch of their items.
pub(crate) fn groups(count: usize, dispatch_of: impl Fn(usize) -> Dispatch) -> Vec<(Dispatch, Vec<usize>)> {
    let mut groups: Vec<(Dispatch, Vec<usize>)> = Vec::new();
    for i in 0..count {
        let dispatch = dispatch_of(i);
        match groups.iter_mut().find(|(other, _)| *other == dispatch) {
            Some((_, mine)) => mine.push(i),
            None => {
                let mut mine = Vec::with_capacity(count - i);
                mine.push(i);
                groups.push((dispatch, mine));
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for dispatch in [Dispatch::Auto, Dispatch::Only(Engine::Portable), Dispatch::Only(Engine::best())] {
            assert_eq!(dispatch.to_string().parse(), Ok(dispatch));
        }
        assert_eq!(Dispatch::Auto.main(), Engine::best());
        let error = "sse9".parse::<Dispatch>().expect_err("no such engine").to_string();
        assert!(error.contains("sse9") && error.contains("auto"), "{error}");
    }
}

//! Engines: which there are, which this processor can run, and how fast each raises 64 numbers to a power.

use std::time::Instant;

use zariz::{Dispatch, Engine, EngineError, Modulus};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bits = 1024;
    let modulus = Modulus::new(&vec![0xff; bits / 8])?;
    let exponent = vec![0xa5; bits / 8];
    let bases: Vec<[u8; 1]> = (2..66).map(|base| [base]).collect();
    let bases: Vec<&[u8]> = bases.iter().map(|base| &base[..]).collect();
    let expected = modulus.pow_batch(&bases, &exponent);

    println!("{:12}  lanes  powers per second, {bits} bits", "engine");
    for dispatch in Engine::ALL.iter().copied().map(Dispatch::Only).chain([Dispatch::Auto]) {
        // The modulus is prepared once, and shared.
        let modulus = match modulus.with_engine(dispatch) {
            Ok(modulus) => modulus,
            Err(error) => {
                println!("{dispatch:12}  {error}");
                continue;
            }
        };
        let start = Instant::now();
        assert_eq!(modulus.pow_batch(&bases, &exponent), expected);
        let rate = bases.len() as f64 / start.elapsed().as_secs_f64();
        println!("{dispatch:12}  {:5}  {rate:.0}", modulus.engine().lanes());
    }

    // Names are for command lines and settings; whether the processor has the engine is another question.
    let engine: Engine = "avx512-ifma".parse()?;
    match engine.check() {
        Ok(()) => engine.self_test()?,
        Err(EngineError::Unavailable(_)) => println!("{engine} needs {}", engine.requires()),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

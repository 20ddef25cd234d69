//! zariz in Python: the native module `zariz._zariz`. What users see is in `zariz/*.py`, with types in
//! `zariz/_zariz.pyi`.

#[cfg(unix)]
mod aio;
mod arrow;
mod columns;
mod error;
mod fixed_base;
mod keys;
mod moduli;
mod numbers;
mod output;
mod powers;
mod primes;
mod private_key;
mod products;
mod public_key;
mod work;

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule};

/// The state of zariz on this machine: its version, the engine for many numbers at once, the engines that
/// this processor can run, and the default number of threads of a call.
#[pyfunction]
fn info(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    let engines = zariz::Engine::ALL.iter().filter(|engine| engine.is_available());
    dict.set_item("version", env!("CARGO_PKG_VERSION"))?;
    dict.set_item("engine", zariz::Engine::best().name())?;
    dict.set_item("lanes", zariz::Engine::best().lanes())?;
    dict.set_item("engines", engines.map(|engine| engine.name()).collect::<Vec<_>>())?;
    dict.set_item("threads", std::thread::available_parallelism().map_or(1, |number| number.get()))?;
    Ok(dict)
}

/// Refuses to be imported into a second interpreter of a process: classes and exceptions belong to the first
/// one, and would be used after its end. (Python itself refuses this for interpreters with their own lock.)
fn check_interpreter(py: Python<'_>) -> PyResult<()> {
    // Each interpreter has its own module `sys`. This one stays referenced, so no other gets its address.
    static FIRST: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let sys = py.import("sys")?;
    match FIRST.get_or_init(py, || sys.clone().unbind()).is(&sys) {
        true => Ok(()),
        false => Err(PyImportError::new_err(
            "another interpreter of this process has imported zariz, which works in only one; use processes",
        )),
    }
}

/// The native part of zariz.
#[pymodule(gil_used = true)]
fn _zariz(module: &Bound<'_, PyModule>) -> PyResult<()> {
    check_interpreter(module.py())?;
    module.add_class::<powers::Modulus>()?;
    module.add_class::<private_key::PrivateKey>()?;
    module.add_class::<public_key::PublicKey>()?;
    module.add_class::<arrow::Column>()?;
    module.add_class::<fixed_base::FixedBase>()?;
    #[cfg(unix)]
    module.add_class::<aio::Batcher>()?;
    #[cfg(unix)]
    module.add_class::<aio::Inbox>()?;
    module.add_function(wrap_pyfunction!(powers::pow_many, module)?)?;
    module.add_function(wrap_pyfunction!(powers::pow_many_vartime, module)?)?;
    module.add_function(wrap_pyfunction!(products::mul_many, module)?)?;
    module.add_function(wrap_pyfunction!(products::invert_many, module)?)?;
    module.add_function(wrap_pyfunction!(products::multi_pow_many, module)?)?;
    module.add_function(wrap_pyfunction!(primes::generate_primes, module)?)?;
    module.add_function(wrap_pyfunction!(primes::is_prime_many, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::arrow_private, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::arrow_pow, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::arrow_verify, module)?)?;
    module.add_function(wrap_pyfunction!(work::reporter, module)?)?;
    module.add_function(wrap_pyfunction!(info, module)?)?;
    Ok(())
}

//! The engines that tests run on.

use zariz::Engine;
use zariz_emulator::{Form, Mode};

/// The engines that this processor has; says which it has not.
///
/// In a test program that writes `zariz_emulator::install_before_main!()`, `avx512-ifma` and `avx-ifma` are
/// among them where only these instructions are missing. They are [`slow`] then, so the programs that keep
/// engines busy for long do not.
pub fn engines() -> Vec<Engine> {
    let (available, lacking): (Vec<_>, Vec<_>) =
        Engine::ALL.iter().copied().partition(|engine| engine.is_available());
    for engine in lacking {
        let emulation = match form(engine).map(zariz_emulator::mode) {
            Some(Some(Mode::Unavailable(reason))) => format!("; not emulated: {reason}"),
            Some(None) => "; not emulated in this test program".into(),
            _ => String::new(),
        };
        eprintln!("skipped on {engine}: the processor lacks {}{emulation}", engine.requires());
    }
    available
}

/// Which VPMADD52 the engine's products are made of, if any.
fn form(engine: Engine) -> Option<Form> {
    match engine {
        Engine::PairIfma | Engine::Avx512Ifma => Some(Form::Evex),
        Engine::AvxIfma => Some(Form::Vex),
        _ => None,
    }
}

/// Whether the engine's multiplications are emulated: some hundred times slower than the others.
pub fn slow(engine: Engine) -> bool {
    form(engine).is_some_and(zariz_emulator::is_emulating)
}

/// The best engine that is not [`slow`].
pub fn fastest() -> Engine {
    Engine::ALL
        .iter()
        .copied()
        .rfind(|&engine| engine.is_available() && !slow(engine))
        .unwrap_or(Engine::Portable)
}

//! The engines that tests run on.

use zariz::Engine;
use zariz_emulator::Mode;

/// The engines that this processor has; says which it has not.
///
/// In a test program that writes `zariz_emulator::install_before_main!()`, `avx512-ifma` is among them where only these
/// instructions are missing. It is [`slow`] then, so the programs that keep engines busy for long do not.
pub fn engines() -> Vec<Engine> {
    let (available, lacking): (Vec<_>, Vec<_>) = Engine::ALL.iter().copied().partition(|engine| engine.is_available());
    for engine in lacking {
        let emulation = match zariz_emulator::mode() {
            Some(Mode::Unavailable(reason)) if by_ifma(engine) => format!("; not emulated: {reason}"),
            None if by_ifma(engine) => "; not emulated in this test program".into(),
            _ => String::new(),
        };
        eprintln!("skipped on {engine}: the processor lacks {}{emulation}", engine.requires());
    }
    available
}

/// Whether the engine's products are those of AVX512-IFMA.
fn by_ifma(engine: Engine) -> bool {
    matches!(engine, Engine::PairIfma | Engine::Avx512Ifma)
}

/// Whether the engine's multiplications are emulated: some hundred times slower than the others.
pub fn slow(engine: Engine) -> bool {
    by_ifma(engine) && zariz_emulator::is_emulating()
}

/// The best engine that is not [`slow`].
pub fn fastest() -> Engine {
    Engine::ALL.iter().copied().rfind(|&engine| engine.is_available() && !slow(engine)).unwrap_or(Engine::Portable)
}

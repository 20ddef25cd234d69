//! Assembly without a claim.

/// Where it is written, and why nothing is claimed of it. `tests/coverage.rs` compares with the source.
pub const OTHERS: [(&str, &str); 20] = [
    ("zariz_machines::batch::avx2::in_register", "no instruction: it keeps a vector in a register"),
    (
        "zariz_machines::batch::avx2_row::row",
        "products of doubles, for which there are no terms here: tests compare it with `mac`, product by product",
    ),
    (
        "zariz_machines::batch::avx512_row::products",
        "products of doubles, for which there are no terms here: tests compare rows with `mac`, product by product",
    ),
    (
        "zariz_machines::batch::avx512_row::pass_carry",
        "a conversion to doubles, likewise: the same tests compare it",
    ),
    ("zariz_machines::batch::avx512_ifma::jump", "a jump to the next instruction, which computes nothing"),
    ("zariz_machines::batch::avx512::in_register", "no instruction: it keeps a vector in a register"),
    (
        "zariz_machines::memcheck::send",
        "for tests: a request to valgrind, which the processor runs as nothing",
    ),
    ("zariz_machines::midr::midr", "one instruction, which computes nothing"),
    ("zariz_machines::rsaz::neon::multiply_add", "one instruction: tests of RSAZ run on it"),
    ("zariz_machines::rsaz::neon::packed_pick", "one instruction: tests of RSAZ run on it"),
    ("zariz_machines::mxcsr::read", "one instruction, which computes nothing"),
    ("zariz_machines::mxcsr::write", "one instruction, which computes nothing"),
    (
        "zariz_machines::registers::clear",
        "it zeroes registers, and a test of the library looks for what is left",
    ),
    ("zariz_machines::registers::numbers_in_registers_are_gone", "a test"),
    ("zariz_attacks::faults::linux::raw::call_and_jump", "for tests: what a debugger makes its process run"),
    ("zariz_attacks::timing::clock::alone", "for a measurement: what it computes does not matter"),
    ("zariz_attacks::timing::clock::fma", "for a measurement: what it computes does not matter"),
    ("zariz_attacks::timing::clock::ifma", "for a measurement: what it computes does not matter"),
    ("zariz_emulator::environment::read", "for tests: one instruction, which computes nothing"),
    ("zariz_emulator::environment::write", "for tests: one instruction, which computes nothing"),
];

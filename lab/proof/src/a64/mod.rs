//! 64-bit Arm: the assembly's instructions, and a processor over names that executes them.

pub mod code;
pub mod machine;

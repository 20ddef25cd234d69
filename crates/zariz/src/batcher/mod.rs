//! Requests of many callers, computed together.

mod primitive;
mod processes;
pub mod queue;
mod sync;

pub use primitive::{Primitive, PrimitiveResult, primitive_many};
pub use processes::Processes;

//! One element in each lane of a vector machine.

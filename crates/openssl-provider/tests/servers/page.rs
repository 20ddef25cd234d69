//! docs page.

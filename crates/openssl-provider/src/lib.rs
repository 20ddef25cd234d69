//! The provider is on its way.

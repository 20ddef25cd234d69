//! Servers that sign with zariz, to copy: a token issuer ([`token`]) and a blind issuer ([`blind`]), on axum
//! and tokio. [`http`] has what both need. [`load`], [`measure`] and [`peers`] compare them with aws-lc-rs.
//!
//! Neither server authenticates its callers, has TLS, or limits each caller: put a proxy that does so in
//! front of them.

pub mod blind;
pub mod http;
pub mod load;
pub mod measure;
pub mod peers;
pub mod token;

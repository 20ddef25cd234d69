//! Servers that sign with zariz, to copy: a token issuer ([`token`]) and a blind issuer ([`blind`]), on axum and
//! tokio. [`http`] has what both need. [`load`], [`measure`] and [`peers`] compare them with aws-lc-rs.
//!
//! Neither asks who its callers are, and neither has TLS or a limit for each caller: put them behind what does.

pub mod blind;
pub mod http;
pub mod load;
pub mod measure;
pub mod peers;
pub mod token;

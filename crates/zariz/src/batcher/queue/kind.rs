//! Kinds of requests.

/// The kind of a request and of its batch. Kinds are computed in this order.
///
/// All requests of a batch are of one kind. Operations with private keys are first: the program chose their keys.
/// Public keys come from anyone who connects. Long operations are last; at most half of the turns, but at least
/// one, compute them at a time. So a signature waits for at most one such batch in each turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// Operations with private keys of usual lengths.
    Private,
    /// Powers modulo numbers of usual lengths.
    Power,
    /// Operations with public keys of usual lengths.
    Public,
    /// Operations that cost many times as much as usual ones: a batch of them fills the lanes once.
    Long,
}

impl Kind {
    /// All kinds, in their order.
    pub const ALL: [Self; 4] = [Self::Private, Self::Power, Self::Public, Self::Long];
}

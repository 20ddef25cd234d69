//! Which provider is under test.

/// Whether it is zariz; `ZARIZ_SUBJECT=default` in the environment puts OpenSSL's own in its place, to test
/// the tests, or to tell a server's faults from ours.
pub fn is_zariz() -> bool {
    match std::env::var("ZARIZ_SUBJECT").as_deref() {
        Ok("default") => false,
        Ok("zariz") | Err(std::env::VarError::NotPresent) => true,
        other => panic!("ZARIZ_SUBJECT is {other:?}, and not zariz or default"),
    }
}

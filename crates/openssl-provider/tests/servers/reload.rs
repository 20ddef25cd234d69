//! Reloads of a server's configuration while clients connect.

use std::thread;

use crate::handshakes;
use crate::identity::Identity;
use crate::load::{Load, Tls};
use crate::process::Server;
use crate::provider::Setup;

/// How often it is reloaded in each load.
const RELOADS: usize = 3;

/// Loads a server by either TLS version, and meanwhile reloads it at regular intervals by `reload`, which
/// returns when that is done. Panics unless every connection is answered, and each is counted as one
/// signature of zariz's.
pub fn under_load(
    setup: &Setup,
    server: &mut Server,
    identity: &Identity,
    body: &'static str,
    reload: impl Fn(&mut Server),
) {
    for tls in Tls::ALL {
        let (before, count) = (setup.counters(), handshakes());
        let load = Load::new(server.port, &identity.certificate, tls, body);
        let tally = thread::scope(|scope| {
            let tally = scope.spawn(|| load.run(count));
            for number in 1..=RELOADS {
                let due = count * number / (RELOADS + 1);
                server.wait("the load goes on", |_| load.progress() >= due || tally.is_finished());
                reload(server);
            }
            tally.join().expect("the load runs to its end")
        });
        tally.assert_no_failure();
        assert_eq!(tally.answered, count);
        setup.assert_signed(before, count);
        println!(
            "{}, {tls}: {count} handshakes through {RELOADS} reloads, {:.0} a second; {:?}",
            server.name(),
            tally.rate(),
            setup.counters().since(before)
        );
    }
}

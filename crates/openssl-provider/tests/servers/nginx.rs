//! nginx: four processes, each of which signs one at a time.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use crate::identity::Identity;
use crate::load::{Load, Tls};
use crate::process::{Server, with_openssl};
use crate::provider::{Active, Setup};
use crate::{handshakes, turn};

/// What it answers.
pub const BODY: &str = "nginx answers";
const WORKERS: usize = 4;

fn configuration(folder: &Path, identity: &Identity, port: u16) -> String {
    let folder = folder.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|what| format!("    {what}_temp_path {folder}/{what};\n"))
        .collect();
    format!(
        "daemon off;\nworker_processes {WORKERS};\npid {folder}/nginx.pid;\nerror_log stderr notice;\n\
         events {{ worker_connections 1024; }}\n\
         http {{\n{temporary}    access_log off;\n    ssl_session_tickets off;\n    ssl_session_cache off;\n    \
         ssl_protocols TLSv1.2 TLSv1.3;\n    server {{\n        listen 127.0.0.1:{port} ssl;\n        \
         ssl_certificate {};\n        ssl_certificate_key {};\n        \
         location / {{ default_type text/plain; return 200 \"{BODY}\"; }}\n    }}\n}}\n",
        identity.certificate.display(),
        identity.key.display(),
    )
}

/// Starts it with a configuration of OpenSSL, and waits until it serves with all its processes.
pub fn start(folder: &Path, identity: &Identity, openssl: Option<&Path>) -> Server {
    let path = folder.join("nginx.conf");
    let mut server = Server::start("nginx", folder, |port| {
        fs::write(&path, configuration(folder, identity, port)).expect("our own folder");
        let mut command = Command::new("nginx");
        command.arg("-c").arg(&path).arg("-e").arg("stderr");
        with_openssl(command, openssl)
    });
    server.wait("all its workers run", |server| server.children().len() == WORKERS);
    server
}

#[test]
fn serves_and_reloads_under_load() {
    let _turn = turn();
    let setup = Setup::new();
    let identity = Identity::make(setup.folder());
    let openssl = setup.configuration(Active::Everywhere);
    let mut server = start(setup.folder(), &identity, Some(&openssl));
    for tls in Tls::ALL {
        let before = setup.counters();
        let (count, reloads) = (handshakes(), 3);
        let load = Load::new(server.port, &identity.certificate, tls, BODY);
        let tally = std::thread::scope(|scope| {
            let tally = scope.spawn(|| load.run(count));
            for reload in 1..=reloads {
                let due = count * reload / (reloads + 1);
                server.wait("the load goes on", |_| load.progress() >= due || tally.is_finished());
                let old = server.children();
                server.signal(Signal::HUP);
                server.wait("new workers after a reload", |server| {
                    server.children().iter().filter(|worker| !old.contains(worker)).count() == WORKERS
                });
            }
            tally.join().expect("the load runs to its end")
        });
        tally.assert_no_failure();
        assert_eq!(tally.answered, count);
        setup.assert_signed(before, count);
        println!(
            "nginx, {tls}: {count} handshakes through {reloads} reloads, {:.0} a second; {:?}",
            tally.rate(),
            setup.counters().since(before)
        );
    }
    server.wait("the former workers have ended", |server| server.children().len() == WORKERS);
    server.stop(Signal::QUIT);
}

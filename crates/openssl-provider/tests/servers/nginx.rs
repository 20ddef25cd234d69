//! nginx: four processes, each of which makes one signature at a time.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use crate::identity::Identity;
use crate::process::{Server, with_openssl};
use crate::provider::{Active, Setup};
use crate::reload::under_load;
use crate::turn;

/// Its response.
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

/// Starts nginx with a configuration of OpenSSL, and waits until all its processes serve.
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
    under_load(&setup, &mut server, &identity, BODY, |server| {
        let old = server.children();
        server.signal(Signal::HUP);
        server.wait("new workers after a reload", |server| {
            server.children().iter().filter(|worker| !old.contains(worker)).count() == WORKERS
        });
    });
    server.wait("the former workers have ended", |server| server.children().len() == WORKERS);
    server.stop(Signal::QUIT);
}

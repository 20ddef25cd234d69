//! apache2 with mpm_event: several processes of many threads; signatures are batched within a process.

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
pub const BODY: &str = "apache answers";
const MODULES: &[&str] = &["mpm_event", "authz_core", "ssl", "socache_shmcb", "mime", "dir"];

fn configuration(folder: &Path, identity: &Identity, port: u16) -> String {
    let folder = folder.display();
    let modules: String = MODULES
        .iter()
        .filter(|module| Path::new(&file(module)).exists())
        .map(|module| format!("LoadModule {module}_module {}\n", file(module)))
        .collect();
    format!(
        "{modules}ServerRoot {folder}\nServerName localhost\nPidFile {folder}/apache.pid\nErrorLog /dev/stderr\n\
         LogLevel notice\nListen 127.0.0.1:{port}\nUser www-data\nGroup www-data\nDefaultRuntimeDir {folder}\n\
         StartServers 2\nThreadsPerChild 25\nMaxRequestWorkers 100\nTypesConfig /dev/null\n\
         DocumentRoot {folder}/site\n<Directory {folder}/site>\n    Require all granted\n</Directory>\n\
         SSLSessionCache none\nSSLSessionTickets off\nSSLProtocol -all +TLSv1.2 +TLSv1.3\n\
         SSLEngine on\nSSLCertificateFile {}\nSSLCertificateKeyFile {}\n",
        identity.certificate.display(),
        identity.key.display(),
    )
}

fn file(module: &str) -> String {
    format!("/usr/lib/apache2/modules/mod_{module}.so")
}

/// Starts apache2 with a configuration of OpenSSL.
pub fn start(folder: &Path, identity: &Identity, openssl: Option<&Path>) -> Server {
    let path = folder.join("apache.conf");
    let site = folder.join("site");
    fs::create_dir_all(&site).expect("our own folder");
    fs::write(site.join("index.html"), BODY).expect("our own folder");
    Server::start("apache2", folder, |port| {
        fs::write(&path, configuration(folder, identity, port)).expect("our own folder");
        let mut command = Command::new("apache2");
        command.arg("-DFOREGROUND").arg("-f").arg(&path);
        with_openssl(command, openssl)
    })
}

#[test]
fn serves_and_reloads_under_load() {
    let _turn = turn();
    let setup = Setup::new();
    let identity = Identity::make(setup.folder());
    let openssl = setup.configuration(Active::Everywhere);
    let mut server = start(setup.folder(), &identity, Some(&openssl));
    under_load(&setup, &mut server, &identity, BODY, |server| {
        let resumed = resumed(server);
        server.signal(Signal::USR1);
        server.wait("it works again after a reload", |server| self::resumed(server) > resumed);
    });
    server.stop(Signal::WINCH);
}

/// How often its log says that it serves: once after the start and after each reload.
fn resumed(server: &Server) -> usize {
    server.log().matches("resuming normal operations").count()
}

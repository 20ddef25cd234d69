//! Runs the commands of docs/openssl.md and of the guides to its servers, in order, in a clean folder.
//!
//! They are taken from the pages unchanged, except:
//! * paths of the system that they write to are under the clean folder, and `sudo` is left out;
//! * ports 443 and 8443 are replaced by free ones;
//! * `apt-get` does nothing; the packages must be installed instead;
//! * `cargo build` takes the provider under test, and builds the program like these tests;
//! * this test does the work of `systemctl`, since a container has no systemd. It starts a service with the
//!   environment that the page wrote for it; haproxy has the configuration of examples/haproxy, nginx and
//!   apache2 the site of their own tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::counters::Counters;
use crate::identity::Identity;
use crate::load::{Load, Tls};
use crate::module::Module;
use crate::process::{Server, free_port, with_openssl};
use crate::{apache, haproxy, nginx, turn};

/// The paths to which commands of the pages write.
const PLACES: &[&str] = &[
    "/etc/zariz",
    "/etc/haproxy",
    "/etc/nginx",
    "/etc/systemd",
    "/usr/local",
    "/usr/lib/x86_64-linux-gnu/ossl-modules",
    "/var/lib/zariz",
    "/run/haproxy-canary",
    "/run/nginx",
];
/// Files that the commands copy.
const EXAMPLES: [&str; 2] = ["haproxy/haproxy.cfg", "nginx/nginx.conf"];

/// A section of a page and its commands.
struct Section {
    title: String,
    commands: Vec<String>,
}

fn page(name: &str) -> Vec<Section> {
    let path = root().join("docs").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (mut sections, mut inside): (Vec<Section>, bool) = (Vec::new(), false);
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            sections.push(Section { title: title.to_owned(), commands: Vec::new() });
        } else if line == "```sh" {
            inside = true;
        } else if line == "```" {
            inside = false;
        } else if inside {
            sections.last_mut().expect("commands are in sections").commands.push(line.to_owned());
        }
    }
    sections
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The clean folder, as the pages' system.
struct System {
    folder: TempDir,
    port: u16,
    canary: u16,
    /// The service that the commands are about.
    service: &'static str,
    services: BTreeMap<&'static str, Server>,
    identity: Identity,
}

impl System {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let readable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(folder.path(), readable).expect("our own folder");
        // What the packages and a copy of the repository would create.
        for place in
            ["etc/haproxy", "etc/nginx", "etc/systemd/system", "usr/local/bin", "run", "var/lib", "work"]
        {
            fs::create_dir_all(folder.path().join(place)).expect("our own folder");
        }
        let identity = Identity::make(folder.path());
        for (file, name) in [(&identity.certificate, "site.crt"), (&identity.key, "site.pem")] {
            fs::copy(file, folder.path().join("etc/nginx").join(name)).expect("our own folder");
        }
        let (port, canary) = (free_port(), free_port());
        let system = Self { folder, port, canary, service: "haproxy", services: BTreeMap::new(), identity };
        system.copy_examples();
        system
    }

    /// Copies the examples of configuration, with the ports of the service that is next.
    fn copy_examples(&self) {
        for example in EXAMPLES {
            let (from, to) = (root().join("examples").join(example), self.at("work/examples").join(example));
            fs::create_dir_all(to.parent().expect("a folder")).expect("our own folder");
            let text = fs::read_to_string(from).expect("an example");
            fs::write(to, self.here(&text)).expect("our own folder");
        }
    }

    /// A text with the places and ports of this system.
    fn here(&self, text: &str) -> String {
        let port = self.services.get(self.service).map_or(self.port, |server| server.port);
        let mut text =
            text.replace(":8443", &format!(":{}", self.canary)).replace(":443", &format!(":{port}"));
        for place in PLACES {
            text = text.replace(place, &self.at(place).display().to_string());
        }
        text
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path.trim_start_matches('/'))
    }

    fn counters(&self) -> Counters {
        Counters::in_file(&self.at("/var/lib/zariz/counters"))
    }

    /// Runs all commands of a section. Returns their output.
    fn run(&mut self, sections: &[Section], title: &str) -> String {
        let section = sections.iter().find(|section| section.title == title);
        let section = section.unwrap_or_else(|| panic!("the page has no section {title:?}"));
        let (mut printed, mut script) = (String::new(), String::new());
        for line in &section.commands {
            let words: Vec<&str> = line.split_whitespace().filter(|word| *word != "sudo").collect();
            match words[..] {
                ["apt-get", "update"] | ["systemctl", "daemon-reload"] => {}
                ["apt-get", "install", "-y", ref packages @ ..] => installed(packages),
                ["cargo", "build", "--release", ref packages @ ..] => self.build(packages),
                ["systemctl", what, service] => {
                    printed += &self.shell(&std::mem::take(&mut script));
                    self.service(what, service);
                }
                _ => script = script + line + "\n",
            }
        }
        printed + &self.shell(&script)
    }

    fn shell(&self, script: &str) -> String {
        let script = self.here(&script.replace("sudo ", ""));
        let path =
            format!("{}:{}", self.at("/usr/local/bin").display(), std::env::var("PATH").unwrap_or_default());
        let output = Command::new("sh")
            .args(["-e", "-u", "-c", &script])
            .current_dir(self.at("work"))
            .env("PATH", path)
            .env("OPENSSL_MODULES", self.at("/usr/lib/x86_64-linux-gnu/ossl-modules"))
            .env_remove("OPENSSL_CONF")
            .stdin(Stdio::null())
            .output()
            .expect("a shell");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}\n{script}\nprinted\n{printed}{errors}", output.status);
        printed
    }

    /// Puts the built files where a release build would be.
    fn build(&self, packages: &[&str]) {
        let release = self.at("work/target/release");
        fs::create_dir_all(&release).expect("our own folder");
        for package in packages.iter().filter(|word| !word.starts_with('-')) {
            match *package {
                "zariz-openssl-provider" => {
                    fs::copy(Module::get().file(), release.join("libzariz_provider.so"))
                        .expect("a copy of the provider");
                }
                "zariz-cli" => {
                    fs::copy(program(), release.join("zariz")).expect("a copy of the program");
                }
                other => panic!("the page builds {other}, which this test does not know"),
            }
        }
    }

    fn service(&mut self, what: &str, service: &str) {
        match (what, service) {
            ("restart", "haproxy") => {
                self.stop(service);
                let mut command = Command::new("haproxy");
                command.arg("-Ws").arg("-f").arg(self.at("/etc/haproxy/haproxy.cfg"));
                let command = with_openssl(command, self.environment(service).as_deref());
                let server = Server::start_on("haproxy", self.folder.path(), self.port, command);
                let server = server.unwrap_or_else(|log| panic!("haproxy does not start:\n{log}"));
                self.services.insert("haproxy", server);
            }
            ("reload", "haproxy") => {
                let server = self.services.get_mut(service).expect("haproxy runs");
                haproxy::reload(server);
                server.wait("the old worker ends", |server| server.children().len() == 1);
            }
            ("restart", "nginx") => {
                self.stop(service);
                let openssl = self.environment(service);
                self.services
                    .insert("nginx", nginx::start(self.folder.path(), &self.identity, openssl.as_deref()));
            }
            ("restart", "apache2") => {
                self.stop(service);
                let openssl = self.environment(service);
                self.services
                    .insert("apache2", apache::start(self.folder.path(), &self.identity, openssl.as_deref()));
            }
            _ => panic!("the page says systemctl {what} {service}, which this test does not know"),
        }
    }

    fn stop(&mut self, service: &str) {
        if let Some(server) = self.services.remove(service) {
            server.stop(match service {
                "haproxy" => Signal::USR1,
                "nginx" => Signal::QUIT,
                _ => Signal::WINCH,
            });
        }
    }

    /// The OpenSSL configuration that the page gave a service.
    fn environment(&self, service: &str) -> Option<PathBuf> {
        let file = self.at(&format!("/etc/systemd/system/{service}.service.d/zariz.conf"));
        let text = fs::read_to_string(file).ok()?;
        let line = text.strip_prefix("[Service]\n").expect("a section for the service").trim_end();
        let path = line.strip_prefix("Environment=OPENSSL_CONF=").expect("one variable");
        assert!(
            Path::new(path).exists(),
            "the service's configuration of OpenSSL is {path}, which is not there"
        );
        Some(path.into())
    }

    /// Makes handshakes with nginx or apache2, and checks that zariz signed.
    fn assert_signs(&self, service: &str, body: &'static str, signatures: u64) {
        let before = self.counters();
        let port = self.services[service].port;
        Load::new(port, &self.identity.certificate, Tls::V13, body).run(100).assert_no_failure();
        assert_eq!(self.counters().since(before).private, signatures, "by {service}");
    }
}

fn installed(packages: &[&str]) {
    for package in packages {
        let found =
            Command::new("dpkg-query").args(["-W", "-f", "${Status}", package]).output().expect("Debian");
        let status = String::from_utf8_lossy(&found.stdout).into_owned();
        assert!(status.ends_with(" installed"), "the package {package} is not installed");
    }
}

/// The program `zariz`, built like these tests.
fn program() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this program");
    let target = test.ancestors().nth(2).expect("target/PROFILE/deps/program");
    let mut cargo = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    cargo.args(["build", "--quiet", "--locked", "-p", "zariz-cli"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    if target.ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.status().expect("cargo");
    assert!(status.success(), "the program zariz cannot be built");
    target.join("zariz")
}

/// The mean batch, as `zariz info --provider` prints it.
fn mean_batch(printed: &str) -> f64 {
    let line = printed.lines().rev().find_map(|line| line.trim().strip_prefix("mean"));
    line.and_then(|mean| mean.trim().parse().ok()).unwrap_or_else(|| panic!("no mean batch:\n{printed}"))
}

#[test]
fn the_pages_lead_from_nothing_to_servers_on_zariz_and_back() {
    let _turn = turn();
    let mut system = System::new();
    let openssl = page("openssl.md");
    system.run(&openssl, "Build and install the module");
    let printed = system.run(&openssl, "The configuration");
    assert!(!printed.contains("warning"), "{printed}");
    let printed = system.run(&openssl, "Try it with the program openssl");
    assert!(printed.contains("Verified OK"), "{printed}");
    let counted = system.counters();
    assert!(counted.private >= 1 && counted.public >= 1, "{counted:?}");

    let guide = page("haproxy.md");
    let printed = system.run(&guide, "Switch it on");
    assert_eq!(printed.matches("Hello from haproxy\n").count(), 2, "{printed}");
    assert_eq!(system.counters().since(counted).private, 2, "two handshakes");
    // The counters are of this load alone.
    fs::remove_file(system.at("/var/lib/zariz/counters")).expect("the counters");
    system.service("restart", "haproxy");
    let printed = system.run(&guide, "Load it, and see batches");
    assert!(mean_batch(&printed) > 2.0, "the guide's load makes no batches:\n{printed}");
    let printed = system.run(&guide, "A canary");
    assert_eq!(printed.matches("Hello from haproxy\n").count(), 1, "{printed}");

    system.service = "nginx";
    let guide = page("nginx.md");
    system.run(&guide, "Switch it on");
    system.assert_signs("nginx", nginx::BODY, 100);
    system.run(&guide, "Load it");
    system.copy_examples();
    let printed = system.run(&guide, "A canary");
    assert_eq!(printed, "Hello from nginx\n");
    system.service = "apache2";
    let guide = page("apache.md");
    system.run(&guide, "Switch it on");
    system.assert_signs("apache2", apache::BODY, 100);
    system.run(&guide, "Load it, and see batches");

    let before = system.counters();
    let printed = system.run(&page("node.md"), "Switch it on");
    assert!(printed.contains("640 signatures; the first is right"), "{printed}");
    assert!(system.counters().since(before).private >= 640, "{printed}");
    let before = system.counters();
    let printed = system.run(&page("node.md"), "WebCrypto, and tokens with jose");
    assert!(printed.contains("640 signatures of WebCrypto; the second is right"), "{printed}");
    assert!(system.counters().since(before).private >= 640, "{printed}");

    for (service, guide) in [("haproxy", "haproxy.md"), ("nginx", "nginx.md"), ("apache2", "apache.md")] {
        system.service = service;
        system.run(&page(guide), "Switch it off");
        assert_eq!(system.environment(service), None, "{service} still has a configuration of OpenSSL");
    }
    system.assert_signs("nginx", nginx::BODY, 0);
    system.assert_signs("apache2", apache::BODY, 0);
    let printed = system.run(&openssl, "Remove the module");
    assert_eq!(printed, "", "services still use it");
    let module = "/usr/lib/x86_64-linux-gnu/ossl-modules/zariz.so";
    for place in ["/etc/zariz", module, "/usr/local/bin/zariz", "/var/lib/zariz"] {
        assert!(!system.at(place).exists(), "{place} is still there");
    }
    for service in ["haproxy", "nginx", "apache2"] {
        system.stop(service);
    }
}

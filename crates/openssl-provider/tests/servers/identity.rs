//! The server's key and certificate.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The paths of the files.
pub struct Identity {
    /// The private key, PEM.
    pub key: PathBuf,
    /// The certificate, PEM, which clients trust.
    pub certificate: PathBuf,
    /// Both in one file, for haproxy.
    pub both: PathBuf,
}

impl Identity {
    /// Makes an RSA-2048 key and a certificate for `localhost` with OpenSSL's own code.
    pub fn make(folder: &Path) -> Self {
        Self::named(folder, "localhost")
    }

    /// Like [`make`](Self::make), for another name, which is also part of the file names.
    pub fn named(folder: &Path, name: &str) -> Self {
        let file = |what: &str| folder.join(format!("{name}.{what}.pem"));
        let identity = Self { key: file("key"), certificate: file("certificate"), both: file("both") };
        let output = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30"])
            .args(["-subj", &format!("/CN={name}")])
            .args([
                "-addext",
                &format!("subjectAltName=DNS:{name}"),
                "-addext",
                "basicConstraints=critical,CA:FALSE",
            ])
            .arg("-keyout")
            .arg(&identity.key)
            .arg("-out")
            .arg(&identity.certificate)
            .env_remove("OPENSSL_CONF")
            .output()
            .expect("the program openssl runs");
        assert!(output.status.success(), "openssl req: {}", String::from_utf8_lossy(&output.stderr));
        let read = |path: &Path| fs::read_to_string(path).expect("openssl req wrote it");
        let both = read(&identity.certificate) + &read(&identity.key);
        fs::write(&identity.both, both).expect("the test's folder can be written");
        identity
    }
}

//! Files that people give for a key, and that have another format.

use std::fmt;

/// A format that is recognised but not read. Its text says what it is, and how to convert it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OtherFormat {
    /// Nothing, or blanks alone.
    Empty,
    /// Text in UTF-16.
    Utf16,
    /// Base64 of DER, without the lines around it that make it PEM.
    Base64,
    /// PEM text whose line breaks are written as a backslash and an `n`.
    EscapedPem,
    /// JSON with PEM text in it, such as the key file of a service account.
    JsonWithPem,
    /// A JSON Web Key (RFC 7517).
    Jwk,
    /// A private key as OpenSSH writes it.
    OpenSshPrivate,
    /// A public key as OpenSSH writes it: `ssh-rsa AAAA…`.
    OpenSshPublic,
    /// A public key as RFC 4716 has it.
    Ssh2Public,
    /// A key of PuTTY's (`.ppk`).
    Putty,
    /// An X.509 certificate.
    Certificate,
    /// A request for a certificate (PKCS#10).
    CertificateRequest,
    /// A private key with its certificates (PKCS#12; `.p12`, `.pfx`).
    Pkcs12,
}

impl fmt::Display for OtherFormat {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "a key was expected, but there is nothing, or blanks alone",
            Self::Utf16 => "this is text in UTF-16; convert it: iconv -f UTF-16 -t UTF-8 KEY > CONVERTED",
            Self::Base64 => {
                "this is base64 without the BEGIN and END lines of PEM; make DER of it: base64 -d KEY > CONVERTED"
            }
            Self::EscapedPem => {
                "this is PEM text with \\n for its line breaks; convert it: \
                 printf '%b' \"$(tr -d '\"' < KEY)\" > CONVERTED"
            }
            Self::JsonWithPem => {
                "this is JSON with PEM text in it; take that out, by its name: jq -r .private_key KEY > CONVERTED"
            }
            Self::Jwk => {
                "this is a JWK; convert it (a public one with createPublicKey and \"spki\"): \
                 node -p 'require(\"crypto\").createPrivateKey({key: JSON.parse(fs.readFileSync(\"KEY\")), \
                 format: \"jwk\"}).export({type: \"pkcs8\", format: \"pem\"})' > CONVERTED"
            }
            Self::OpenSshPrivate => {
                "this is an OPENSSH PRIVATE KEY; convert a copy of it: ssh-keygen -p -m PKCS8 -f COPY"
            }
            Self::OpenSshPublic => {
                "this is a public key of OpenSSH; convert it: ssh-keygen -e -m PKCS8 -f KEY > CONVERTED"
            }
            Self::Ssh2Public => {
                "this is an SSH2 PUBLIC KEY; convert it: \
                 ssh-keygen -i -f KEY > LINE; ssh-keygen -e -m PKCS8 -f LINE > CONVERTED"
            }
            Self::Putty => "this is a key of PuTTY; convert it: puttygen KEY -O private-openssh -o CONVERTED",
            Self::Certificate => {
                "this is a certificate, which has no private key; \
                 take its public key: openssl x509 -in KEY -noout -pubkey > CONVERTED"
            }
            Self::CertificateRequest => {
                "this is a certificate request, which has no private key; \
                 take its public key (from DER with -inform DER): openssl req -in KEY -noout -pubkey > CONVERTED"
            }
            Self::Pkcs12 => "this is PKCS#12; take the key out of it: openssl pkcs12 -in KEY -nocerts -out CONVERTED",
        })
    }
}

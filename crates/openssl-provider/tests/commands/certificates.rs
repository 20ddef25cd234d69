//! `req`, `x509`, `ca`, `verify`, `crl`, `ocsp` and `pkcs12`.

use crate::run::{OURS, Place, Settings, Way};

/// A certificate that signs itself, made by the default provider: `NAME.pem` of the key `2048.pem`.
fn root(place: &Place, name: &str) {
    let (out, subject) = (format!("{name}.pem"), format!("/CN={name}"));
    let make = ["req", "-x509", "-key", "2048.pem", "-subj", &subject, "-days", "99", "-out", &out];
    place.run(Way::Default, &make).succeeds();
}

#[test]
fn requests_are_made_and_verified() {
    let place = Place::new();
    for options in
        [&[][..], &["-sha512"], &["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32"]]
    {
        let make = ["req", "-new", "-key", "2048.pem", "-subj", "/CN=a", "-out", "request.pem"];
        let make = [&make[..], options].concat();
        let verify = ["req", "-in", "request.pem", "-verify", "-noout"];
        for way in OURS {
            place.run(way, &make).succeeds().did(1, 0);
            let says = place.run(Way::Default, &verify).succeeds().stderr;
            assert!(says.contains("verify OK"), "{says}");
            place.run(Way::Default, &make).succeeds();
            let verified = place.run(way, &verify).succeeds().did(0, 1);
            assert!(verified.stderr.contains("verify OK"), "{verified:?}");
        }
    }
}

#[test]
fn a_request_brings_a_key_of_its_own() {
    let place = Place::new();
    for way in OURS {
        let make = [
            "req",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            "key",
            "-subj",
            "/CN=a",
            "-out",
            "request.pem",
        ];
        place.run(way, &make).succeeds().made_keys(1).did(1, 0);
        place.run(Way::Default, &["req", "-in", "request.pem", "-verify", "-noout"]).succeeds();
        place.run(Way::Default, &["rsa", "-in", "key", "-check", "-noout"]).succeeds().prints("RSA key ok");
    }
}

#[test]
fn certificates_that_sign_themselves_verify_by_either_provider() {
    let place = Place::new();
    for options in
        [&[][..], &["-sha384"], &["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_mgf1_md:sha512"]]
    {
        let make = ["req", "-x509", "-key", "3072.pem", "-subj", "/CN=a", "-days", "9", "-out", "cert.pem"];
        let make = [&make[..], options].concat();
        let verify = ["verify", "-check_ss_sig", "-CAfile", "cert.pem", "cert.pem"];
        for way in OURS {
            place.run(way, &make).succeeds().did(1, 0);
            place.run(Way::Default, &verify).succeeds().prints("cert.pem: OK");
            place.run(Way::Default, &make).succeeds();
            place.run(way, &verify).succeeds().prints("cert.pem: OK").did(0, 1);
        }
    }
}

#[test]
fn what_is_signed_is_the_same_certificate() {
    let place = Place::new();
    let request = ["req", "-new", "-key", "2048.pem", "-subj", "/CN=a", "-out"];
    root(&place, "root");
    place.run(Way::Default, &[&request[..], &["default.pem"]].concat()).succeeds();
    // Fixed dates, which the command would otherwise take from the clock.
    let dates = ["-startdate", "20260101000000Z", "-enddate", "20360101000000Z"];
    let issue = |place: &Place, way, out: &str| {
        place.write("index", b"");
        place.write("serial", b"01\n");
        let issue = ["ca", "-name", "authority", "-batch", "-notext", "-in", "default.pem", "-out", out];
        let settings = Settings { tail: AUTHORITY.into(), ..Settings::default() };
        place.run_with(way, &[&issue[..], &dates].concat(), settings).succeeds()
    };
    issue(&place, Way::Default, "theirs.pem");
    for way in OURS {
        place.run(way, &[&request[..], &["ours.pem"]].concat()).succeeds().did(1, 0);
        assert_eq!(place.read("ours.pem"), place.read("default.pem"));
        issue(&place, way, "our-leaf.pem").did(1, 1);
        assert_eq!(place.read("our-leaf.pem"), place.read("theirs.pem"));
    }
}

#[test]
fn requests_become_certificates() {
    let place = Place::new();
    root(&place, "root");
    let request = ["req", "-new", "-key", "3072.pem", "-subj", "/CN=leaf", "-out", "request.pem"];
    place.run(Way::Default, &request).succeeds();
    for options in [&[][..], &["-sigopt", "rsa_padding_mode:pss"]] {
        let make = [
            "x509",
            "-req",
            "-in",
            "request.pem",
            "-CA",
            "root.pem",
            "-CAkey",
            "2048.pem",
            "-out",
            "leaf.pem",
        ];
        let make = [&make[..], &["-set_serial", "9", "-days", "9"], options].concat();
        for way in OURS {
            // The request is verified, and the resulting certificate is signed.
            place.run(way, &make).succeeds().did(1, 1);
            place
                .run(Way::Default, &["verify", "-CAfile", "root.pem", "leaf.pem"])
                .succeeds()
                .prints("leaf.pem: OK");
            place
                .run(way, &["verify", "-CAfile", "root.pem", "leaf.pem"])
                .succeeds()
                .prints("leaf.pem: OK")
                .did(0, 1);
            place
                .run(way, &["x509", "-in", "leaf.pem", "-text", "-noout"])
                .succeeds()
                .prints("Issuer: CN = root");
        }
    }
    for way in OURS {
        // Signed with its own key.
        let own = ["x509", "-req", "-in", "request.pem", "-signkey", "3072.pem", "-out", "own.pem"];
        place.run(way, &own).succeeds().did(1, 1);
        place.run(Way::Default, &["verify", "-CAfile", "own.pem", "-check_ss_sig", "own.pem"]).succeeds();
    }
}

#[test]
fn certificates_that_are_damaged_do_not_verify() {
    let place = Place::new();
    root(&place, "root");
    place.run(Way::Default, &["x509", "-in", "root.pem", "-outform", "DER", "-out", "root.der"]).succeeds();
    let mut der = place.read("root.der");
    let last = der.len() - 1;
    der[last] ^= 1;
    place.write("changed.der", &der);
    place
        .run(Way::Default, &["x509", "-in", "changed.der", "-inform", "DER", "-out", "changed.pem"])
        .succeeds();
    place.refuses(&["verify", "-check_ss_sig", "-CAfile", "changed.pem", "changed.pem"]);
    place.openssl_refuses(&["verify", "-CAfile", "root.pem", "changed.pem"]);
    // The signature was made with another key of another length.
    let other = ["req", "-x509", "-key", "3072.pem", "-subj", "/CN=root", "-out", "other.pem"];
    place.run(Way::Default, &other).succeeds();
    place.openssl_refuses(&["verify", "-CAfile", "other.pem", "root.pem"]);
    // A request with a wrong signature, and a truncated one.
    place
        .run(
            Way::Default,
            &["req", "-new", "-key", "2048.pem", "-subj", "/CN=a", "-outform", "DER", "-out", "r"],
        )
        .succeeds();
    let mut request = place.read("r");
    place.write("cut", &request[..request.len() - 9]);
    let last = request.len() - 1;
    request[last] ^= 1;
    place.write("r", &request);
    place.refuses(&["x509", "-req", "-inform", "DER", "-in", "r", "-CA", "root.pem", "-CAkey", "2048.pem"]);
    place.openssl_refuses(&["req", "-inform", "DER", "-in", "cut", "-verify"]);
    // The authority's key does not belong to its certificate.
    place
        .run(Way::Default, &["req", "-new", "-key", "2048.pem", "-subj", "/CN=a", "-out", "request.pem"])
        .succeeds();
    place.openssl_refuses(&["x509", "-req", "-in", "request.pem", "-CA", "root.pem", "-CAkey", "3072.pem"]);
}

/// A configuration for `ca`.
const AUTHORITY: &str = "[authority]\nnew_certs_dir = .\ndatabase = index\nserial = serial\ncrlnumber = crlnumber\n\
                         certificate = root.pem\nprivate_key = 2048.pem\ndefault_md = sha256\ndefault_days = 9\n\
                         default_crl_days = 9\npolicy = any\nunique_subject = no\n[any]\ncommonName = supplied\n";

#[test]
fn an_authority_issues_revokes_and_answers() {
    let place = Place::new();
    root(&place, "root");
    let request = ["req", "-new", "-key", "3072.pem", "-subj", "/CN=leaf", "-out", "request.pem"];
    place.run(Way::Default, &request).succeeds();
    let settings = || Settings { tail: AUTHORITY.into(), ..Settings::default() };
    for way in OURS {
        place.write("index", b"");
        place.write("serial", b"01\n");
        place.write("crlnumber", b"01\n");
        let run = |arguments: &[&str]| place.run_with(way, arguments, settings()).succeeds();
        let issue =
            ["ca", "-name", "authority", "-batch", "-notext", "-in", "request.pem", "-out", "leaf.pem"];
        run(&issue).did(1, 1);
        place.run(Way::Default, &["verify", "-CAfile", "root.pem", "leaf.pem"]).succeeds();
        run(&["ca", "-name", "authority", "-revoke", "leaf.pem"]);
        run(&["ca", "-name", "authority", "-gencrl", "-out", "list.pem"]).did(1, 0);
        let crl = ["crl", "-in", "list.pem", "-CAfile", "root.pem", "-noout"];
        for (way, public) in [(Way::Default, 0), (way, 1)] {
            let verified = place.run(way, &crl).succeeds().did(0, public);
            assert!(verified.stderr.contains("verify OK"), "{verified:?}");
        }
        let check = ["verify", "-crl_check", "-CRLfile", "list.pem", "-CAfile", "root.pem", "leaf.pem"];
        place.run(way, &check).fails(&["certificate revoked"]);

        // The authority returns the state of the certificate.
        let ask = ["ocsp", "-issuer", "root.pem", "-cert", "leaf.pem", "-no_nonce", "-reqout", "question"];
        place.run(Way::Default, &ask).succeeds();
        let answer =
            ["ocsp", "-index", "index", "-CA", "root.pem", "-rsigner", "root.pem", "-rkey", "2048.pem"];
        let answer = [&answer[..], &["-reqin", "question", "-respout", "answer", "-ndays", "1"]].concat();
        run(&answer).did(1, 0);
        let read =
            ["ocsp", "-respin", "answer", "-issuer", "root.pem", "-cert", "leaf.pem", "-CAfile", "root.pem"];
        place.run(Way::Default, &read).succeeds().prints("leaf.pem: revoked");
        let ours = place.run(way, &read).succeeds().prints("leaf.pem: revoked");
        assert!(ours.counters.public >= 1, "{ours:?}");
    }
}

#[test]
fn keys_and_certificates_travel_in_pkcs12() {
    let place = Place::new();
    root(&place, "root");
    for way in OURS {
        let pack = [
            "pkcs12", "-export", "-inkey", "2048.pem", "-in", "root.pem", "-passout", "pass:a", "-out",
            "all.p12",
        ];
        place.run(way, &pack).succeeds();
        let open = ["pkcs12", "-in", "all.p12", "-passin", "pass:a", "-nodes", "-out", "all.pem"];
        place.run(Way::Default, &open).succeeds();
        place.run(way, &open).succeeds();
        place
            .run(way, &["dgst", "-sha256", "-sign", "all.pem", "-out", "sig", "message"])
            .succeeds()
            .did(1, 0);
        let verify = ["dgst", "-sha256", "-verify", "2048.pub", "-signature", "sig", "message"];
        place.run(Way::Default, &verify).succeeds();
        // Any provider refuses the key of another certificate.
        place.openssl_refuses(&[
            "pkcs12", "-export", "-inkey", "3072.pem", "-in", "root.pem", "-passout", "pass:a",
        ]);
    }
}

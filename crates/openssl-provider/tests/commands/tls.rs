//! `s_server` and `s_client`: handshakes, with a certificate on one side or on both.

use crate::run::{Done, OURS, Place, Settings, Way};

/// Handshakes: options of both sides, what the client prints, and how the server's key is used.
const HANDSHAKES: [(&[&str], &str); 4] = [
    (&["-tls1_3"], "TLSv1.3"),
    (&["-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"], "Cipher is ECDHE-RSA-AES128-GCM-SHA256"),
    // The client encrypts the secret to the server's key.
    (&["-tls1_2", "-cipher", "AES128-GCM-SHA256"], "Cipher is AES128-GCM-SHA256"),
    (&["-tls1_2", "-cipher", "AES256-SHA"], "Cipher is AES256-SHA"),
];

/// A server's certificate and a client's, both self-signed.
fn certified() -> Place {
    let place = Place::new();
    for (name, key) in [("server", "2048.pem"), ("client", "3072.pem")] {
        let subject = format!("/CN={name}");
        let out = format!("{name}.pem");
        let make = ["req", "-x509", "-key", key, "-subj", &subject, "-days", "9", "-out", &out];
        place.run(Way::Default, &make).succeeds();
    }
    place
}

/// Runs one server, and clients one after the other. Returns how each ended.
fn handshakes(
    place: &Place,
    server: (Way, &[&str]),
    client: (Way, &[&str]),
    count: usize,
) -> (Done, Vec<Done>) {
    let clients = count.to_string();
    let listen = [
        "s_server",
        "-accept",
        "127.0.0.1:0",
        "-cert",
        "server.pem",
        "-key",
        "2048.pem",
        "-naccept",
        &clients,
    ];
    let mut listening = place.start(server.0, &[&listen[..], server.1].concat(), Settings::default());
    let address = listening.line("ACCEPT ");
    let connect = ["s_client", "-connect", &address, "-CAfile", "server.pem", "-verify_return_error"];
    let connect = [&connect[..], client.1].concat();
    let done =
        (0..count).map(|_| place.run(client.0, &connect).succeeds().prints("Verify return code: 0 (ok)"));
    let done = done.collect();
    (listening.end().succeeds(), done)
}

#[test]
fn our_server_and_the_default_client() {
    let place = certified();
    for (options, says) in HANDSHAKES {
        for way in OURS {
            for more in [&[][..], &["-async"]] {
                let (server, clients) =
                    handshakes(&place, (way, &[options, more].concat()), (Way::Default, options), 3);
                // One signature each, or one decryption.
                server.did(3, 0);
                for client in clients {
                    client.prints(says);
                }
            }
        }
    }
}

#[test]
fn the_default_server_and_our_client() {
    let place = certified();
    for (options, says) in HANDSHAKES {
        for way in OURS {
            let (_, clients) = handshakes(&place, (Way::Default, options), (way, options), 1);
            for client in clients {
                let client = client.prints(says);
                // The certificate is trusted without verification; the client verifies the server's
                // signature, or encrypts a secret to it.
                let (private, public) = (client.counters.private, client.counters.public);
                assert!(private == 0 && public >= 1, "{client:?}");
                assert_eq!((client.counters.fallbacks, client.counters.check_failures), (0, 0), "{client:?}");
            }
        }
    }
}

#[test]
fn both_sides_on_our_provider_with_a_certificate_each() {
    let place = certified();
    for (options, says) in HANDSHAKES {
        for way in OURS {
            let serve =
                [options, &["-Verify", "1", "-verify_return_error", "-CAfile", "client.pem", "-async"]]
                    .concat();
            let ask = [options, &["-cert", "client.pem", "-key", "3072.pem"]].concat();
            let (server, clients) = handshakes(&place, (way, &serve), (way, &ask), 2);
            let server = server.prints("CN = client");
            assert_eq!(server.counters.private, 2, "{server:?}");
            assert!(server.counters.public >= 2, "{server:?}");
            for client in clients {
                let client = client.prints(says);
                assert_eq!(client.counters.private, 1, "{client:?}");
                assert!(client.counters.public >= 1, "{client:?}");
            }
        }
    }
}

#[test]
fn a_server_whose_key_is_anothers_does_not_start() {
    let place = certified();
    place.openssl_refuses(&["s_server", "-accept", "127.0.0.1:0", "-cert", "server.pem", "-key", "3072.pem"]);
}

#[test]
fn a_client_that_trusts_nobody_ends_with_an_error_and_the_server_goes_on() {
    let place = certified();
    for way in OURS {
        let listen = [
            "s_server",
            "-accept",
            "127.0.0.1:0",
            "-cert",
            "server.pem",
            "-key",
            "2048.pem",
            "-naccept",
            "2",
        ];
        let mut listening = place.start(way, &[&listen[..], &["-async"]].concat(), Settings::default());
        let address = listening.line("ACCEPT ");
        let connect = ["s_client", "-connect", &address, "-verify_return_error", "-CAfile"];
        place.run(way, &[&connect[..], &["client.pem"]].concat()).fails(&["self-signed certificate"]);
        place.run(way, &[&connect[..], &["server.pem"]].concat()).succeeds();
        let server = listening.end().succeeds();
        assert_eq!(server.counters.private, 2, "{server:?}");
    }
}

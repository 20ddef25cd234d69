//! Loading, signing and unloading, small enough for valgrind (`cargo xtask sanitizers valgrind`), with the
//! engine whose instructions valgrind supports.

mod common;

use common::keys::{PEM_1024, native};
use common::operation::{operate, verify};
use common::{Operation, Params, Side, World, stream};

#[test]
fn load_sign_unload() {
    for _ in 0..2 {
        let world = World::with(&[("engine", "portable"), ("threads", "1")]);
        {
            let key = native(&world, Side::Subject, PEM_1024);
            let digest = Params::new().text("digest", "SHA256");
            let signature =
                operate(&world, Side::Subject, &key, Operation::Sign, &digest, &[1; 32]).expect("signed");
            verify(&world, Side::Subject, &key, &digest, &signature, &[1; 32]).expect("right");
            let pss = Params::new().text("pad-mode", "pss");
            let signature =
                stream::sign(&world, Side::Subject, &key, Some("SHA384"), &pss, b"text").expect("signed");
            stream::verify(&world, Side::Subject, &key, Some("SHA384"), &pss, &signature, b"text")
                .expect("right");
            let none = Params::new();
            let ciphertext =
                operate(&world, Side::Subject, &key, Operation::Encrypt, &none, b"text").expect("encrypted");
            let plain = operate(&world, Side::Subject, &key, Operation::Decrypt, &none, &ciphertext)
                .expect("decrypted");
            assert_eq!(plain, b"text");
            // A refused call leaks nothing either.
            operate(&world, Side::Subject, &key, Operation::Sign, &digest, &[1; 31]).expect_err("too short");
            let unknown = Params::new().text("digest", "nonsense");
            operate(&world, Side::Subject, &key, Operation::Sign, &unknown, &[1; 32]).expect_err("unknown");
            let copy = key.duplicate().expect("a copy");
            assert_eq!(copy.public(&world, Side::Subject).equals(&key), 1);
        }
        drop(world);
    }
}

//! The native half of the package for Java (`java/`): one function, which takes requests as bytes and
//! returns their results as bytes ([`protocol`]).
//!
//! Java combines the requests of its threads: a thread that waits for a lock of ours would hold the carrier
//! of its virtual thread. So a call brings a whole batch. The only lock is that of the table of keys, which
//! nobody holds while computing.
#![forbid(unsafe_code)]

mod answer;
mod keys;
pub mod protocol;

pub use answer::answer;

use jni::EnvUnowned;
use jni::errors::ThrowRuntimeExAndDefault;
use jni::objects::{JByteArray, JClass};
use zeroize::Zeroizing;

/// `Native.call(byte[] requests)`. A panic becomes a `RuntimeException`: nothing unwinds into Java.
#[jni::jni_mangle("zariz.jca.Native")]
pub fn call<'a>(mut java: EnvUnowned<'a>, _class: JClass<'a>, requests: JByteArray<'a>) -> JByteArray<'a> {
    java.with_env(|java| -> jni::errors::Result<_> {
        let requests = Zeroizing::new(java.convert_byte_array(&requests)?);
        java.byte_array_from_slice(&answer(&requests))
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

//! The functions that a provider offers: their numbers and types (openssl/core_dispatch.h).

use std::ffi::{c_char, c_int, c_uchar, c_void};
use std::marker::PhantomData;

use super::core::Entry;
use super::params::Param;

/// A pointer that is opaque to one side: a context or key.
pub type Opaque = *mut c_void;
/// `OSSL_CALLBACK`.
pub type Callback = unsafe extern "C" fn(*const Param, *mut c_void) -> c_int;

/// A function's number, and the type it must have.
pub struct FunctionId<F>(c_int, PhantomData<F>);

impl<F: Copy> FunctionId<F> {
    const fn new(id: c_int) -> Self {
        Self(id, PhantomData)
    }

    /// An entry of a dispatch table. `F` is a function pointer.
    pub const fn with(&self, function: F) -> Entry {
        union Cast<F: Copy> {
            from: F,
            to: unsafe extern "C" fn(),
        }
        const { assert!(size_of::<F>() == size_of::<unsafe extern "C" fn()>()) };
        // SAFETY: both are function pointers; OpenSSL casts back by the number.
        Entry { id: self.0, function: Some(unsafe { Cast { from: function }.to }) }
    }
}

macro_rules! functions {
    ($(#[$doc:meta])* $module:ident { $($name:ident = $id:literal: ($($argument:ty),*) $(-> $result:ty)?;)* }) => {
        $(#[$doc])*
        pub mod $module {
            use super::*;
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                pub const $name: FunctionId<unsafe extern "C" fn($($argument),*) $(-> $result)?> = FunctionId::new($id);
            )*

            #[cfg(test)]
            pub const ALL: &[(&str, c_int)] = &[$((stringify!($name), $id)),*];
        }
    };
}

functions! {
    /// `OSSL_FUNC_PROVIDER_…`.
    provider {
        TEARDOWN = 1024: (Opaque);
        GETTABLE_PARAMS = 1025: (Opaque) -> *const Param;
        GET_PARAMS = 1026: (Opaque, *mut Param) -> c_int;
        QUERY_OPERATION = 1027: (Opaque, c_int, *mut c_int) -> *const crate::ffi::core::Algorithm;
        GET_REASON_STRINGS = 1029: (Opaque) -> *const crate::ffi::core::ReasonString;
    }
}

functions! {
    /// `OSSL_FUNC_KEYMGMT_…`.
    keymgmt {
        NEW = 1: (Opaque) -> Opaque;
        GEN_INIT = 2: (Opaque, c_int, *const Param) -> Opaque;
        GEN_SET_PARAMS = 4: (Opaque, *const Param) -> c_int;
        GEN_SETTABLE_PARAMS = 5: (Opaque, Opaque) -> *const Param;
        GEN = 6: (Opaque, Option<Callback>, *mut c_void) -> Opaque;
        GEN_CLEANUP = 7: (Opaque);
        LOAD = 8: (*const c_void, usize) -> Opaque;
        FREE = 10: (Opaque);
        GET_PARAMS = 11: (Opaque, *mut Param) -> c_int;
        GETTABLE_PARAMS = 12: (Opaque) -> *const Param;
        QUERY_OPERATION_NAME = 20: (c_int) -> *const c_char;
        HAS = 21: (*const c_void, c_int) -> c_int;
        VALIDATE = 22: (*const c_void, c_int, c_int) -> c_int;
        MATCH = 23: (*const c_void, *const c_void, c_int) -> c_int;
        IMPORT = 40: (Opaque, c_int, *const Param) -> c_int;
        IMPORT_TYPES = 41: (c_int) -> *const Param;
        EXPORT = 42: (Opaque, c_int, Option<Callback>, *mut c_void) -> c_int;
        EXPORT_TYPES = 43: (c_int) -> *const Param;
        DUP = 44: (*const c_void, c_int) -> Opaque;
    }
}

functions! {
    /// `OSSL_FUNC_SIGNATURE_…`.
    signature {
        NEWCTX = 1: (Opaque, *const c_char) -> Opaque;
        SIGN_INIT = 2: (Opaque, Opaque, *const Param) -> c_int;
        SIGN = 3: (Opaque, *mut c_uchar, *mut usize, usize, *const c_uchar, usize) -> c_int;
        VERIFY_INIT = 4: (Opaque, Opaque, *const Param) -> c_int;
        VERIFY = 5: (Opaque, *const c_uchar, usize, *const c_uchar, usize) -> c_int;
        VERIFY_RECOVER_INIT = 6: (Opaque, Opaque, *const Param) -> c_int;
        VERIFY_RECOVER = 7: (Opaque, *mut c_uchar, *mut usize, usize, *const c_uchar, usize) -> c_int;
        DIGEST_SIGN_INIT = 8: (Opaque, *const c_char, Opaque, *const Param) -> c_int;
        DIGEST_SIGN_UPDATE = 9: (Opaque, *const c_uchar, usize) -> c_int;
        DIGEST_SIGN_FINAL = 10: (Opaque, *mut c_uchar, *mut usize, usize) -> c_int;
        DIGEST_SIGN = 11: (Opaque, *mut c_uchar, *mut usize, usize, *const c_uchar, usize) -> c_int;
        DIGEST_VERIFY_INIT = 12: (Opaque, *const c_char, Opaque, *const Param) -> c_int;
        DIGEST_VERIFY_UPDATE = 13: (Opaque, *const c_uchar, usize) -> c_int;
        DIGEST_VERIFY_FINAL = 14: (Opaque, *const c_uchar, usize) -> c_int;
        DIGEST_VERIFY = 15: (Opaque, *const c_uchar, usize, *const c_uchar, usize) -> c_int;
        FREECTX = 16: (Opaque);
        DUPCTX = 17: (Opaque) -> Opaque;
        GET_CTX_PARAMS = 18: (Opaque, *mut Param) -> c_int;
        GETTABLE_CTX_PARAMS = 19: (Opaque, Opaque) -> *const Param;
        SET_CTX_PARAMS = 20: (Opaque, *const Param) -> c_int;
        SETTABLE_CTX_PARAMS = 21: (Opaque, Opaque) -> *const Param;
        GET_CTX_MD_PARAMS = 22: (Opaque, *mut Param) -> c_int;
        GETTABLE_CTX_MD_PARAMS = 23: (Opaque) -> *const Param;
        SET_CTX_MD_PARAMS = 24: (Opaque, *const Param) -> c_int;
        SETTABLE_CTX_MD_PARAMS = 25: (Opaque) -> *const Param;
    }
}

functions! {
    /// `OSSL_FUNC_ASYM_CIPHER_…`.
    cipher {
        NEWCTX = 1: (Opaque) -> Opaque;
        ENCRYPT_INIT = 2: (Opaque, Opaque, *const Param) -> c_int;
        ENCRYPT = 3: (Opaque, *mut c_uchar, *mut usize, usize, *const c_uchar, usize) -> c_int;
        DECRYPT_INIT = 4: (Opaque, Opaque, *const Param) -> c_int;
        DECRYPT = 5: (Opaque, *mut c_uchar, *mut usize, usize, *const c_uchar, usize) -> c_int;
        FREECTX = 6: (Opaque);
        DUPCTX = 7: (Opaque) -> Opaque;
        GET_CTX_PARAMS = 8: (Opaque, *mut Param) -> c_int;
        GETTABLE_CTX_PARAMS = 9: (Opaque, Opaque) -> *const Param;
        SET_CTX_PARAMS = 10: (Opaque, *const Param) -> c_int;
        SETTABLE_CTX_PARAMS = 11: (Opaque, Opaque) -> *const Param;
    }
}

/// `OSSL_OP_…`.
pub mod operation_id {
    use std::ffi::c_int;

    /// Keys.
    pub const KEYMGMT: c_int = 10;
    /// Signatures.
    pub const SIGNATURE: c_int = 12;
    /// Encryption.
    pub const ASYM_CIPHER: c_int = 13;

    #[cfg(test)]
    pub const ALL: &[(&str, c_int)] =
        &[("KEYMGMT", KEYMGMT), ("SIGNATURE", SIGNATURE), ("ASYM_CIPHER", ASYM_CIPHER)];
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// OpenSSL's header, from the package libssl-dev.
    const HEADER: &str = "/usr/include/openssl/core_dispatch.h";

    #[test]
    fn numbers_are_those_of_the_header() {
        let header = std::fs::read_to_string(HEADER).expect("libssl-dev is installed");
        let define = |line: &str| {
            let mut words = line.strip_prefix('#')?.trim_start().strip_prefix("define ")?.split_whitespace();
            Some((words.next()?.to_owned(), words.next()?.parse::<c_int>().ok()?))
        };
        let defined: HashMap<String, c_int> = header.lines().filter_map(define).collect();
        let tables = [
            ("OSSL_FUNC_PROVIDER_", provider::ALL),
            ("OSSL_FUNC_KEYMGMT_", keymgmt::ALL),
            ("OSSL_FUNC_SIGNATURE_", signature::ALL),
            ("OSSL_FUNC_ASYM_CIPHER_", cipher::ALL),
            ("OSSL_OP_", operation_id::ALL),
        ];
        for (prefix, table) in tables {
            assert!(!table.is_empty());
            for (name, id) in table {
                assert_eq!(defined.get(&format!("{prefix}{name}")), Some(id), "{prefix}{name}");
            }
        }
    }
}

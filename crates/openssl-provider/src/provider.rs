//! The provider itself: the state of one loaded instance.

use std::ffi::{CStr, CString, c_int};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use zeroize::Zeroizing;

use crate::counters::Counters;
use crate::failure::{Failure, Outcome, REASON_STRINGS, Reason, answer};
use crate::ffi::core::{Algorithm, Core, Dispatch, ReasonString};
use crate::ffi::guard;
use crate::ffi::libcrypto::Libcrypto;
use crate::ffi::params::{Answers, Param};
use crate::ffi::slots::{Opaque, operation, provider};
use crate::openssl::OpenSsl;
use crate::queue::{Lost, Processes, Queue, Work, job};
use crate::settings::{Settings, processors};
use crate::signature::Salt;
use crate::{cipher, key, signature, stack};

/// The provider.
pub struct Provider {
    pub core: Core,
    pub openssl: OpenSsl,
    pub settings: Settings,
    pub counters: Arc<Counters>,
    processes: Processes,
    /// The default length of PSS salts: `auto`, and since OpenSSL 3.1 no longer than the digest.
    pub default_salt: Salt,
    /// Names of the engine, the method and all settings, given to OpenSSL by address.
    engine: CString,
    method: CString,
    known_settings: CString,
}

/// The functions.
pub static FUNCTIONS: &[Dispatch] = &[
    provider::TEARDOWN.with(teardown),
    provider::GETTABLE_PARAMS.with(gettable_params),
    provider::GET_PARAMS.with(get_params),
    provider::QUERY_OPERATION.with(query_operation),
    provider::GET_REASON_STRINGS.with(get_reason_strings),
    Dispatch::END,
];

const NAME: &CStr = c"zariz: batched RSA";
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

static GETTABLE: [Param; 20] = [
    Param::describe_utf8_ptr(c"name"),
    Param::describe_utf8_ptr(c"version"),
    Param::describe_utf8_ptr(c"buildinfo"),
    Param::describe_int(c"status"),
    Param::describe_utf8_ptr(c"engine"),
    Param::describe_utf8_ptr(c"method"),
    Param::describe_utf8_ptr(c"known-settings"),
    Param::describe_unsigned(c"threads"),
    Param::describe_unsigned(c"max-batch"),
    Param::describe_unsigned(c"validate-keys"),
    Param::describe_unsigned(c"private-operations"),
    Param::describe_unsigned(c"public-operations"),
    Param::describe_unsigned(c"operations"),
    Param::describe_unsigned(c"batches"),
    Param::describe_real(c"mean-batch"),
    Param::describe_unsigned(c"largest-batch"),
    Param::describe_unsigned(c"fallbacks"),
    Param::describe_unsigned(c"check-failures"),
    Param::describe_unsigned(c"keys-generated"),
    Param::END,
];

impl Provider {
    /// Reads the settings, and finds libcrypto.
    pub fn new(core: Core) -> Outcome<Self> {
        let settings = Settings::read(&core)?;
        let libcrypto = Libcrypto::containing(core.address()).map_err(|why| Failure::new(Reason::System, why))?;
        let counters = match &settings.counters {
            None => Counters::own(),
            Some(path) => Counters::shared(path)
                .map_err(|why| Failure::new(Reason::Setting, format!("setting counters of provider zariz: {why}")))?,
        };
        let counters = Arc::new(counters);
        let (threads, max_batch, lanes) = (settings.threads, settings.max_batch, settings.dispatch.main().lanes());
        let of_queue = counters.clone();
        let processes = Processes::new(move || Queue::new(threads, max_batch, lanes, of_queue.clone()));
        let text = |text: String| CString::new(text).unwrap_or_default();
        let engine = text(match settings.dispatch {
            zariz::Dispatch::Auto => format!("auto ({})", settings.dispatch.main()),
            only => only.to_string(),
        });
        let known_settings = text(Settings::names());
        let method = text(settings.method.map_or_else(|| "auto".into(), |method| method.to_string()));
        let [version] = core.settings([c"openssl-version"]);
        let default_salt =
            if version.is_some_and(|version| version.starts_with("3.0.")) { Salt::Auto } else { Salt::AutoDigestMax };
        let openssl = OpenSsl::new(libcrypto);
        Ok(Self { core, default_salt, openssl, settings, counters, processes, engine, method, known_settings })
    }

    /// Another reference to the provider that OpenSSL holds.
    ///
    /// # Safety
    /// `context` is the one that OpenSSL was given for the provider, which is not torn down.
    pub unsafe fn shared(context: Opaque) -> Arc<Self> {
        let context: *const Self = context.cast_const().cast();
        // SAFETY: OpenSSL holds a reference.
        unsafe {
            Arc::increment_strong_count(context);
            Arc::from_raw(context)
        }
    }

    /// Computes in a batch with other requests.
    pub fn compute(&self, work: Work) -> Outcome<Zeroizing<Vec<u8>>> {
        let answer = job::call(&self.processes, &self.openssl.libcrypto, work);
        answer.map_err(|lost| match lost {
            Lost::Failed(error) => error.into(),
            Lost::NoThread => Failure::new(Reason::System, "no thread can be started: raise the limit of threads"),
            Lost::Forked => Failure::new(Reason::System, "the process has forked while the job was paused"),
            Lost::Panic => Failure::panicked(),
        })
    }

    /// Calls a function on a stack that is large enough: in a job, on another. The job is not paused: OpenSSL may hold
    /// locks.
    pub fn with_stack<T: Send>(&self, function: impl FnOnce() -> T + Send) -> Outcome<T> {
        if !job::is_running(&self.openssl.libcrypto) {
            return Ok(function());
        }
        match stack::elsewhere(function) {
            Ok(result) => result.map_err(|_| Failure::panicked()),
            Err(error) => Err(Failure::new(Reason::System, format!("no room to compute: {error}"))),
        }
    }

    /// Counts an operation that OpenSSL does in our place.
    pub fn note_fallback(&self) {
        self.counters.add(|numbers| &numbers.fallbacks, 1);
    }

    fn answer(&self, answers: &mut Answers) -> bool {
        let numbers = self.counters.numbers();
        let [private, public, batches, largest, fallbacks, failures, keys] = [
            &numbers.private_operations,
            &numbers.public_operations,
            &numbers.batches,
            &numbers.largest_batch,
            &numbers.fallbacks,
            &numbers.check_failures,
            &numbers.keys_generated,
        ]
        // The contents of a file can be anything.
        .map(|counter| i64::try_from(counter.load(Ordering::Relaxed)).unwrap_or(i64::MAX));
        let operations = private.saturating_add(public);
        // A multiple of 1/1024, so that no floating-point operation rounds: the host may have unmasked that exception.
        let parts = i128::from(operations) * 1024 / i128::from(batches.max(1));
        let mean = parts.min(1 << 50) as f64 / 1024.0;
        let version = CStr::from_bytes_with_nul(VERSION.as_bytes()).unwrap_or_default();
        let integers: [(&CStr, i64); 12] = [
            (c"status", 1),
            (c"threads", self.settings.threads.unwrap_or_else(processors) as i64),
            (c"max-batch", self.settings.max_batch as i64),
            (c"validate-keys", self.settings.validate_keys.into()),
            (c"private-operations", private),
            (c"public-operations", public),
            (c"operations", operations),
            (c"batches", batches),
            (c"largest-batch", largest),
            (c"fallbacks", fallbacks),
            (c"check-failures", failures),
            (c"keys-generated", keys),
        ];
        answers.put(c"name", |param| param.put_constant(NAME))
            && answers.put(c"version", |param| param.put_constant(version))
            && answers.put(c"buildinfo", |param| param.put_constant(version))
            // SAFETY: they live as long as the provider, as OpenSSL expects of its parameters.
            && answers.put(c"engine", |param| unsafe { param.put_address(&self.engine) })
            // SAFETY: as above.
            && answers.put(c"method", |param| unsafe { param.put_address(&self.method) })
            // SAFETY: as above.
            && answers.put(c"known-settings", |param| unsafe { param.put_address(&self.known_settings) })
            && answers.put(c"mean-batch", |param| param.put_real(mean))
            && integers.into_iter().all(|(name, value)| answers.put(name, |param| param.put_int(value)))
    }
}

unsafe extern "C" fn teardown(context: Opaque) {
    // SAFETY: the reference that OpenSSL was given, and gives back once.
    guard((), || drop(unsafe { Arc::from_raw(context.cast_const().cast::<Provider>()) }));
}

unsafe extern "C" fn gettable_params(_: Opaque) -> *const Param {
    GETTABLE.as_ptr()
}

unsafe extern "C" fn get_params(context: Opaque, params: *mut Param) -> c_int {
    // SAFETY: the provider that OpenSSL holds, and its array.
    let (provider, mut answers) = unsafe { (&*context.cast_const().cast::<Provider>(), Answers::new(params)) };
    answer(&provider.core, || if provider.answer(&mut answers) { Ok(()) } else { Err(Failure::does_not_fit()) })
}

const NAMES: &CStr = c"RSA:rsaEncryption:1.2.840.113549.1.1.1";
const PROPERTIES: &CStr = c"provider=zariz";

const fn algorithm(functions: &'static [Dispatch], description: &'static CStr) -> [Algorithm; 2] {
    let end = Algorithm {
        names: ptr::null(),
        properties: ptr::null(),
        implementation: ptr::null(),
        description: ptr::null(),
    };
    let (names, properties, implementation) = (NAMES.as_ptr(), PROPERTIES.as_ptr(), functions.as_ptr());
    [Algorithm { names, properties, implementation, description: description.as_ptr() }, end]
}

static KEYMGMT: [Algorithm; 2] = algorithm(key::management::FUNCTIONS, c"RSA keys of zariz");
static SIGNATURE: [Algorithm; 2] = algorithm(signature::FUNCTIONS, c"RSA signatures of zariz, batched");
static ASYM_CIPHER: [Algorithm; 2] = algorithm(cipher::FUNCTIONS, c"RSA encryption of zariz, batched");

unsafe extern "C" fn query_operation(_: Opaque, id: c_int, no_cache: *mut c_int) -> *const Algorithm {
    if !no_cache.is_null() {
        // SAFETY: OpenSSL's promise: room for an integer.
        unsafe { no_cache.write(0) };
    }
    match id {
        operation::KEYMGMT => KEYMGMT.as_ptr(),
        operation::SIGNATURE => SIGNATURE.as_ptr(),
        operation::ASYM_CIPHER => ASYM_CIPHER.as_ptr(),
        _ => ptr::null(),
    }
}

unsafe extern "C" fn get_reason_strings(_: Opaque) -> *const ReasonString {
    REASON_STRINGS.as_ptr()
}

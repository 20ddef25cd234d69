//! The state of one loaded instance of the provider.

use std::ffi::CString;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::counters::Counters;
use crate::failure::{Failure, Outcome, Reason};
use crate::ffi::core::Core;
use crate::ffi::functions::Opaque;
use crate::ffi::libcrypto::Libcrypto;
use crate::openssl::OpenSsl;
use crate::queue::{ComputeError, PerProcessQueue, Primitive, QueueError, job, queues};
use crate::salt::Salt;
use crate::settings::Settings;
use crate::stack;

/// The state of one loaded instance. Keys and operations hold references to it.
pub struct Provider {
    pub core: Core,
    pub openssl: OpenSsl,
    pub settings: Settings,
    pub counters: Arc<Counters>,
    queues: PerProcessQueue,
    /// The default length of PSS salts: `auto`; since OpenSSL 3.1, at most the digest's length.
    pub default_salt: Salt,
    /// The names of the engine, the method and all settings, which OpenSSL gets by address.
    pub engine: CString,
    pub method: CString,
    pub known_settings: CString,
}

impl Provider {
    /// Reads the settings, and finds libcrypto.
    pub fn new(core: Core) -> Outcome<Self> {
        let settings = Settings::read(&core)?;
        let libcrypto =
            Libcrypto::containing(core.address()).map_err(|why| Failure::new(Reason::System, why))?;
        let core = core.with_peek(libcrypto.peek_error);
        let counters = match &settings.counters {
            None => Counters::own(),
            Some(path) => Counters::shared(path).map_err(|why| {
                Failure::new(Reason::Setting, format!("setting counters of provider zariz: {why}"))
            })?,
        };
        let counters = Arc::new(counters);
        let (threads, max_batch, lanes) =
            (settings.threads, settings.max_batch, settings.dispatch.main().lanes());
        let queues = queues(threads, max_batch, lanes, counters.clone());
        let text = |text: String| CString::new(text).unwrap_or_default();
        let engine = text(match settings.dispatch {
            _ if settings.leaves_rsa => {
                "none: on Arm, RSA is left to OpenSSL unless there is a setting engine".into()
            }
            zariz::Dispatch::Auto => format!("auto ({})", settings.dispatch.main()),
            only => only.to_string(),
        });
        let known_settings = text(Settings::names());
        let method = text(settings.method.map_or_else(|| "auto".into(), |method| method.to_string()));
        let [version] = core.settings([c"openssl-version"]);
        let default_salt = if version.is_some_and(|version| version.starts_with("3.0.")) {
            Salt::Auto
        } else {
            Salt::AutoDigestMax
        };
        let openssl = OpenSsl::new(libcrypto);
        Ok(Self { core, default_salt, openssl, settings, counters, queues, engine, method, known_settings })
    }

    /// Another reference to the provider that OpenSSL holds.
    ///
    /// # Safety
    /// `context` is what OpenSSL was given for the provider, which must not be torn down.
    pub unsafe fn shared(context: Opaque) -> Arc<Self> {
        let context: *const Self = context.cast_const().cast();
        // SAFETY: OpenSSL holds a reference.
        unsafe {
            Arc::increment_strong_count(context);
            Arc::from_raw(context)
        }
    }

    /// Computes `x^d` or `x^e mod n`, in a batch with other requests. In a job, pauses it meanwhile.
    pub fn compute(&self, primitive: Primitive) -> Outcome<Zeroizing<Vec<u8>>> {
        let result = job::call(&self.queues, &self.openssl.libcrypto, primitive);
        result.map_err(|error| match error {
            ComputeError::Failed(error) => error.into(),
            ComputeError::Queue(QueueError::NoThread) => {
                Failure::new(Reason::System, "no thread can be started: raise the limit of threads")
            }
            ComputeError::Queue(QueueError::Forked) => {
                Failure::new(Reason::System, "the process forked while the job was paused")
            }
            ComputeError::Queue(_) => Failure::panicked(),
        })
    }

    /// Calls a function with a large enough stack: in a job, another than the job's. Does not pause the job:
    /// OpenSSL may hold locks.
    pub fn with_stack<T: Send>(&self, function: impl FnOnce() -> T + Send) -> Outcome<T> {
        if !job::is_running(&self.openssl.libcrypto) {
            return Ok(function());
        }
        match stack::elsewhere(function) {
            Ok(result) => result.map_err(|_| Failure::panicked()),
            Err(error) => Err(Failure::new(Reason::System, format!("no stack to compute on: {error}"))),
        }
    }

    /// Counts an operation that is left to OpenSSL.
    pub fn note_fallback(&self) {
        self.counters.add(|counts| &counts.fallbacks, 1);
    }
}

//! Handles: boxes that begin with a tag, so that a handle of another kind is an error and not a crash.

use crate::failure::{Failure, ZARIZ_WRONG_HANDLE};

/// A box that C holds by a pointer.
pub(crate) trait Handle: Sized {
    type Value;
    /// Its tag, and what it is called in messages.
    const TAG: u64;
    const NAME: &str;
    fn new(value: Self::Value) -> Self;
    /// Where the tag of a handle is.
    fn tag(handle: *const Self) -> *const u64;
    fn value(&self) -> &Self::Value;
}

/// A struct of a tag and a value is a handle.
macro_rules! handle {
    ($handle:ty, $value:ty, $tag:literal, $name:literal) => {
        impl $crate::handle::Handle for $handle {
            type Value = $value;
            const TAG: u64 = u64::from_le_bytes(*$tag);
            const NAME: &str = $name;
            fn new(value: $value) -> Self {
                Self { tag: <Self as $crate::handle::Handle>::TAG, value }
            }
            fn tag(handle: *const Self) -> *const u64 {
                // SAFETY: computes an address in the object that the pointer points to.
                unsafe { &raw const (*handle).tag }
            }
            fn value(&self) -> &$value {
                &self.value
            }
        }
    };
}
pub(crate) use handle;

/// The value of a handle.
///
/// # Safety
/// The handle is NULL, or points to as many readable bytes as a handle has, which nobody frees meanwhile.
pub(crate) unsafe fn get<'a, H: Handle + 'a>(handle: *const H) -> Result<&'a H::Value, Failure> {
    if handle.is_null() {
        return Err(Failure::null(H::NAME));
    }
    // SAFETY: readable, as the caller promises; a volatile read, because after `free` the compiler could know
    // what is there. The reference is made only if the tag says that the handle is one of these.
    unsafe {
        if !handle.is_aligned() || H::tag(handle).read_volatile() != H::TAG {
            let message = format!("{} is a handle of another kind, or freed already", H::NAME);
            return Err(Failure::new(ZARIZ_WRONG_HANDLE, message));
        }
        Ok((*handle).value())
    }
}

/// A fact about the value of a handle; for a wrong one, the default, and a message for the thread.
///
/// # Safety
/// As for [`get`].
pub(crate) unsafe fn fact<H: Handle, T>(handle: *const H, default: T, fact: impl Fn(&H::Value) -> T) -> T {
    // SAFETY: as the caller promises.
    match unsafe { get(handle) } {
        Ok(value) => fact(value),
        Err(failure) => {
            failure.leave();
            default
        }
    }
}

/// Gives a value to the caller, as a handle.
///
/// # Safety
/// `out` is NULL, or may be written.
pub(crate) unsafe fn give<H: Handle>(out: *mut *mut H, value: H::Value) -> Result<(), Failure> {
    if out.is_null() {
        return Err(Failure::null("the pointer for the new handle"));
    }
    // SAFETY: `out` may be written, as the caller promises.
    unsafe { out.write(Box::into_raw(Box::new(H::new(value)))) };
    Ok(())
}

/// Frees a handle. NULL, and a handle of another kind, are left alone.
///
/// # Safety
/// As for [`get`]; the handle is not used afterwards.
pub(crate) unsafe fn free<H: Handle>(handle: *mut H) {
    // SAFETY: the tag says that `give` made it. The tag is cleared first, so that another `free` finds none.
    unsafe {
        if get(handle).is_ok() {
            H::tag(handle).cast_mut().write_volatile(0);
            drop(Box::from_raw(handle));
        }
    }
}

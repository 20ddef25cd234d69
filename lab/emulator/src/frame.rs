//! The state of the interrupted thread, as the kernel saved it in the signal frame and will load it again:
//! general registers in the context, vectors and masks in an XSAVE area in the standard (not compacted)
//! format.
//!
//! Sources: Intel SDM volume 1, chapter 13 (the area, its header and the initial states); Linux
//! `arch/x86/include/uapi/asm/sigcontext.h` (the software bytes).

use std::arch::x86_64::__cpuid_count;
use std::ptr;

/// The state components that hold vectors and masks, by their numbers in XCR0.
const SSE: u32 = 1;
const AVX: u32 = 2;
const OPMASK: u32 = 5;
const ZMM_HI256: u32 = 6;
const HI16_ZMM: u32 = 7;

/// Where the low 128 bits of registers 0 to 15 are in the legacy region: 16 bytes each.
const XMM: usize = 160;
/// The software bytes of the legacy region.
const SOFTWARE: usize = 464;
/// "FPXS", the first word of the software bytes if the area is longer than the legacy region.
const MAGIC1: u32 = 0x4650_5853;
/// "FPXE", the word after the area.
const MAGIC2: u32 = 0x4650_5845;
/// The header: XSTATE_BV, XCOMP_BV.
const HEADER: usize = 512;
/// The end of the header, where the first component beyond the legacy region may be.
const EXTENDED: usize = 576;

/// The components beyond those of AVX.
const WIDE: [u32; 3] = [OPMASK, ZMM_HI256, HI16_ZMM];

/// Where the processor puts each component in the standard format, and the size of it: CPUID leaf 0xD; 0 and
/// 0 for those that it lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout([(usize, usize); 8]);

impl Layout {
    /// Asks the processor. It must have AVX, and with it leaf 0xD.
    pub fn of_processor() -> Self {
        Self(std::array::from_fn(|component| match component as u32 {
            0 => (0, XMM),
            SSE => (XMM, 16 * 16),
            component => {
                // SAFETY: the processor has the leaf. (Safe in later compilers.)
                #[allow(unused_unsafe)]
                let leaf = unsafe { __cpuid_count(0xd, component) };
                (leaf.ebx as usize, leaf.eax as usize)
            }
        }))
    }

    /// What this module takes for granted of the components it uses.
    pub fn check(&self) -> Result<(), String> {
        for (component, needed) in
            [(SSE, 16 * 16), (AVX, 16 * 16), (OPMASK, 8 * 8), (ZMM_HI256, 16 * 32), (HI16_ZMM, 16 * 64)]
        {
            let (at, size) = self.0[component as usize];
            if WIDE.contains(&component) && (at, size) == (0, 0) {
                continue;
            }
            if size != needed || (component != SSE && at < EXTENDED) {
                return Err(format!(
                    "CPUID puts {size} bytes of state component {component} at {at}; {needed} were expected"
                ));
            }
        }
        Ok(())
    }
}

/// The registers of the interrupted thread.
pub struct Frame {
    /// As `libc` numbers them: `REG_RAX`, `REG_RIP`, …
    general: *mut libc::greg_t,
    area: *mut u8,
    layout: Layout,
    /// Whether the area has the components of AVX-512.
    wide: bool,
}

impl Frame {
    /// The frame of a signal handler's third argument; `None` if it holds no AVX state that we could change.
    ///
    /// # Safety
    /// `context` must be what the kernel gave a handler with `SA_SIGINFO`; the frame must not outlive the
    /// handler, and there must be one at a time.
    pub unsafe fn new(context: *mut libc::c_void, layout: Layout) -> Option<Self> {
        let context = context.cast::<libc::ucontext_t>();
        // SAFETY: the caller's promise; the kernel sets `fpregs` to the area in the same frame, or to null.
        let (general, area) =
            unsafe { ((&raw mut (*context).uc_mcontext.gregs).cast(), (*context).uc_mcontext.fpregs.cast()) };
        // SAFETY: the same.
        unsafe { Self::from_parts(general, area, layout) }
    }

    /// # Safety
    /// `general` must be 23 registers, and `area` null or what the kernel saves (512 bytes, and as many more
    /// as its own software bytes say), both writable as long as the frame lives, and used by nothing else.
    unsafe fn from_parts(general: *mut libc::greg_t, area: *mut u8, layout: Layout) -> Option<Self> {
        if area.is_null() {
            return None;
        }
        let frame = Self { general, area, layout, wide: false };
        // SAFETY: the software bytes and, if they say that there is more, that: 512 bytes and what they say.
        let (size, features, compacted) = unsafe {
            let size = frame.read::<u32>(SOFTWARE + 16) as usize;
            if frame.read::<u32>(SOFTWARE) != MAGIC1 || size < EXTENDED || frame.read::<u32>(size) != MAGIC2 {
                return None;
            }
            (size, frame.read::<u64>(SOFTWARE + 8), frame.read::<u64>(HEADER + 8) >> 63 != 0)
        };
        let has = |component: &u32| {
            let (at, len) = layout.0[*component as usize];
            features >> component & 1 != 0 && len > 0 && at + len <= size
        };
        let wide = WIDE.iter().all(has);
        ([SSE, AVX].iter().all(has) && !compacted).then_some(Self { wide, ..frame })
    }

    /// Whether there is AVX-512 state: mask registers, the upper halves of ZMM registers, and those from 16
    /// on.
    pub fn is_wide(&self) -> bool {
        self.wide
    }

    /// # Safety
    /// `at + size_of::<T>()` must lie in the area.
    unsafe fn read<T: Copy>(&self, at: usize) -> T {
        // SAFETY: the caller's promise; types read here are integers and arrays of them, valid for any bytes.
        unsafe { ptr::read_unaligned(self.area.add(at).cast()) }
    }

    /// # Safety
    /// `at + size_of::<T>()` must lie in the area.
    unsafe fn write<T: Copy>(&mut self, at: usize, value: T) {
        // SAFETY: the caller's promise.
        unsafe { ptr::write_unaligned(self.area.add(at).cast(), value) }
    }

    /// Words `index * N ..` of a component: zeros where it is in its initial state.
    fn get<const N: usize>(&self, component: u32, index: usize) -> [u64; N] {
        let (at, size) = self.layout.0[component as usize];
        debug_assert!((index + 1) * N * 8 <= size);
        // SAFETY: the header and the component lie in the area, as `new` has checked; callers keep within the
        // component.
        unsafe {
            if self.read::<u64>(HEADER) >> component & 1 == 0 {
                return [0; N];
            }
            self.read(at + index * N * 8)
        }
    }

    /// Changes words `index * N ..` of a component, and brings it out of its initial state.
    fn set<const N: usize>(&mut self, component: u32, index: usize, value: [u64; N]) {
        let (at, size) = self.layout.0[component as usize];
        debug_assert!((index + 1) * N * 8 <= size);
        // SAFETY: as in `get`.
        unsafe {
            let used = self.read::<u64>(HEADER);
            if used >> component & 1 == 0 {
                ptr::write_bytes(self.area.add(at), 0, size);
                self.write(HEADER, used | 1 << component);
            }
            self.write(at + index * N * 8, value);
        }
    }

    /// ZMM register `number`, 0 to 31, lane 0 first; without AVX-512, YMM register 0 to 15, and zeros above.
    pub fn vector(&self, number: usize) -> [u64; 8] {
        debug_assert!(self.wide || number < 16);
        if number >= 16 {
            return self.get(HI16_ZMM, number - 16);
        }
        let [a, b] = self.get(SSE, number);
        let [c, d] = self.get(AVX, number);
        let [e, f, g, h] = if self.wide { self.get(ZMM_HI256, number) } else { [0; 4] };
        [a, b, c, d, e, f, g, h]
    }

    /// Changes the whole of ZMM register `number`, 0 to 31; without AVX-512, of YMM register 0 to 15.
    pub fn set_vector(&mut self, number: usize, value: [u64; 8]) {
        debug_assert!(self.wide || number < 16);
        if number >= 16 {
            return self.set(HI16_ZMM, number - 16, value);
        }
        let [a, b, c, d, e, f, g, h] = value;
        self.set(SSE, number, [a, b]);
        self.set(AVX, number, [c, d]);
        if self.wide {
            self.set(ZMM_HI256, number, [e, f, g, h]);
        }
    }

    /// Mask register `number`, 0 to 7.
    pub fn mask(&self, number: usize) -> u64 {
        let [mask] = self.get(OPMASK, number);
        mask
    }

    /// A general register by its index in the context.
    pub fn general(&self, register: libc::c_int) -> u64 {
        debug_assert!((0..23).contains(&register));
        // SAFETY: 23 registers, as the constructor was promised; callers name them by libc's constants.
        unsafe { *self.general.add(register as usize) as u64 }
    }

    /// Changes a general register.
    pub fn set_general(&mut self, register: libc::c_int, value: u64) {
        debug_assert!((0..23).contains(&register));
        // SAFETY: as in `general`.
        unsafe { *self.general.add(register as usize) = value as libc::greg_t }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The usual places.
    const LAYOUT: Layout = Layout([
        (0, 160),
        (160, 256),
        (576, 256),
        (960, 64),
        (1024, 64),
        (1088, 64),
        (1152, 512),
        (1664, 1024),
    ]);
    const SIZE: usize = 2688;

    struct Saved {
        general: [libc::greg_t; 23],
        area: Vec<u8>,
    }

    impl Saved {
        /// An area full of stale bytes, with the components of `used` in use.
        fn new(used: u64) -> Self {
            let mut saved =
                Self { general: [0; 23], area: (0..SIZE + 4).map(|i| (i * 7 + i / 256) as u8).collect() };
            saved.put(SOFTWARE, &MAGIC1.to_le_bytes());
            saved.put(SOFTWARE + 4, &(SIZE as u32 + 4).to_le_bytes());
            saved.put(SOFTWARE + 8, &0x2e7u64.to_le_bytes());
            saved.put(SOFTWARE + 16, &(SIZE as u32).to_le_bytes());
            saved.put(HEADER, &used.to_le_bytes());
            saved.put(HEADER + 8, &[0; 56]);
            saved.put(SIZE, &MAGIC2.to_le_bytes());
            saved
        }
        fn put(&mut self, at: usize, bytes: &[u8]) {
            self.area[at..at + bytes.len()].copy_from_slice(bytes);
        }
        fn frame(&mut self) -> Option<Frame> {
            // SAFETY: both live longer than any frame of a test, and are looked at through it alone.
            unsafe { Frame::from_parts(self.general.as_mut_ptr(), self.area.as_mut_ptr(), LAYOUT) }
        }
        fn used(&self) -> u64 {
            u64::from_le_bytes(*self.area[HEADER..].first_chunk().expect("8 bytes"))
        }
    }

    fn pattern(number: usize) -> [u64; 8] {
        std::array::from_fn(|lane| (number * 100 + lane + 1) as u64 * 0x0001_0001_0001_0001)
    }

    #[test]
    fn registers_are_kept_apart() {
        let mut saved = Saved::new(0xe7);
        let mut frame = saved.frame().expect("a frame");
        for number in 0..32 {
            frame.set_vector(number, pattern(number));
        }
        for number in 0..8 {
            frame.set(OPMASK, number, [number as u64 + 0xff00]);
        }
        frame.set_general(libc::REG_RIP, 17);
        for number in 0..32 {
            assert_eq!(frame.vector(number), pattern(number));
        }
        for number in 0..8 {
            assert_eq!(frame.mask(number), number as u64 + 0xff00);
        }
        assert_eq!(frame.general(libc::REG_RIP), 17);
        // At the places of the manual: xmm3, the high half of ymm3, the high half of zmm3, zmm19.
        let bytes = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        assert_eq!(saved.area[160 + 48..][..16], bytes(&pattern(3)[..2]));
        assert_eq!(saved.area[576 + 48..][..16], bytes(&pattern(3)[2..4]));
        assert_eq!(saved.area[1152 + 96..][..32], bytes(&pattern(3)[4..]));
        assert_eq!(saved.area[1664 + 192..][..64], bytes(&pattern(19)));
    }

    #[test]
    fn initial_state_is_zero_and_leaves_when_written() {
        let mut saved = Saved::new(1);
        let mut frame = saved.frame().expect("a frame");
        assert!(
            (0..32).all(|number| frame.vector(number) == [0; 8])
                && (0..8).all(|number| frame.mask(number) == 0)
        );
        frame.set_vector(20, pattern(20));
        for number in 0..32 {
            assert_eq!(frame.vector(number), if number == 20 { pattern(20) } else { [0; 8] });
        }
        frame.set_vector(2, pattern(2));
        for number in 0..16 {
            assert_eq!(frame.vector(number), if number == 2 { pattern(2) } else { [0; 8] });
        }
        assert_eq!(saved.used(), 0b1100_0111);
        // The mask component was not touched, and other components (PKRU, AMX) keep their bits.
        let mut saved = Saved::new(1 << 9 | 1 << 17 | 1 << 18);
        saved.frame().expect("a frame").set_vector(31, pattern(31));
        assert_eq!(saved.used(), 1 << 9 | 1 << 17 | 1 << 18 | 1 << 7);
    }

    #[test]
    fn other_areas_are_refused() {
        assert!(Saved::new(0xe7).frame().is_some());
        for (at, bytes) in [
            (SOFTWARE, 0u64),             // a legacy region alone
            (SOFTWARE + 8, 0x03),         // no AVX
            (SOFTWARE + 16, 831),         // too short
            (HEADER + 8, 1 << 63 | 0xe7), // compacted
            (SIZE - 4, 0),                // no end mark
        ] {
            let mut saved = Saved::new(0xe7);
            saved.put(at, &bytes.to_le_bytes());
            assert!(saved.frame().is_none(), "{at}: {bytes:x}");
        }
        let mut general = [0; 23];
        // SAFETY: a null area is not read.
        assert!(unsafe { Frame::from_parts(general.as_mut_ptr(), ptr::null_mut(), LAYOUT) }.is_none());
    }

    #[test]
    fn areas_without_avx512_have_sixteen_narrow_registers() {
        for (at, bytes, wide) in [
            (SOFTWARE + 8, 0x07u64, false), // no AVX-512
            (SOFTWARE + 8, 0x67, false),    // no registers 16 to 31
            (SOFTWARE + 8, 0xe7, true),
        ] {
            let mut saved = Saved::new(0xe7);
            saved.put(at, &bytes.to_le_bytes());
            assert_eq!(saved.frame().map(|frame| frame.is_wide()), Some(wide), "{bytes:x}");
        }
        // A whole area of a processor without AVX-512, and stale bytes behind it.
        let mut saved = Saved::new(0x7);
        saved.put(SOFTWARE + 8, &0x07u64.to_le_bytes());
        saved.put(SOFTWARE + 16, &832u32.to_le_bytes());
        saved.put(832, &MAGIC2.to_le_bytes());
        let before = saved.area[832..].to_vec();
        let mut frame = saved.frame().expect("a frame");
        let narrow = |number| std::array::from_fn(|lane| if lane < 4 { pattern(number)[lane] } else { 0 });
        for number in 0..16 {
            frame.set_vector(number, pattern(number));
        }
        for number in 0..16 {
            assert_eq!(frame.vector(number), narrow(number));
        }
        assert_eq!(saved.area[832..], before);
        assert_eq!(saved.used(), 0x7);
    }

    #[test]
    fn this_processor_has_the_usual_layout() {
        if !is_x86_feature_detected!("avx") {
            eprintln!("skipped: the processor lacks AVX");
            return;
        }
        assert_eq!(Layout::of_processor().check(), Ok(()));
    }
}

//! What instructions do to what is known: which operands they read and write, and the flags.
//!
//! Only what is listed is understood. Whoever adds an instruction here must look up whether it reads its
//! destination, and whether its time depends on its operands.

/// What an instruction does with the flags.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flags {
    Keep,
    /// All that is read later is new.
    Set,
    /// Some stay.
    Merge,
}

/// What an instruction does with its last operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Last {
    Read,
    Write,
    Update,
}

/// An instruction that computes from all its operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plain {
    pub last: Last,
    pub flags: Flags,
    pub reads_flags: bool,
    /// The bytes of its operand in memory; 0: of the largest vector register among the operands.
    pub bytes: i64,
    /// Whether its time depends on its operands.
    pub timed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Nothing that matters.
    Nothing,
    /// The address of its operand is used; nothing else.
    Prefetch,
    /// Copies the first operand to the last.
    Move(i64),
    /// Copies the first operand, of so many bytes, extended.
    Extend(i64),
    Lea,
    /// Adds or subtracts (−1).
    Add(i64, i64),
    /// The last operand, or the first, by the flags.
    ConditionalMove(i64),
    /// The last operand, of one byte, from the flags.
    SetByFlags,
    /// To RAX and RDX: a product with RAX.
    Multiply(i64),
    /// To the last two operands: a product with RDX.
    MultiplyX(i64),
    Divide,
    /// To RDX, the sign of RAX.
    SignToRdx,
    /// RAX from its lower half.
    ExtendRax,
    Push,
    Pop,
    Jump,
    Branch,
    Return,
    Call,
    Trap,
    Plain(Plain),
    /// The lower parts of elements: so many times fewer bytes than the source.
    Narrow(i64),
    /// Reads single elements at addresses in a vector.
    Gather,
    /// Moves to or from memory under a mask that is a vector: the second operand of three.
    VectorMasked,
}

const fn plain(last: Last, flags: Flags, bytes: i64) -> Plain {
    Plain { last, flags, reads_flags: false, bytes, timed: false }
}

/// What an instruction with this many operands does; `None` if it is not known here.
pub fn kind(mnemonic: &str, operands: usize) -> Option<Kind> {
    Some(match mnemonic {
        "nop" | "nopw" | "nopl" | "endbr64" => Kind::Nothing,
        "prefetcht0" | "prefetcht1" | "prefetcht2" | "prefetchnta" | "prefetchw" => Kind::Prefetch,
        "jmp" | "jmpq" => Kind::Jump,
        "retq" | "ret" => Kind::Return,
        "callq" | "call" => Kind::Call,
        "ud2" => Kind::Trap,
        "pushq" => Kind::Push,
        "popq" => Kind::Pop,
        "cqto" | "cltd" => Kind::SignToRdx,
        "cltq" => Kind::ExtendRax,
        "movabsq" => Kind::Move(8),
        "leal" | "leaq" => Kind::Lea,
        "adcxl" | "adcxq" | "adoxl" | "adoxq" => {
            let plain = plain(Last::Update, Flags::Merge, bytes(mnemonic)?);
            Kind::Plain(Plain { reads_flags: true, ..plain })
        }
        _ if mnemonic.starts_with('v') => return vector(mnemonic, operands),
        _ if mnemonic.starts_with('k') => return mask(mnemonic),
        "ja" | "jae" | "jb" | "jbe" | "je" | "jne" | "jg" | "jge" | "jl" | "jle" | "jo" | "jno" | "jp"
        | "jnp" | "js" | "jns" => Kind::Branch,
        _ if mnemonic.starts_with("cmov") => Kind::ConditionalMove(bytes(mnemonic)?),
        _ if mnemonic.starts_with("set") => Kind::SetByFlags,
        _ if mnemonic.len() == 6 && (mnemonic.starts_with("movz") || mnemonic.starts_with("movs")) => {
            Kind::Extend(bytes(&mnemonic[..5])?)
        }
        _ => return scalar(&mnemonic[..mnemonic.len() - 1], operands, bytes(mnemonic)?),
    })
}

/// The bytes that a suffix stands for.
fn bytes(mnemonic: &str) -> Option<i64> {
    Some(match mnemonic.as_bytes().last()? {
        b'b' => 1,
        b'w' => 2,
        b'l' => 4,
        b'q' => 8,
        _ => return None,
    })
}

/// A scalar instruction without its suffix.
fn scalar(name: &str, operands: usize, bytes: i64) -> Option<Kind> {
    let update = plain(Last::Update, Flags::Set, bytes);
    let write = plain(Last::Write, Flags::Set, bytes);
    Some(match name {
        "mov" => Kind::Move(bytes),
        "add" => Kind::Add(1, bytes),
        "sub" => Kind::Add(-1, bytes),
        "mul" => Kind::Multiply(bytes),
        "imul" if operands == 1 => Kind::Multiply(bytes),
        "imul" if operands == 3 => Kind::Plain(write),
        "mulx" => Kind::MultiplyX(bytes),
        "div" | "idiv" => Kind::Divide,
        "and" | "or" | "xor" | "imul" | "neg" => Kind::Plain(update),
        "adc" | "sbb" => Kind::Plain(Plain { reads_flags: true, ..update }),
        "not" | "bswap" => Kind::Plain(Plain { flags: Flags::Keep, ..update }),
        // A shift by zero changes no flag; INC and DEC keep the carry.
        "inc" | "dec" | "shl" | "sal" | "shr" | "sar" | "rol" | "ror" | "shld" | "shrd" => {
            Kind::Plain(Plain { flags: Flags::Merge, ..update })
        }
        "cmp" | "test" | "bt" => Kind::Plain(Plain { last: Last::Read, ..update }),
        "andn" | "bzhi" | "bextr" | "blsr" | "blsi" | "blsmsk" | "tzcnt" | "lzcnt" | "popcnt" => {
            Kind::Plain(write)
        }
        "rorx" | "shlx" | "shrx" | "sarx" => Kind::Plain(Plain { flags: Flags::Keep, ..write }),
        // In microcode before Zen 3.
        "pdep" | "pext" => Kind::Plain(Plain { flags: Flags::Keep, timed: true, ..write }),
        _ => return None,
    })
}

/// An instruction on mask registers.
fn mask(mnemonic: &str) -> Option<Kind> {
    let bytes = match mnemonic.as_bytes().last()? {
        b'b' => 1,
        b'w' => 2,
        b'd' => 4,
        b'q' => 8,
        _ => return None,
    };
    Some(match &mnemonic[..mnemonic.len() - 1] {
        "kmov" => Kind::Move(bytes),
        "kand" | "kandn" | "kor" | "kxor" | "kxnor" | "knot" | "kadd" | "kshiftl" | "kshiftr" | "kunpckb"
        | "kunpckw" | "kunpckd" => Kind::Plain(plain(Last::Write, Flags::Keep, bytes)),
        "kortest" | "ktest" => Kind::Plain(plain(Last::Read, Flags::Set, bytes)),
        _ => return None,
    })
}

/// Vector instructions that write their last operand without reading it, with their suffixes for elements.
const WRITING: &[(&str, &[&str])] = &[
    ("vpadd", INTEGERS),
    ("vpsub", INTEGERS),
    ("vpand", LOGIC),
    ("vpandn", LOGIC),
    ("vpor", LOGIC),
    ("vpxor", LOGIC),
    ("vpsll", INTEGERS),
    ("vpsrl", INTEGERS),
    ("vpsra", INTEGERS),
    ("vpsllv", INTEGERS),
    ("vpsrlv", INTEGERS),
    ("vpsrav", INTEGERS),
    ("vpsll", &["dq"]),
    ("vpsrl", &["dq"]),
    ("vprol", INTEGERS),
    ("vpror", INTEGERS),
    ("vprolv", INTEGERS),
    ("vprorv", INTEGERS),
    ("vpshld", INTEGERS),
    ("vpshrd", INTEGERS),
    ("vpmul", &["udq", "dq", "ld", "lq", "lw"]),
    ("vpcmpeq", INTEGERS),
    ("vpcmpgt", INTEGERS),
    ("vpcmpneq", INTEGERS),
    ("vpcmpneq", UNSIGNED),
    ("vpcmplt", INTEGERS),
    ("vpcmplt", UNSIGNED),
    ("vpcmple", INTEGERS),
    ("vpcmple", UNSIGNED),
    ("vpcmpnlt", INTEGERS),
    ("vpcmpnlt", UNSIGNED),
    ("vpcmpnle", INTEGERS),
    ("vpcmpnle", UNSIGNED),
    ("vpcmpeq", UNSIGNED),
    ("vpcmpgt", UNSIGNED),
    ("vptestm", INTEGERS),
    ("vptestnm", INTEGERS),
    ("vpmax", &["ub", "uw", "ud", "uq", "sb", "sw", "sd", "sq"]),
    ("vpmin", &["ub", "uw", "ud", "uq", "sb", "sw", "sd", "sq"]),
    ("vpblend", &["d", "w", "vb"]),
    ("vpblendm", INTEGERS),
    ("vblend", FLOATS),
    ("vblendm", FLOATS),
    ("vblendv", FLOATS),
    ("valign", INTEGERS),
    ("vpalign", &["r"]),
    ("vperm", &["b", "w", "d", "q", "ps", "pd"]),
    ("vpermil", FLOATS),
    ("vperm2", &["i128", "f128"]),
    ("vpshuf", &["b", "d", "hw", "lw"]),
    ("vshuf", &["ps", "pd", "i32x4", "i64x2", "f32x4", "f64x2"]),
    ("vpunpckl", UNPACK),
    ("vpunpckh", UNPACK),
    ("vunpckl", FLOATS),
    ("vunpckh", FLOATS),
    ("vmovlh", &["ps"]),
    ("vmovhl", &["ps"]),
    ("vpack", &["usdw", "ssdw", "uswb", "sswb"]),
    ("vpmovzx", EXTEND),
    ("vpmovsx", EXTEND),
    ("vpmovm2", INTEGERS),
    ("vpmov", &["b2m", "w2m", "d2m", "q2m"]),
    ("vpmovmsk", &["b"]),
    ("vmovmsk", FLOATS),
    ("vpbroadcast", INTEGERS),
    ("vbroadcast", &["ss", "sd"]),
    ("vbroadcasti", SUBVECTORS),
    ("vbroadcastf", SUBVECTORS),
    ("vinserti", SUBVECTORS),
    ("vinsertf", SUBVECTORS),
    ("vextracti", SUBVECTORS),
    ("vextractf", SUBVECTORS),
    ("vpinsr", INTEGERS),
    ("vpextr", INTEGERS),
    ("vinsert", &["ps"]),
    ("vadd", FLOATS),
    ("vsub", FLOATS),
    ("vmul", FLOATS),
    ("vand", FLOATS),
    ("vandn", FLOATS),
    ("vor", FLOATS),
    ("vxor", FLOATS),
    ("vcvt", &["qq2pd", "uqq2pd", "tpd2uqq", "tpd2qq", "pd2uqq", "pd2qq"]),
    ("vmovddup", &[""]),
    ("vmovshdup", &[""]),
    ("vmovsldup", &[""]),
];

const INTEGERS: &[&str] = &["b", "w", "d", "q"];
const UNSIGNED: &[&str] = &["ub", "uw", "ud", "uq"];
const LOGIC: &[&str] = &["", "d", "q"];
const FLOATS: &[&str] = &["ps", "pd"];
const UNPACK: &[&str] = &["bw", "wd", "dq", "qdq"];
const EXTEND: &[&str] = &["bw", "bd", "bq", "wd", "wq", "dq"];
const SUBVECTORS: &[&str] = &["128", "32x2", "32x4", "32x8", "64x2", "64x4"];

/// Vector instructions that read their last operand, too.
const UPDATING: &[(&str, &[&str])] = &[
    ("vpmadd52luq", &[""]),
    ("vpmadd52huq", &[""]),
    ("vpermt2", &["b", "w", "d", "q", "ps", "pd"]),
    ("vpermi2", &["b", "w", "d", "q", "ps", "pd"]),
    ("vpternlog", &["d", "q"]),
    ("vpshldv", INTEGERS),
    ("vpshrdv", INTEGERS),
];

/// Moves of whole vectors, or of what their bytes say.
const MOVES: &[(&str, i64)] = &[
    ("vmovapd", 0),
    ("vmovaps", 0),
    ("vmovupd", 0),
    ("vmovups", 0),
    ("vmovdqa", 0),
    ("vmovdqu", 0),
    ("vmovdqa32", 0),
    ("vmovdqa64", 0),
    ("vmovdqu8", 0),
    ("vmovdqu16", 0),
    ("vmovdqu32", 0),
    ("vmovdqu64", 0),
    ("vlddqu", 0),
    ("vmovntdq", 0),
    ("vmovntdqa", 0),
    ("vmovntpd", 0),
    ("vmovntps", 0),
    ("vmovq", 8),
    ("vmovd", 4),
];

fn vector(mnemonic: &str, operands: usize) -> Option<Kind> {
    let listed = |list: &[(&str, &[&str])]| {
        let fits = |(stem, suffixes): &(&str, &[&str])| {
            mnemonic.strip_prefix(stem).is_some_and(|suffix| suffixes.contains(&suffix))
        };
        list.iter().any(fits)
    };
    if let Some(&(_, bytes)) = MOVES.iter().find(|(name, _)| *name == mnemonic) {
        return Some(Kind::Move(bytes));
    }
    if listed(WRITING) {
        return Some(Kind::Plain(plain(Last::Write, Flags::Keep, accessed(mnemonic))));
    }
    if listed(UPDATING) || is_fused(mnemonic) {
        return Some(Kind::Plain(plain(Last::Update, Flags::Keep, 0)));
    }
    let timed = Plain { timed: true, ..plain(Last::Write, Flags::Keep, 0) };
    Some(match mnemonic {
        "vzeroupper" => Kind::Nothing,
        // To memory or from it, one element or half a vector. With three operands the rest is taken from a
        // register; with two, from memory, it becomes zero.
        "vmovlpd" | "vmovhpd" | "vmovlps" | "vmovhps" | "vmovsd" => {
            Kind::Plain(plain(Last::Write, Flags::Keep, 8))
        }
        "vmovss" => Kind::Plain(plain(Last::Write, Flags::Keep, 4)),
        "vptest" | "vtestps" | "vtestpd" => Kind::Plain(plain(Last::Read, Flags::Set, 0)),
        "vucomisd" | "vcomisd" => Kind::Plain(plain(Last::Read, Flags::Set, 8)),
        "vucomiss" | "vcomiss" => Kind::Plain(plain(Last::Read, Flags::Set, 4)),
        // Division takes longer for some numbers.
        "vdivpd" | "vdivps" | "vsqrtpd" | "vsqrtps" => Kind::Plain(timed),
        "vpmaskmovd" | "vpmaskmovq" | "vmaskmovps" | "vmaskmovpd" if operands == 3 => Kind::VectorMasked,
        "vpmovqd" | "vpmovdw" | "vpmovwb" => Kind::Narrow(2),
        "vpmovqw" | "vpmovdb" => Kind::Narrow(4),
        "vpmovqb" => Kind::Narrow(8),
        _ if mnemonic.starts_with("vpgather") || mnemonic.starts_with("vgatherd") => Kind::Gather,
        _ => return None,
    })
}

/// VFMADD213PD and the like.
fn is_fused(mnemonic: &str) -> bool {
    let after = mnemonic.strip_prefix("vfn").or(mnemonic.strip_prefix("vf"));
    let order = after.and_then(|after| after.strip_prefix("madd").or(after.strip_prefix("msub")));
    order.is_some_and(|order| ["132pd", "213pd", "231pd"].contains(&order))
}

/// The bytes that an instruction accesses in memory if they are fewer than a vector's.
fn accessed(mnemonic: &str) -> i64 {
    let element = |suffix: &str| match suffix {
        "b" => 1,
        "w" => 2,
        "d" | "ss" => 4,
        "q" | "sd" => 8,
        _ => 0,
    };
    for stem in ["vpbroadcast", "vbroadcast", "vpinsr", "vpextr"] {
        if let Some(suffix) = mnemonic.strip_prefix(stem)
            && element(suffix) > 0
        {
            return element(suffix);
        }
    }
    for stem in ["vbroadcast", "vinsert", "vextract"] {
        if let Some(suffix) = mnemonic.strip_prefix(stem) {
            return match suffix.trim_start_matches(['i', 'f']) {
                "128" | "32x4" | "64x2" => 16,
                "32x8" | "64x4" => 32,
                "32x2" => 8,
                _ => 4,
            };
        }
    }
    0
}

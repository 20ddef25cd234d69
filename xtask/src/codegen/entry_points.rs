//! What we measure of the entry points in assembly.

use anyhow::{Context, Result, bail};
use object::{Object, ObjectSymbol};
use rustc_demangle::demangle;
use std::collections::{BTreeSet, HashMap};

use super::assembly::{Assembly, Function, Instruction};

/// One compiled entry point, and what was found in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntryPoint {
    /// `avx512-fma`, `portable-one`, …
    pub machine: String,
    /// `mac_rows`, …
    pub block: String,
    /// The tile's width, where the block has tiles.
    pub width: Option<usize>,
    /// Instructions, all of them.
    pub instructions: usize,
    /// Instructions of its largest loop; of the whole entry point where it has none.
    pub hot: usize,
    /// Bytes of code.
    pub bytes: usize,
    /// VPMADD52LUQ.
    pub low: usize,
    /// VPMADD52HUQ.
    pub high: usize,
    /// Fused multiply-adds of doubles.
    pub fused: usize,
    /// Multiplications of 64-bit words to 128 bits.
    pub scalar: usize,
    /// VPMULUDQ.
    pub wide: usize,
    /// Of each innermost loop that multiplies by VPMULUDQ: those, and all its vector arithmetic.
    pub loops: Vec<(usize, usize)>,
    /// Vector instructions that write the stack.
    pub stores: usize,
    /// Vector instructions that read the stack.
    pub loads: usize,
    /// Gather instructions: slow, and very slow on processors with certain mitigations.
    pub gathers: usize,
    /// Stores under a mask: a load after one takes longer for some masks than for others, and masks are
    /// secret.
    pub masked_stores: usize,
    /// Bytes of stack.
    pub frame: usize,
    /// Everything it calls or jumps to, by demangled name, panics aside.
    pub calls: BTreeSet<String>,
}

/// How the multiplications found in an entry point fit its algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fit {
    /// Nothing is expected of this entry point.
    Free,
    /// They are those expected, and there is no loop over rows.
    Exact,
    /// They are those expected of this many rows one after the other.
    Rows(usize),
    /// They are not those expected of any number of rows.
    Wrong,
}

impl EntryPoint {
    /// What names an entry point.
    pub fn key(&self) -> (&str, &str, Option<usize>) {
        (&self.machine, &self.block, self.width)
    }
    /// All multiply instructions.
    pub fn multiplies(&self) -> usize {
        self.low + self.high + self.fused + self.scalar + self.wide
    }
    /// The width in tables; `-` where there is none.
    pub fn width_text(&self) -> String {
        self.width.map_or("-".into(), |width| width.to_string())
    }
    /// For messages: `avx512-fma mac_rows<10>`.
    pub fn name(&self) -> String {
        let width = self.width.map_or(String::new(), |width| format!("<{width}>"));
        format!("{} {}{width}", self.machine, self.block)
    }
}

/// The bytes of every function in an object file, by symbol.
pub fn sizes(object: &[u8]) -> Result<HashMap<String, usize>> {
    let file = object::File::parse(object).context("not an object file")?;
    let size = |symbol: object::Symbol| Some((symbol.name().ok()?.to_owned(), symbol.size() as usize));
    Ok(file.symbols().filter_map(size).collect())
}

/// All entry points of the assembly, with the sizes that the object file has.
pub fn entry_points(assembly: &Assembly, sizes: &HashMap<String, usize>) -> Result<Vec<EntryPoint>> {
    let mut entry_points = Vec::new();
    let mut add = |symbol: &str, function: &Function| -> Result<()> {
        if let Some(names) = entry_point_names(symbol) {
            let entry_point = measure(names, function).with_context(|| format!("in {symbol}"))?;
            let bytes = sizes.get(symbol).or_else(|| sizes.get(function.symbol)).copied();
            entry_points.push(EntryPoint {
                bytes: bytes.with_context(|| format!("{symbol} is not in the object file"))?,
                ..entry_point
            });
        }
        Ok(())
    };
    let functions: HashMap<_, _> =
        assembly.functions.iter().map(|function| (function.symbol, function)).collect();
    for function in &assembly.functions {
        add(function.symbol, function)?;
    }
    for (symbol, same_as) in assembly.aliases.iter().filter(|(symbol, _)| entry_point_names(symbol).is_some())
    {
        let function =
            functions.get(same_as).with_context(|| format!("{symbol} is {same_as}, which is not there"))?;
        add(symbol, function)?;
    }
    Ok(entry_points)
}

pub type Names = (String, String, Option<usize>);

/// The machine, block and width of `zariz_machines::MACHINE::entry_points::BLOCK` or `…::BLOCK::<WIDTH>`;
/// machines of batches are named without their folder, or that of a field on them. Of RSAZ's
/// `…::BLOCK::<RADIX, FRIENDLY, WIDTH>`, radix and quotients become part of the block's name; of numbers
/// across vectors, `…::BLOCK::<NUMBERS, VECTORS>`, the vectors do.
pub fn entry_point_names(symbol: &str) -> Option<Names> {
    let name = format!("{:#}", demangle(symbol));
    let (machine, block) = name.strip_prefix("zariz_machines::")?.rsplit_once("::entry_points::")?;
    let folder =
        ["batch::", "bls12_381::entry_points::"].into_iter().find(|folder| machine.starts_with(folder));
    let machine = &machine[folder.map_or(0, str::len)..];
    let (block, arguments) = match block.split_once("::<") {
        Some((block, arguments)) => (block, arguments.strip_suffix('>')?.split(", ").collect()),
        None => (block, Vec::new()),
    };
    let (block, width) = match arguments[..] {
        [] => (block.to_owned(), None),
        [width] => (block.to_owned(), Some(width.parse().ok()?)),
        [numbers, vectors] => (format!("{block}_{vectors}"), Some(numbers.parse().ok()?)),
        [radix, friendly, width] => {
            let quotients = if friendly == "true" { "friendly" } else { "chained" };
            (format!("{block}_{radix}_{quotients}"), Some(width.parse().ok()?))
        }
        _ => return None,
    };
    (!block.contains("::")).then(|| (machine.replace("::", "-").replace('_', "-"), block, width))
}

/// An entry point may call these: they end it, with a message.
const PANICS: &[&str] = &[
    "core::panicking::",
    "core::slice::index::",
    "core::slice::copy_from_slice_impl::len_mismatch_fail",
    "core::option::expect_failed",
    "core::option::unwrap_failed",
    "core::result::unwrap_failed",
];

/// Whether a function, by its demangled name, ends an entry point with a message.
pub fn is_panic(callee: &str) -> bool {
    PANICS.iter().any(|panic| callee.starts_with(panic))
}

fn measure((machine, block, width): Names, function: &Function) -> Result<EntryPoint> {
    let body = &function.instructions[..];
    let back = jumps_back(function);
    let hot = back.iter().map(|(from, to)| to - from + 1).max().unwrap_or(body.len());
    let loops = loops(function, &back);
    let mut entry_point =
        EntryPoint { machine, block, width, instructions: body.len(), hot, loops, ..EntryPoint::default() };
    let frame_pointer = body.iter().any(|i| i.mnemonic == "movq" && i.operands == "%rsp, %rbp");
    for &Instruction { mnemonic, operands, .. } in body {
        match mnemonic {
            "vpmadd52luq" => entry_point.low += 1,
            "vpmadd52huq" => entry_point.high += 1,
            "mulq" | "mulxq" => entry_point.scalar += 1,
            "vpmuludq" => entry_point.wide += 1,
            _ if is_fused(mnemonic) => entry_point.fused += 1,
            _ if mnemonic.starts_with("vpgather") || mnemonic.starts_with("vgather") => {
                entry_point.gathers += 1
            }
            "subq" | "addq" => entry_point.frame += reserved(mnemonic, operands)?,
            _ => {}
        }
        if let Some(callee) = callee(mnemonic, operands)
            && !is_panic(&callee)
        {
            entry_point.calls.insert(callee);
        }
        let last = split(operands).pop().unwrap_or("");
        let to_memory = last.contains('(') && last.contains("{%k");
        entry_point.masked_stores +=
            usize::from(to_memory || mnemonic.starts_with("vmaskmov") && last.contains('('));
        if ["%xmm", "%ymm", "%zmm"].iter().any(|register| operands.contains(register)) {
            let on_stack =
                |operand: &&str| operand.contains("(%rsp") || (frame_pointer && operand.contains("(%rbp"));
            let operands = split(operands);
            match operands.iter().position(on_stack) {
                Some(at) if at + 1 == operands.len() => entry_point.stores += 1,
                Some(_) => entry_point.loads += 1,
                None => {}
            }
        }
    }
    Ok(entry_point)
}

/// The jumps to where the code has been: for each, the first and the last instruction of what is repeated.
fn jumps_back(function: &Function) -> Vec<(usize, usize)> {
    let jumps = function.instructions.iter().enumerate().filter(|(_, i)| i.mnemonic.starts_with('j'));
    let back = |(at, jump): (usize, &Instruction)| {
        let &to = function.labels.get(jump.operands)?;
        (to <= at).then_some((to, at))
    };
    jumps.filter_map(back).collect()
}

/// Of the loops `all`, the innermost ones that multiply by VPMULUDQ: how often, and how much vector
/// arithmetic each has in all.
fn loops(function: &Function, all: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let within = |a: &(usize, usize), b: &(usize, usize)| a != b && b.0 <= a.0 && a.1 <= b.1;
    let innermost = all.iter().filter(|&outer| !all.iter().any(|inner| within(inner, outer)));
    let counted = innermost.map(|&(from, to)| {
        let inside = &function.instructions[from..=to];
        let wide = inside.iter().filter(|i| i.mnemonic == "vpmuludq").count();
        (wide, inside.iter().filter(|i| is_vector_arithmetic(i)).count())
    });
    counted.filter(|&(wide, _)| wide > 0).collect()
}

/// Whether an instruction computes with vectors: not one that moves, or broadcasts from memory.
fn is_vector_arithmetic(instruction: &Instruction) -> bool {
    let Instruction { mnemonic, operands, .. } = instruction;
    let moves = mnemonic.starts_with("vmov") || mnemonic.starts_with("vpbroadcast") && operands.contains('(');
    mnemonic.starts_with('v') && !moves && *mnemonic != "vzeroupper"
}

/// VFMADD…PD, VFNMSUB…PD and the like.
fn is_fused(mnemonic: &str) -> bool {
    let after = mnemonic.strip_prefix("vfn").or(mnemonic.strip_prefix("vf"));
    after.is_some_and(|after| after.starts_with('m') && after.ends_with("pd"))
}

/// The bytes by which an instruction moves the stack pointer down.
fn reserved(mnemonic: &str, operands: &str) -> Result<usize> {
    let Some(bytes) = operands.strip_prefix('$').and_then(|operands| operands.strip_suffix(", %rsp")) else {
        return Ok(0);
    };
    let bytes: isize = match bytes.parse() {
        Ok(bytes) => bytes,
        Err(_) => bail!("the stack is moved by {bytes:?}, which is not a number"),
    };
    Ok(if mnemonic == "subq" { bytes } else { -bytes }.max(0) as usize)
}

/// The function that an instruction calls or leaves for; `None` for other instructions and for jumps inside.
pub fn callee(mnemonic: &str, operands: &str) -> Option<String> {
    let call = mnemonic.starts_with("call");
    if !call && !mnemonic.starts_with('j') {
        return None;
    }
    let target = operands.trim_start_matches('*');
    let symbol = target.split(['@', '(']).next().unwrap_or("");
    // A jump to a local label, or through a register or a table of local labels, stays inside.
    if !call && (symbol.is_empty() || symbol.starts_with(['.', '%'])) {
        return None;
    }
    Some(if symbol.is_empty() || symbol.starts_with('%') {
        target.to_owned()
    } else {
        format!("{:#}", demangle(symbol))
    })
}

/// Operands at the commas outside parentheses.
pub fn split(operands: &str) -> Vec<&str> {
    let mut depth = 0;
    let comma = |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    };
    operands.split(comma).map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codegen::assembly;

    const HEAD: &str = "\t.file\t\"x\"\n\t.section\t.text.f,\"ax\",@progbits\n";

    /// Each of 17 bytes.
    fn all(text: &str) -> Vec<EntryPoint> {
        let assembly = assembly::parse(text);
        let sizes = assembly.functions.iter().map(|function| (function.symbol.to_owned(), 17)).collect();
        entry_points(&assembly, &sizes).unwrap()
    }

    fn one(block: &str, body: &str) -> EntryPoint {
        let symbol = format!(
            "_RNvNtNtNtCshFnAggahQMu_14zariz_machines5batch10avx512_fma12entry_points{}{block}",
            block.len()
        );
        let text = format!(
            "{HEAD}\t.type\t{symbol},@function\n{symbol}:\n\t.cfi_startproc\n{body}.Lfunc_end0:\n\tjunk\n"
        );
        let mut entry_points = all(&text);
        assert_eq!(entry_points.len(), 1);
        entry_points.remove(0)
    }

    #[test]
    fn stores_under_a_mask_are_seen_and_loads_are_not() {
        let store = one("f", "\tvmovapd\t%zmm1, -64(%rdi,%r8) {%k1}\n\tvmaskmovpd\t%ymm0, %ymm1, (%rdi)\n");
        assert_eq!(store.masked_stores, 2);
        let load = one(
            "f",
            "\tvmovapd\t(%rdi), %zmm1 {%k1}\n\tvmovapd\t%zmm1, (%rdi)\n\tvmovapd\t%zmm1, %zmm2 {%k2}\n",
        );
        assert_eq!(load.masked_stores, 0);
    }

    #[test]
    fn arithmetic_is_counted_in_the_innermost_loops() {
        let entry_point = one(
            "amm",
            "\tvpmuludq\t%zmm1, %zmm2, %zmm3\n.LBB0_1:\n\tvpxor\t%xmm0, %xmm0, %xmm0\n.LBB0_2:\n\
             \tvpbroadcastd\t(%rdi), %zmm0\n\tvpmuludq\t%zmm1, %zmm2, %zmm3\n\tvpbroadcastd\t%xmm3, %zmm3\n\
             \tvmovdqa64\t%zmm3, %zmm4\n\tjne\t.LBB0_2\n\tjne\t.LBB0_1\n\tjmp\t.LBB0_3\n.LBB0_3:\n",
        );
        assert_eq!((entry_point.wide, entry_point.loops), (2, vec![(1, 2)]));
    }

    #[test]
    fn entry_points_are_known_by_name() {
        let name = |symbol| entry_point_names(symbol);
        let tiled =
            "_RINvNtNtNtCshFnAggahQMu_14zariz_machines5batch10avx512_fma12entry_points8mac_rowsKj14_EB8_";
        assert_eq!(name(tiled), Some(("avx512-fma".into(), "mac_rows".into(), Some(20))));
        let of_rsaz =
            "_RINvNtNtNtCshFnAggahQMu_14zariz_machines4rsaz4avx212entry_points6squareKm1d_Kb1_Kj5_EB8_";
        assert_eq!(name(of_rsaz), Some(("rsaz-avx2".into(), "square_29_friendly".into(), Some(5))));
        let plain = "_RNvNtNtNtNtCshFnAggahQMu_14zariz_machines5batch8portable3one12entry_points5splat";
        assert_eq!(name(plain), Some(("portable-one".into(), "splat".into(), None)));
        let field = "_RNvNtNtNtNtCshFnAggahQMu_14zariz_machines9bls12_38112entry_points8avx2_fma\
                     12entry_points6fe_mul";
        assert_eq!(name(field), Some(("avx2-fma".into(), "fe_mul".into(), None)));
        assert_eq!(name("_RNvNtCsgEmfK2I1SDS_4core6option13expect_failed"), None);
        assert_eq!(name("memcpy"), None);
    }

    #[test]
    fn multiplications_are_counted_by_kind() {
        let entry_point = one(
            "splat",
            "\tvpmadd52luq\t%zmm1, %zmm2, %zmm3\n\tvpmadd52huq\t64(%rsi), %zmm2, %zmm3\n.LBB0_1:\n\
             \tvfmadd213pd\t{rz-sae}, %zmm12, %zmm6, %zmm15\n\tvfnmadd231pd\t%ymm1, %ymm2, %ymm3 # vfmadd231pd\n\
             \tvfmadd231ps\t%ymm1, %ymm2, %ymm3\n\tmulxq\t%rax, %rcx, %rdx\n",
        );
        assert_eq!((entry_point.low, entry_point.high, entry_point.fused, entry_point.scalar), (1, 1, 2, 1));
        assert_eq!((entry_point.multiplies(), entry_point.instructions), (5, 6));
    }

    #[test]
    fn stack_is_counted_by_direction() {
        let entry_point = one(
            "splat",
            "\tsubq\t$320, %rsp\n\tvmovups\t%zmm1, 64(%rsp)\n\tvmovdqa64\t(%rsp,%rax,8), %zmm2\n\
             \tvpaddq\t-64(%rsp), %zmm1, %zmm2\n\tvmovups\t%ymm1, 8(%rbp)\n\tmovq\t%rax, 8(%rsp)\n\
             \tvmovups\t%zmm1, 64(%rdi,%rcx)\n\taddq\t$-128, %rsp\n\taddq\t$448, %rsp\n",
        );
        assert_eq!((entry_point.stores, entry_point.loads, entry_point.frame), (1, 2, 448));
        let entry_point = one("splat", "\tmovq\t%rsp, %rbp\n\tvmovups\t%ymm1, -8(%rbp)\n");
        assert_eq!((entry_point.stores, entry_point.loads), (1, 0));
    }

    #[test]
    fn calls_are_found_and_panics_are_not_calls() {
        let entry_point = one(
            "splat",
            "\tcallq\t*_RNvNtCsgEmfK2I1SDS_4core6option13expect_failed@GOTPCREL(%rip)\n\tcallq\t*memcpy@GOTPCREL(%rip)\n\
             \tjne\t.LBB0_1\n\tjmpq\t*%rax\n\tcallq\t*%rax\n\tjmp\tmemset\n\tjmpq\t*memmove@GOTPCREL(%rip)\n",
        );
        let calls: Vec<&str> = entry_point.calls.iter().map(String::as_str).collect();
        assert_eq!(calls, ["%rax", "memcpy", "memmove", "memset"]);
    }

    #[test]
    fn the_largest_loop_is_hot() {
        let straight = one("f", "\tnop\n\tjmp\t.LBB0_1\n.LBB0_1:\n\tretq\n");
        assert_eq!((straight.hot, straight.bytes), (3, 17));
        // An inner loop of two instructions, an outer one of four.
        let nested =
            one("f", "\tnop\n.LBB0_1:\n\tnop\n.LBB0_2:\n\tnop\n\tjne\t.LBB0_2\n\tjne\t.LBB0_1\n\tretq\n");
        assert_eq!((nested.hot, nested.instructions), (4, 6));
    }

    #[test]
    fn merged_functions_count_for_both() {
        let a = "_RNvNtNtNtCshFnAggahQMu_14zariz_machines5batch10avx512_fma12entry_points5splat";
        let b = "_RNvNtNtNtCshFnAggahQMu_14zariz_machines5batch11avx512_ifma12entry_points5splat";
        let text = format!("{a}:\n\tvzeroupper\n\tretq\n.Lfunc_end0:\n\t.set {b}, {a}\n");
        let entry_points = all(&text);
        assert_eq!(entry_points.len(), 2);
        assert_eq!((&*entry_points[1].machine, entry_points[1].instructions), ("avx512-ifma", 2));
    }
}

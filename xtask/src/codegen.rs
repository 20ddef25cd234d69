//! The machine code of the entry points: the functions of `zariz-machines` into which kernels are compiled.
//!
//! `zariz-machines` is compiled to assembly. Each entry point (machine × block × tile width) may call nothing
//! but panics, must keep its columns in registers, and must have exactly the multiply instructions of its
//! algorithm. No branch, address or masked access in it may depend on a secret. Its hot loop, or its code,
//! must fit where processors keep it ready. Every function, also in assembly, must have unwind tables.

mod assembly;
mod budget;
mod carry;
mod entry_points;
mod expect;
mod limits;
mod rsaz;
mod taint;
mod unwind;

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{cargo, command, output, root};
use budget::Budget;
use entry_points::{EntryPoint, Fit};

const BUDGET: &str = "xtask/codegen-budget.txt";

/// Prints what every entry point became, then checks.
pub fn report() -> Result<()> {
    let Some(entry_points) = compile()? else { return Ok(()) };
    table(&entry_points);
    compare(&entry_points)
}

/// Checks, without the table.
pub fn check() -> Result<()> {
    match compile()? {
        Some(entry_points) => compare(&entry_points),
        None => Ok(()),
    }
}

/// Records what every entry point became, unless it is wrong by itself.
pub fn bless() -> Result<()> {
    let entry_points = compile()?.with_context(|| format!("{BUDGET} can only be written on x86-64"))?;
    table(&entry_points);
    refuse(entry_points.iter().flat_map(problems).collect())?;
    fs::write(root().join(BUDGET), Budget::new(compiler()?, &entry_points).to_text())
        .with_context(|| format!("cannot write {BUDGET}"))?;
    println!("wrote {BUDGET}: {} entry points", entry_points.len());
    Ok(())
}

/// What is wrong with an entry point, without regard to what was recorded.
fn problems(entry_point: &EntryPoint) -> Vec<String> {
    [expect::problems(entry_point), limits::problems(entry_point)].concat()
}

fn compare(entry_points: &[EntryPoint]) -> Result<()> {
    let recorded = fs::read_to_string(root().join(BUDGET))
        .with_context(|| format!("cannot read {BUDGET} (`cargo xtask codegen --bless` writes it)"))
        .and_then(|text| Budget::parse(&text).with_context(|| format!("{BUDGET} is damaged")));
    let mut problems: Vec<String> = entry_points.iter().flat_map(problems).collect();
    match recorded {
        Ok(budget) => {
            let compiler = compiler()?;
            let same = budget.compiler == compiler;
            if !same {
                println!(
                    "{BUDGET} was recorded with {}; this is {compiler}: spills have some slack",
                    budget.compiler
                );
            }
            let (worse, better) = budget.compare(entry_points, same);
            problems.extend(worse);
            if better > 0 {
                println!(
                    "{better} entry points are better than recorded; `cargo xtask codegen --bless` holds them to it"
                );
            }
        }
        Err(error) => problems.push(format!("  {error:#}")),
    }
    refuse(problems)?;
    carry::check_costs(entry_points)?;
    println!("{}", limits::closest(entry_points));
    let spilling =
        entry_points.iter().filter(|entry_point| entry_point.stores + entry_point.loads > 0).count();
    println!(
        "{} entry points as they should be; {spilling} use the stack for vectors, none more than recorded",
        entry_points.len()
    );
    Ok(())
}

const ADVICE: &str = "\
What to do (`cargo xtask codegen` shows every entry point; docs/notes/code-generation.md explains):
  calls memcpy, memmove, memset: an array of accumulators lives in memory. Index it by constants only; shift it by writing
    each sum one place down.
  calls anything else: it was not inlined. Blocks and operations must be #[inline(always)], without closures.
  too few multiplications: a loop over columns was not unrolled. Narrow the tiles in crates/machines, or write it out. If
    the algorithm changed, so must its formula in xtask/src/codegen/expect.rs.
  more stores, loads or bytes of stack: more columns or hoisted operands are alive than there are registers.
  too many µops or bytes: what is unrolled does not fit where processors keep it. Narrow the tiles in crates/machines.
  recorded or not: if the change is meant, `cargo xtask codegen --bless` records it (calls and wrong counts and sizes never are).";

fn refuse(problems: Vec<String>) -> Result<()> {
    if !problems.is_empty() {
        bail!("the compiled kernels have {} faults:\n{}\n{ADVICE}", problems.len(), problems.join("\n"));
    }
    Ok(())
}

fn table(entry_points: &[EntryPoint]) {
    let line = |cells: [&str; 11]| {
        let [machine, block, width, rest @ ..] = cells;
        let rest: Vec<String> = rest.iter().map(|cell| format!("{cell:>11}")).collect();
        println!("{machine:<15} {block:<25} {width:>5}{}", rest.join(""));
    };
    line([
        "machine",
        "block",
        "width",
        "multiplies",
        "unrolled",
        "stores",
        "loads",
        "frame",
        "instrs",
        "hot",
        "bytes",
    ]);
    for entry_point in entry_points {
        let unrolled = match expect::fit(entry_point) {
            Fit::Rows(rows) => format!("×{rows}"),
            Fit::Wrong => "wrong".into(),
            Fit::Exact | Fit::Free => String::new(),
        };
        let [multiplies, stores, loads, frame, instructions, hot, bytes] = [
            entry_point.multiplies(),
            entry_point.stores,
            entry_point.loads,
            entry_point.frame,
            entry_point.instructions,
            entry_point.hot,
            entry_point.bytes,
        ]
        .map(|n| n.to_string());
        line([
            &entry_point.machine,
            &entry_point.block,
            &entry_point.width_text(),
            &multiplies,
            &unrolled,
            &stores,
            &loads,
            &frame,
            &instructions,
            &hot,
            &bytes,
        ]);
    }
    println!();
    println!("stores, loads: vector instructions that write or read the stack. frame: bytes of stack.");
    println!("hot: instructions of the largest loop, or of the whole entry point. bytes: of code.");
    println!("unrolled: how many rows the code has one after the other.\n");
}

/// Every entry point as compiled now, sorted; `None` where there are no vector machines.
fn compile() -> Result<Option<Vec<EntryPoint>>> {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: the vector machines need x86-64");
        return Ok(None);
    }
    let (file, text) = compiled(None)?;
    let assembly = assembly::parse(&text);
    unwind::check(&assembly)?;
    leaks(&assembly)?;
    let object = file.with_extension("o");
    let sizes = fs::read(&object).with_context(|| format!("cannot read {}", object.display()))?;
    let mut entry_points = entry_points::entry_points(&assembly, &entry_points::sizes(&sizes)?)?;
    entry_points.sort_by(|a, b| a.key().cmp(&b.key()));
    Ok(Some(entry_points))
}

/// Checks that nothing depends on a secret in the code that the entry points become for certain processors,
/// as with `-C target-cpu`. Instruction counts differ there, and are not compared.
pub fn for_processors(names: &[&str]) -> Result<()> {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: the vector machines need x86-64");
        return Ok(());
    }
    for name in names {
        let (_, text) = compiled(Some(name))?;
        print!("{name}: ");
        leaks(&assembly::parse(&text)).with_context(|| format!("compiled for {name}"))?;
    }
    Ok(())
}

fn leaks(assembly: &assembly::Assembly) -> Result<()> {
    let count = taint::check(assembly)?;
    if count == 0 {
        bail!(
            "there are no entry points: has `entry_points!` in crates/machines/src/batch/entry_points.rs changed its names?"
        );
    }
    println!(
        "{count} entry points: no branch, address, division or mask of memory depends on what they load"
    );
    Ok(())
}

/// Compiles `zariz-machines` as a release does, or for a certain processor; where the assembly lies, and its
/// text.
fn compiled(processor: Option<&str>) -> Result<(PathBuf, String)> {
    let target = root().join("target/codegen");
    let mut cargo = cargo(&[
        "rustc",
        "-p",
        "zariz-machines",
        "--release",
        "--lib",
        "--features=papers,bls12-381",
        "--locked",
        "--quiet",
    ]);
    cargo.args(["--message-format=json-render-diagnostics", "--target-dir"]).arg(&target);
    cargo.args(["--", "--emit=asm,obj", "-Ccodegen-units=1", "-Cdebuginfo=0"]);
    // Of this crate alone, which has all entry points: build scripts of others must run here.
    cargo.args(processor.map(|name| format!("-Ctarget-cpu={name}")));
    cargo.env_remove("CARGO_ENCODED_RUSTFLAGS").env("RUSTFLAGS", "-Csymbol-mangling-version=v0");
    for message in output(cargo)?.lines() {
        let message: serde_json::Value =
            serde_json::from_str(message).context("cargo's messages are not JSON")?;
        if message["reason"] != "compiler-artifact" || message["target"]["name"] != "zariz_machines" {
            continue;
        }
        for file in message["filenames"].as_array().into_iter().flatten().filter_map(|file| file.as_str()) {
            // deps/libzariz_machines-HASH.rmeta is beside deps/zariz_machines-HASH.s.
            let file = Path::new(file);
            let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            if let (Some("rmeta"), Some(name)) =
                (file.extension().and_then(|e| e.to_str()), stem.strip_prefix("lib"))
            {
                let assembly = file.with_file_name(format!("{name}.s"));
                if assembly.exists() {
                    let text = fs::read_to_string(&assembly);
                    let text = text.with_context(|| format!("cannot read {}", assembly.display()))?;
                    return Ok((assembly, text));
                }
            }
        }
    }
    bail!("cargo left no assembly of zariz-machines; remove {} and try again", target.display())
}

fn compiler() -> Result<String> {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    Ok(output(command(&rustc, &["--version"]))?.trim().to_owned())
}

#!/usr/bin/env python3
"""Cycles of modular products on 64-bit Arm, by LLVM's models of processors: zariz's and others'.

Each operation runs once under qemu, which writes down the instructions that are executed. llvm-mca then
computes their cycles on each processor. docs/notes/arm.md has the tables and says what the models leave out.

    cargo xtask test arm      # compiles target/arm/target/aarch64-unknown-linux-gnu/debug/libzariz_capi.a
    lab/model/arm.py LIBRARY TRACED AWS_LC [LIMBS ...]      # the tables of docs/notes/arm.md
    lab/model/arm.py --costs PROCESSOR TRACED               # rows for crates/zariz/src/cost/table

LIBRARY is that library. TRACED is the example `traced` of zariz-machines, statically linked: compiled by

    RUSTFLAGS="-Ctarget-feature=+crt-static -Crelocation-model=static" cargo build --release \\
        -p zariz-machines --example traced --target aarch64-unknown-linux-gnu

AWS_LC is a source tree of AWS-LC, such as `aws-lc` in the crate aws-lc-sys: its armv8-mont.S is OpenSSL's
code too. It is compiled into a temporary folder. llvm-mca is of LLVM 19.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
PROCESSORS = ["neoverse-n1", "neoverse-v1", "neoverse-v2", "apple-m1"]
MCA = "llvm-mca-19"
TOOLS = "aarch64-linux-gnu-"
S2N = [
    "fastmul/bignum_kmul_16_32",
    "fastmul/bignum_kmul_32_64",
    "fastmul/bignum_ksqr_16_32",
    "fastmul/bignum_ksqr_32_64",
    "fastmul/bignum_emontredc_8n",
    "generic/bignum_ge",
    "generic/bignum_optsub",
]
OPERATIONS = [("square and reduction", "ams"), ("product and reduction", "amm")]
CODE = [
    ("zariz, `scalar`", "zariz"),
    ("zariz, `rsaz`", "rsaz"),
    ("OpenSSL, AWS-LC", "openssl"),
    ("AWS-LC where multipliers are slow", "s2n"),
]
# Lengths of crates/zariz/src/cost/table.rs. Above the longest that is traced, costs grow as squares.
LENGTHS = [256, 512, 1024, 1536, 2048, 3072, 4096, 8192, 16384]
LONGEST = 4096
MULTIPLY = ("mul x", "umulh x", "umlal", "umull")


def output(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{command[0]} fails:\n{done.stderr}")
    return done.stdout


def symbols_of(file):
    listed = subprocess.run([TOOLS + "nm", file], capture_output=True, text=True).stdout
    lines = (line.split() for line in listed.splitlines())
    return {parts[2]: int(parts[0], 16) for parts in lines if len(parts) == 3}


def compiled(folder, library, aws):
    """The C program with the assembly of zariz and of others."""
    sources = [aws / "generated-src/linux-aarch64/crypto/fipsmodule/armv8-mont.S"]
    bignum = aws / "third_party/s2n-bignum/s2n-bignum-imported"
    sources += [bignum / f"arm/{name}.S" for name in S2N]
    objects = []
    for source in sources:
        objects.append(folder / f"{source.stem}.o")
        output(TOOLS + "gcc", "-c", f"-I{aws}/include", f"-I{bignum}/include", source, "-o", objects[-1])
    symbols = symbols_of(library)
    names = {}
    for operation in ["mul", "sqr", "reduce"]:
        path = f"a64{len(operation)}{operation}{len(operation)}{operation}17h"
        names[operation] = next(name for name in symbols if path in name)
    defined = [f"-Wl,-u,{name},--defsym=a64_{operation}={name}" for operation, name in names.items()]
    inputs = [HERE / "operations.c", *objects, library, *defined]
    output(TOOLS + "gcc", "-static", "-O2", *inputs, "-o", folder / "operations", "-lm")
    return folder / "operations"


class Program:
    """A program with operations, its instructions and its symbols."""

    def __init__(self, path):
        self.path = path
        self.symbols = symbols_of(path)
        self.code = {}
        for line in output(TOOLS + "objdump", "-d", "--no-show-raw-insn", path).splitlines():
            if found := re.match(r"\s*([0-9a-f]+):\t(.*)$", line):
                text = found[2].split("//")[0].split("<")[0].strip().replace("\t", " ")
                self.code[int(found[1], 16)] = self.readable(text)

    @staticmethod
    def readable(text):
        """The instruction as llvm-mca reads it: places in the program have a name."""
        name = text.split()[0]
        if name in ("b", "bl") or name.startswith("b."):
            return f"{name} place"
        if name in ("cbz", "cbnz", "adr", "adrp"):
            return text.split(",")[0] + ", place"
        if name in ("tbz", "tbnz"):
            return re.sub(r",[^,]*$", ", place", text)
        return text

    def executed(self, folder, *arguments):
        """The instructions of an operation, in order, and what the program says."""
        log = folder / "log"
        logged = ["-cpu", "neoverse-n1", "-singlestep", "-d", "exec,nochain", "-D", log]
        result = output("qemu-aarch64-static", *logged, self.path, *map(str, arguments))
        text, inside = [], False
        for line in open(log):
            if not (found := re.search(r"\[[0-9a-f]+/([0-9a-f]+)/", line)):
                continue
            address = int(found[1], 16)
            if address == self.symbols["begin"]:
                text, inside = [], True
            elif address == self.symbols["finish"]:
                break
            elif inside:
                text.append(self.code[address])
        # Without the end of `begin`.
        return text[2:], result


def cycles(text, processor):
    """Cycles of a repetition, when others come before and behind."""

    def total(iterations):
        options = [f"-mcpu={processor}", f"-iterations={iterations}", "-mtriple=aarch64-linux-gnu"]
        options += ["-call-latency=1", "-skip-unsupported-instructions=lack-sched"]
        options += ["-instruction-info=0", "-resource-pressure=0"]
        said = output(MCA, *options, input="\n".join(text) + "\n")
        return int(re.search(r"Total Cycles:\s+(\d+)", said)[1])

    return round((total(6) - total(2)) / 4)


def costs(processor, traced, folder):
    """Rows of the cost table: cycles of a plain product, a multiplication and a squaring, at each length."""
    for engine in ["rsaz", "scalar"]:
        rows = []
        for bits in LENGTHS:
            fits = min(bits, LONGEST)
            found = [traced.executed(folder, engine, name, fits)[0] for name in ["product", "amm", "ams"]]
            rows.append([cycles(text, processor) * (bits // fits) ** 2 for text in found])
        print(f"    EngineCosts {{ engine: Engine::{engine.title()}, numbers: 1, costs: {rows} }},")


def table(bits, what, operation, codes, folder):
    head = [f"{bits} bits: {what}", "multiplications", "instructions", *PROCESSORS]
    print(f"\n| {' | '.join(head)} |")
    print("|---|" + "---:|" * (2 + len(PROCESSORS)))
    results = set()
    for name, code in CODE:
        if code == "s2n" and bits not in (1024, 2048):
            continue
        program, traced = codes
        if code == "rsaz":
            # Another form of numbers: the result is compared with that of the engine `scalar`.
            text, result = traced.executed(folder, code, operation, bits)
            if result != traced.executed(folder, "scalar", operation, bits)[1]:
                sys.exit("the engines' results differ")
        else:
            text, result = program.executed(folder, f"{code}_{operation}", bits // 64)
            results.add(result)
        products = sum(line.startswith(MULTIPLY) for line in text)
        figures = " | ".join(str(cycles(text, processor)) for processor in PROCESSORS)
        print(f"| {name} | {products} | {len(text)} | {figures} |", flush=True)
    if len(results) != 1:
        sys.exit("the results differ")


def main():
    arguments = sys.argv[1:]
    if len(arguments) < 3:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if arguments[0] == "--costs":
            return costs(arguments[1], Program(pathlib.Path(arguments[2]).resolve()), folder)
        library, traced, aws = (pathlib.Path(argument).resolve() for argument in arguments[:3])
        codes = Program(compiled(folder, library, aws)), Program(traced)
        for limbs in map(int, arguments[3:] or ["16", "32"]):
            for what, operation in OPERATIONS:
                table(64 * limbs, what, operation, codes, folder)


if __name__ == "__main__":
    main()

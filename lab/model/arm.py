#!/usr/bin/env python3
"""Cycles of modular products on 64-bit Arm, by LLVM's models of processors: zariz's and others'.

Each operation runs once under qemu, which writes down the instructions that are executed. llvm-mca then
computes their cycles on each processor. docs/notes/arm.md has the tables and says what the models leave out.

    cargo xtask test arm      # compiles target/arm/target/aarch64-unknown-linux-gnu/debug/libzariz_capi.a
    lab/model/arm.py target/arm/target/aarch64-unknown-linux-gnu/debug/libzariz_capi.a AWS_LC [LIMBS ...]

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
CODE = [("zariz", "zariz"), ("OpenSSL, AWS-LC", "openssl"), ("AWS-LC where multipliers are slow", "s2n")]



def output(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{command[0]} fails:\n{done.stderr}")
    return done.stdout


class Program:
    """The C program with all operations, its instructions and its symbols."""

    def __init__(self, folder, library, aws):
        sources = [aws / "generated-src/linux-aarch64/crypto/fipsmodule/armv8-mont.S"]
        bignum = aws / "third_party/s2n-bignum/s2n-bignum-imported"
        sources += [bignum / f"arm/{name}.S" for name in S2N]
        objects = []
        for source in sources:
            objects.append(folder / f"{source.stem}.o")
            output(TOOLS + "gcc", "-c", f"-I{aws}/include", f"-I{bignum}/include", source, "-o", objects[-1])
        symbols = self.symbols_of(library)
        names = {}
        for operation in ["mul", "sqr", "reduce"]:
            path = f"a64{len(operation)}{operation}{len(operation)}{operation}17h"
            names[operation] = next(name for name in symbols if path in name)
        defined = [f"-Wl,-u,{name},--defsym=a64_{operation}={name}" for operation, name in names.items()]
        self.path = folder / "operations"
        inputs = [HERE / "operations.c", *objects, library, *defined]
        output(TOOLS + "gcc", "-static", "-O2", *inputs, "-o", self.path, "-lm")
        self.symbols = self.symbols_of(self.path)
        self.code = {}
        for line in output(TOOLS + "objdump", "-d", "--no-show-raw-insn", self.path).splitlines():
            if found := re.match(r"\s*([0-9a-f]+):\t(.*)$", line):
                text = found[2].split("//")[0].split("<")[0].strip().replace("\t", " ")
                self.code[int(found[1], 16)] = self.readable(text)

    @staticmethod
    def symbols_of(file):
        listed = subprocess.run([TOOLS + "nm", file], capture_output=True, text=True).stdout
        lines = (line.split() for line in listed.splitlines())
        return {parts[2]: int(parts[0], 16) for parts in lines if len(parts) == 3}

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

    def executed(self, operation, limbs, folder):
        """The instructions of an operation, in order."""
        log = folder / "log"
        logged = ["-singlestep", "-d", "exec,nochain", "-D", log]
        result = output("qemu-aarch64-static", *logged, self.path, operation, str(limbs))
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
        options += ["-call-latency=1", "-instruction-info=0", "-resource-pressure=0"]
        said = output(MCA, *options, input="\n".join(text) + "\n")
        return int(re.search(r"Total Cycles:\s+(\d+)", said)[1])

    return round((total(6) - total(2)) / 4)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    library, aws = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = Program(folder, library, aws)
        for limbs in map(int, sys.argv[3:] or ["16", "32"]):
            for what, operation in OPERATIONS:
                head = [f"{64 * limbs} bits: {what}", "MUL and UMULH", "instructions", *PROCESSORS]
                print(f"\n| {' | '.join(head)} |")
                print("|---|" + "---:|" * (2 + len(PROCESSORS)))
                results = set()
                for name, code in CODE:
                    if code == "s2n" and limbs not in (16, 32):
                        continue
                    text, result = program.executed(f"{code}_{operation}", limbs, folder)
                    results.add(result)
                    products = sum(line.startswith(("mul x", "umulh x")) for line in text)
                    figures = " | ".join(str(cycles(text, processor)) for processor in PROCESSORS)
                    print(f"| {name} | {products} | {len(text)} | {figures} |", flush=True)
                if len(results) != 1:
                    sys.exit("the results differ")


if __name__ == "__main__":
    main()

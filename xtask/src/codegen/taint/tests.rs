//! Small functions with a leak in each, and without.

use anyhow::Result;

use super::arguments::{Argument, Entry};
use super::flow::follow;
use crate::codegen::assembly::parse;

/// Follows a function of two slices, a number, and a structure with public bytes at 8.
fn followed(body: &str) -> Result<()> {
    use Argument::{Count, Record, Slice};
    let text = format!(
        "f:\n{body}\tretq\n.Lfunc_end0:\n.LJTI0_0:\n\t.long\t.LBB0_1-.LJTI0_0\n\t.long\t.LBB0_2-.LJTI0_0\n"
    );
    let assembly = parse(&text);
    let entry = Entry::new(&[Slice, Slice, Count, Record(&[(8, 24)])]);
    follow(&assembly, &assembly.functions[0], &entry).map(|_| ())
}

fn passes(body: &str) {
    followed(body).unwrap();
}

fn refused(body: &str, why: &str) {
    let error = format!("{:#}", followed(body).expect_err(body));
    assert!(error.contains(why), "{error}");
}

#[test]
fn a_clean_loop_passes() {
    passes(
        "\tsubq\t$88, %rsp\n\txorl\t%eax, %eax\n\tmovq\t%rsi, 8(%rsp)\n.LBB0_1:\n\tvmovdqu64\t(%rdx,%rax,8), %zmm0\n\
         \tvpmadd52luq\t(%rdi){1to8}, %zmm0, %zmm1\n\tvpcmpeqq\t%zmm0, %zmm1, %k1\n\tvmovdqa64\t%zmm0, %zmm2 {%k1}\n\
         \tvmovdqu64\t%zmm2, (%rdi,%rax,8)\n\tmovq\t(%rdx), %r10\n\tcmpq\t%r10, %r11\n\tsbbq\t%r10, %r10\n\
         \tcmovbq\t%r10, %r11\n\taddq\t$8, %rax\n\tcmpq\t8(%rsp), %rax\n\tjb\t.LBB0_1\n\taddq\t$88, %rsp\n",
    );
}

#[test]
fn branches_on_data_are_refused() {
    refused("\tmovq\t(%rdi), %rax\n\ttestq\t%rax, %rax\n\tje\t.LBB0_1\n.LBB0_1:\n", "a branch depends");
    // By a vector, a mask, a comparison of doubles, and a byte.
    refused(
        "\tvmovdqu\t(%rdi), %ymm0\n\tvptest\t%ymm0, %ymm0\n\tje\t.LBB0_1\n.LBB0_1:\n",
        "a branch depends",
    );
    let mask = "\tvpxor\t%xmm1, %xmm1, %xmm1\n\tvpcmpeqq\t(%rdi), %zmm1, %k1\n\tkortestb\t%k1, %k1\n";
    refused(&format!("{mask}\tje\t.LBB0_1\n.LBB0_1:\n"), "a branch depends");
    refused(
        "\tvmovsd\t(%rdi), %xmm0\n\tvucomisd\t%xmm0, %xmm0\n\tjp\t.LBB0_1\n.LBB0_1:\n",
        "a branch depends",
    );
    let byte = "\txorl\t%eax, %eax\n\tcmpq\t$1, (%rdi)\n\tsetb\t%al\n\ttestb\t%al, %al\n";
    refused(&format!("{byte}\tje\t.LBB0_1\n.LBB0_1:\n"), "a branch depends");
    // A byte that is public, in a register and on the stack, though the rest of it is not.
    let byte =
        "\tsubq\t$24, %rsp\n\tmovq\t(%rdi), %rax\n\tcmpq\t%rsi, %r8\n\tsetb\t%al\n\tmovl\t%eax, 8(%rsp)\n";
    passes(&format!("{byte}\tcmpb\t$0, 8(%rsp)\n\tje\t.LBB0_1\n.LBB0_1:\n"));
    refused(&format!("{byte}\tcmpl\t$0, 8(%rsp)\n\tje\t.LBB0_1\n.LBB0_1:\n"), "a branch depends");
    // What arguments do not say is unknown.
    refused("\ttestq\t%r12, %r12\n\tje\t.LBB0_1\n.LBB0_1:\n", "a branch depends");
}

#[test]
fn the_chain_leads_to_the_load() {
    let body = "\tmovq\t(%rdi), %rax\n\tshrq\t$52, %rax\n\taddq\t%rax, %rcx\n\ttestq\t%rcx, %rcx\n\tje\t.LBB0_1\n.LBB0_1:\n";
    let error = format!("{:#}", followed(body).unwrap_err());
    let lines: Vec<&str> =
        error.split("from line ").map(|part| part.split(':').next().unwrap_or("")).collect();
    assert_eq!(lines, ["line 6", "5", "4", "3", "2"], "{error}");
}

#[test]
fn addresses_by_data_are_refused() {
    refused("\tmovq\t(%rdi), %rax\n\tmovq\t(%rdx,%rax,8), %rcx\n", "an address depends");
    refused("\tmovq\t(%rdi), %rax\n\tvmovdqu64\t%zmm0, (%rdx,%rax,8)\n", "an address depends");
    refused("\tmovq\t(%rdi), %rax\n\tleaq\t8(%rdx,%rax), %rcx\n\tprefetcht0\t(%rcx)\n", "an address depends");
    let gather =
        "\tvmovdqu64\t(%rdi), %zmm0\n\tkxnorw\t%k0, %k0, %k1\n\tvpgatherqq\t(%rdx,%zmm0,8), %zmm1 {%k1}\n";
    refused(gather, "addresses in a vector depend");
    // A table at a secret index, of constants or of jumps.
    refused(
        "\tmovq\t(%rdi), %rax\n\tleaq\t.Lanon.1(%rip), %rcx\n\tmovq\t(%rcx,%rax,8), %rcx\n",
        "an address depends",
    );
}

#[test]
fn masks_of_data_do_not_reach_memory() {
    let mask = "\tvmovdqu64\t(%rdi), %zmm0\n\tvptestmq\t%zmm0, %zmm0, %k1\n";
    refused(&format!("{mask}\tvmovdqu64\t%zmm0, (%rdx) {{%k1}}\n"), "a store is under a mask");
    refused(&format!("{mask}\tvmovdqu64\t(%rdx), %zmm0 {{%k1}} {{z}}\n"), "a load is under a mask");
    refused(&format!("{mask}\tvpaddq\t(%rdx), %zmm0, %zmm1 {{%k1}}\n"), "a load is under a mask");
    refused("\tvmovdqu\t(%rdi), %ymm0\n\tvpmaskmovq\t%ymm1, %ymm0, (%rdx)\n", "a store is under a mask");
    passes("\tmovb\t$5, %al\n\tkmovw\t%eax, %k1\n\tvmovdqa64\t(%rdi), %zmm0 {%k1}\n");
    // Of sixteen lanes, half the mask is what was there.
    refused(
        "\tmovb\t$5, %al\n\tkmovw\t%eax, %k1\n\tvmovdqa32\t(%rdi), %zmm0 {%k1}\n",
        "a load is under a mask",
    );
}

#[test]
fn spilled_secrets_stay_secret() {
    let spill = "\tsubq\t$136, %rsp\n\tmovq\t(%rdi), %rax\n\tmovq\t%rax, 16(%rsp)\n\tmovq\t%rsi, 24(%rsp)\n\txorl\t%eax, %eax\n";
    let branch = "\ttestq\t%rax, %rax\n\tje\t.LBB0_1\n.LBB0_1:\n\taddq\t$136, %rsp\n";
    refused(&format!("{spill}\tmovq\t16(%rsp), %rax\n{branch}"), "a branch depends");
    passes(&format!("{spill}\tmovq\t24(%rsp), %rax\n{branch}"));
    // In part, by another name, in a vector, and what was never written.
    refused(&format!("{spill}\tmovl\t20(%rsp), %eax\n{branch}"), "a branch depends");
    refused(&format!("{spill}\tleaq\t8(%rsp), %rcx\n\tmovq\t8(%rcx), %rax\n{branch}"), "a branch depends");
    refused(
        &format!("{spill}\tvmovdqu\t16(%rsp), %xmm0\n\tvmovq\t%xmm0, %rax\n{branch}"),
        "a branch depends",
    );
    refused(&format!("{spill}\tmovq\t32(%rsp), %rax\n{branch}"), "a branch depends");
    // Overwritten in part; by an index; and a spill below all arrays.
    refused(&format!("{spill}\tmovl\t%r8d, 16(%rsp)\n\tmovq\t16(%rsp), %rax\n{branch}"), "a branch depends");
    let indexed = "\tvmovdqu64\t(%rdi), %zmm0\n\tvmovdqu64\t%zmm0, 16(%rsp,%r8)\n";
    refused(&format!("{spill}{indexed}\tmovq\t24(%rsp), %rax\n{branch}"), "a branch depends");
    passes(&format!("{spill}\tmovq\t%r8, 8(%rsp)\n{indexed}\tmovq\t8(%rsp), %rax\n{branch}"));
    // In half of a vector, and what lies behind it is not touched.
    let half = "\tvpxor\t%xmm0, %xmm0, %xmm0\n\tvpmovqd\t%ymm0, (%rsp)\n";
    refused(&format!("{spill}{half}\tmovq\t16(%rsp), %rax\n{branch}"), "a branch depends");
    passes(&format!("{spill}{half}\tmovq\t8(%rsp), %rax\n{branch}"));
    // Through a pointer that is the sum of differences.
    let mixed = "\tmovq\t%rsp, %rcx\n\tsubq\t%rdi, %rcx\n\taddq\t%rdi, %rcx\n\tmovq\t(%rdi), %rax\n\tmovq\t%rax, (%rcx)\n";
    refused(&format!("{spill}{mixed}\tmovq\t24(%rsp), %rax\n{branch}"), "a branch depends");
}

#[test]
fn loops_are_followed_until_nothing_is_new() {
    // Secret only in the second round.
    let rounds = "\txorl\t%eax, %eax\n\txorl\t%ecx, %ecx\n.LBB0_1:\n\ttestq\t%rcx, %rcx\n\tje\t.LBB0_2\n.LBB0_2:\n\
                  \tmovq\t%rax, %rcx\n\tmovq\t(%rdi), %rax\n\tdecq\t%r8\n\tjne\t.LBB0_1\n";
    refused(rounds, "a branch depends");
    passes(&rounds.replace("(%rdi)", "%rsi"));
}

#[test]
fn slow_instructions_on_data_are_refused() {
    refused("\tmovq\t%rsi, %rax\n\txorl\t%edx, %edx\n\tdivq\t(%rdi)\n", "a division computes");
    refused("\tmovq\t(%rdi), %rax\n\txorl\t%edx, %edx\n\tdivq\t%rsi\n", "a division computes");
    refused("\tvmovupd\t(%rdi), %zmm0\n\tvdivpd\t%zmm0, %zmm0, %zmm0\n", "time varies");
    passes(
        "\tmovq\t%rsi, %rax\n\txorl\t%edx, %edx\n\tdivq\t%rcx\n\ttestq\t%rdx, %rdx\n\tje\t.LBB0_1\n.LBB0_1:\n",
    );
}

#[test]
fn declared_fields_alone_are_public() {
    let branch = "\ttestq\t%rax, %rax\n\tje\t.LBB0_1\n.LBB0_1:\n";
    passes(&format!("\tmovq\t16(%r9), %rax\n{branch}"));
    refused(&format!("\tmovq\t24(%r9), %rax\n{branch}"), "a branch depends");
    refused(&format!("\tmovq\t4(%r9), %rax\n{branch}"), "a branch depends");
    refused(&format!("\tmovq\t8(%r9), %rax\n\tmovq\t(%rax), %rax\n{branch}"), "a branch depends");
    refused("\tmovq\t(%rdi), %rax\n\tmovq\t%rax, 8(%r9)\n", "a secret among the public fields");
    // A difference to the structure, added again, may lead to data.
    let data = "\tmovq\t%rdi, %rax\n\tsubq\t%r9, %rax\n\tmovq\t8(%r9,%rax), %rax\n";
    refused(&format!("{data}{branch}"), "a branch depends");
}

#[test]
fn tables_of_jumps_are_followed() {
    let jump =
        "\tleaq\t.LJTI0_0(%rip), %rcx\n\tmovslq\t(%rcx,%rax,4), %rax\n\taddq\t%rcx, %rax\n\tjmpq\t*%rax\n";
    let leak = ".LBB0_1:\n\tretq\n.LBB0_2:\n\tmovq\t(%rdi), %rax\n\ttestq\t%rax, %rax\n\tje\t.LBB0_1\n";
    passes(&format!("\tmovq\t%rsi, %rax\n{jump}.LBB0_1:\n\tretq\n.LBB0_2:\n"));
    refused(&format!("\tmovq\t%rsi, %rax\n{jump}{leak}"), "a branch depends");
    refused(&format!("\tmovq\t(%rdi), %rax\n{jump}.LBB0_1:\n.LBB0_2:\n"), "an address depends");
    refused("\tjmpq\t*%rsi\n", "is not followed");
}

#[test]
fn what_is_not_understood_is_refused() {
    refused("\tvpconflictq\t%zmm0, %zmm1\n", "not known");
    refused("\trep\tmovsb\n", "rep movsb");
    refused("\tmovq\t%fs:0, %rax\n", "%fs:0");
    refused("\tvmovdqu64\t%zmm0, (%rdx) {%k9}\n", "no mask");
}

#[test]
fn calls_pass_what_is_declared() {
    const ENTRY_POINT: &str = "_RNvNtNtNtCshFnAggahQMu_14zariz_machines5carry6avx51212entry_points6select";
    // Its arguments are two slices and a secret index.
    let checked = |method: &str, body: &str| {
        let text = format!("{ENTRY_POINT}:\n\tretq\n.Lfunc_end0:\n{method}:\n{body}.Lfunc_end1:\n");
        super::check(&parse(&text)).map_err(|error| format!("{error:#}"))
    };
    let method = "<M as Kernels>::select";
    assert_eq!(
        checked(method, &format!("\tpushq\t%rax\n\tcallq\t{ENTRY_POINT}\n\tpopq\t%rax\n\tretq\n")),
        Ok(1)
    );
    assert_eq!(checked(method, &format!("\tmovq\t(%rdi), %r8\n\tjmp\t{ENTRY_POINT}\n")), Ok(1));
    let secret = checked(method, &format!("\tmovq\t(%rdi), %rdx\n\tjmp\t{ENTRY_POINT}\n")).unwrap_err();
    assert!(secret.contains("word 3 of its arguments"), "{secret}");
    let private = checked("f", &format!("\tjmp\t{ENTRY_POINT}\n")).unwrap_err();
    assert!(private.contains("no public method calls it"), "{private}");
}

#[test]
fn copies_of_memory_are_followed() {
    let call = "\tmovq\tmemcpy@GOTPCREL(%rip), %r13\n\tcallq\t*%r13\n";
    let frame = "\tsubq\t$88, %rsp\n\tmovq\t%rcx, (%rsp)\n\tmovq\t%rcx, 80(%rsp)\n\tmovq\t%rdi, %rbx\n";
    let to =
        |place: i64| format!("{frame}\tmovq\t%rdi, %rsi\n\tleaq\t{place}(%rsp), %rdi\n\tmovl\t$64, %edx\n");
    let branch = |place: i64| format!("\tcmpq\t$0, {place}(%rsp)\n\tje\t.LBB0_1\n.LBB0_1:\n");
    // What lies below is what it was; what was copied is secret.
    passes(&format!("{}{call}\tvmovdqu\t(%rax), %ymm0\n\tvmovdqu\t(%rbx), %ymm0\n{}", to(8), branch(0)));
    refused(&format!("{}\tcallq\t*memcpy@GOTPCREL(%rip)\n{}", to(8), branch(16)), "a branch depends");
    refused(&format!("{}{call}{}", to(0), branch(0)), "a branch depends");
    // A secret length, or address.
    refused(&format!("\tmovq\t(%rdi), %rdx\n{call}"), "the address or length of a copy depends");
    refused(&format!("\tmovq\t(%rdi), %rsi\n{call}"), "the address or length of a copy depends");
    let fill = "\tmovq\t(%rdi), %rsi\n\tcallq\t*memset@GOTPCREL(%rip)\n";
    passes(fill);
    refused(
        &format!("{frame}\tleaq\t(%rsp), %rdi\n\tmovzbl\t(%rsi), %esi\n\tcallq\tmemset\n{}", branch(0)),
        "a branch depends",
    );
}

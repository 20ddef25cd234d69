//! The tables: how they are written and compared.

use zariz_analysis::tables::markdown::{merged, power, room, table};
use zariz_analysis::tables::{COMMAND, Table, check, difference};

#[test]
fn a_difference_names_its_lines() {
    assert_eq!(difference("a\nb\n", "a\nb\n"), None);
    let shown = difference("a\nb\nc\n", "a\nB\nc\nd\n").expect("they differ");
    assert_eq!(
        shown,
        "2 lines differ\n  line 2\n    is     b\n    should B\n  line 4\n    is     (no such line)\n    should d"
    );
    assert_eq!(difference("a", "a\n"), Some("line ends differ".to_owned()));
}

#[test]
fn a_check_fails_on_a_table_that_was_changed() {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml")).expect("our own");
    let same = Table { path: "Cargo.toml", text: text.clone() };
    let other = Table { path: "Cargo.toml", text: text + "more\n" };
    let missing = Table { path: "no-such-file", text: String::new() };
    check(&[same]).expect("it is the same");
    let problem = check(&[other, missing]).expect_err("one differs, one is missing");
    assert!(
        problem.contains("Cargo.toml: 1 line differs") && problem.contains("no-such-file: cannot be read")
    );
    assert!(problem.contains(COMMAND));
}

#[test]
fn equal_rows_become_one() {
    let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
    let rows = [row(["a", "1"]), row(["b", "2"]), row(["c", "1"])];
    assert_eq!(merged(&rows), [row(["a, c", "1"]), row(["b", "2"])]);
    assert_eq!(table(&["x", "y"], &rows[..1]), "| x | y |\n| --- | --- |\n| a | 1 |\n");
    assert_eq!([power(0), power(1), power(3 << 50)], ["0", "2^0.000", "2^51.585"]);
}

#[test]
fn room_is_never_shown_as_none() {
    let cases = [(1, "64.00"), (2, "63.00"), (1 << 63, "1.00"), (0xff5f_ffff_ffff_fbf7, "0.0035")];
    for (value, shown) in cases {
        assert_eq!(room(value), shown);
    }
    assert!(!room(u64::MAX).trim_matches(['0', '.']).is_empty(), "{}", room(u64::MAX));
}

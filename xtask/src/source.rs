//! Rust source as far as the checks read it: without comments and literals, and by words.

/// The source with comments, strings and character literals blanked out; line breaks stay.
pub fn strip(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let skipped = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '"' => quoted(rest, '"'),
            'r' | 'b' | 'c' if !out.ends_with(is_word) => raw_string(rest),
            // A lifetime has no closing quote after one (possibly escaped) character.
            '\'' if rest[1..].starts_with('\\') || rest[1..].chars().nth(1) == Some('\'') => {
                quoted(rest, '\'')
            }
            _ => 0,
        };
        if skipped == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            out.push(' ');
            out.extend(rest[..skipped].chars().filter(|&c| c == '\n'));
            rest = &rest[skipped..];
        }
    }
    out
}

/// The line numbers of `word` in stripped source.
pub fn lines_with(stripped: &str, word: &str) -> Vec<usize> {
    let has = |line: &str| line.split(|c| !is_word(c)).any(|w| w == word);
    stripped.lines().enumerate().filter(|(_, line)| has(line)).map(|(i, _)| i + 1).collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return i + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a raw string that starts here, or 0.
fn raw_string(text: &str) -> usize {
    let after = text.trim_start_matches(['b', 'c']);
    let Some(after) = after.strip_prefix('r') else { return 0 };
    let hashes = after.len() - after.trim_start_matches('#').len();
    if !after[hashes..].starts_with('"') {
        return 0;
    }
    let start = text.len() - after.len() + hashes + 1;
    let end = format!("\"{}", "#".repeat(hashes));
    text[start..].find(&end).map_or(text.len(), |at| start + at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_code_are_found_and_others_not() {
        let source = r##"#![forbid(unsafe_code)]
// unsafe
/* unsafe /* unsafe */ unsafe */ let a = "unsafe \" unsafe"; let b = r#"unsafe " unsafe"#;
let c = '"'; let d: &'static str = b"unsafe"; let bar = '\''; let over"unsafe";
fn f() { unsafe { g() } }
"##;
        assert_eq!(lines_with(&strip(source), "unsafe"), [5]);
        assert!(strip(source).contains("#![forbid(unsafe_code)]"));
        assert_eq!(strip(source).lines().count(), source.lines().count());
    }
}

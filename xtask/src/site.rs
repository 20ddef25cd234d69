//! The documentation site (docs/mkdocs.yml), and its page of the program's commands.

use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::Path;

use crate::process::{command, empty_folder, output, root, run, works};
use crate::{python, suite};

/// What the site has: pages in the repository's own folders, so that every link works here and there.
const PAGES: [&str; 18] = [
    "docs/",
    ":!docs/mkdocs.yml",
    ":!docs/requirements.txt",
    "ARCHITECTURE.md",
    "BIBLIOGRAPHY.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "SOUNDNESS.md",
    "crates/rustls/README.md",
    "examples/",
    "go/examples/",
    "java/examples/",
    "lab/bench/README.md",
    "lab/journal.md",
    "lab/results/*.md",
    "lab/results/*.txt",
    "python/",
];
/// Where they are copied to, which docs/mkdocs.yml names.
const SOURCE: &str = "target/site-source";
/// The environment with mkdocs.
const PYTHON: &str = "target/site-venv/bin/python";
const REQUIREMENTS: &str = "docs/requirements.txt";
/// The start of the site leads to its first page.
const START: &str = "<!doctype html><meta charset=\"utf-8\"><title>zariz</title>\
    <meta http-equiv=\"refresh\" content=\"0; url=docs/\"><a href=\"docs/\">zariz</a>\n";
/// The page of the commands.
const COMMANDS: &str = "docs/commands.md";

/// Builds the site into target/site. A link to a page or heading that does not exist is an error.
pub fn build() -> Result<()> {
    let files = output(command(
        "git",
        &[&["ls-files", "--cached", "--others", "--exclude-standard", "--"], &PAGES[..]].concat(),
    ))?;
    let source = root().join(SOURCE);
    empty_folder(&source)?;
    let shown = |path: &&str| {
        let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
        matches!(
            ending,
            Some("md" | "svg" | "css" | "txt" | "cfg" | "cnf" | "conf" | "py" | "java" | "go" | "c" | "mjs")
        )
    };
    for file in files.lines().filter(shown).filter(|file| root().join(file).exists()) {
        let copy = source.join(file);
        let folder = copy.parent().context("a file is in a folder")?;
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        fs::copy(root().join(file), &copy).with_context(|| format!("cannot copy {file} to {SOURCE}"))?;
    }
    fs::write(source.join("index.html"), START).with_context(|| format!("cannot write to {SOURCE}"))?;
    install()?;
    let arguments = ["-m", "mkdocs", "build", "--strict", "--config-file", "docs/mkdocs.yml"];
    let mut mkdocs = command(PYTHON, &arguments);
    // The theme's makers announce its successor there, which reads the same configuration.
    mkdocs.env("NO_MKDOCS_2_WARNING", "1");
    run(mkdocs).context("a page has an error, or a link that leads nowhere")?;
    println!("the site is in target/site: open target/site/docs/index.html");
    Ok(())
}

/// Installs mkdocs, if it is not there in the version that is asked for.
fn install() -> Result<()> {
    if !root().join(PYTHON).exists() {
        python::environment("target/site-venv")?;
    }
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS];
    ensure!(works(PYTHON, &pip), "pip cannot install {REQUIREMENTS}: `{PYTHON} {}` says why", pip.join(" "));
    Ok(())
}

/// Compares the page of the commands with the program.
pub fn check_commands() -> Result<()> {
    let page = fs::read_to_string(root().join(COMMANDS)).unwrap_or_default();
    if page != commands()? {
        bail!("{COMMANDS} is not what the program says of its commands: `cargo xtask commands` writes it");
    }
    Ok(())
}

/// Writes the page of the commands.
pub fn write_commands() -> Result<()> {
    fs::write(root().join(COMMANDS), commands()?).with_context(|| format!("cannot write {COMMANDS}"))
}

const HEAD: &str = "\
# The program's commands

`cargo xtask commands` writes this page from the program's own help.
";

/// The help of the program and of each command, in lines that fit a page.
fn commands() -> Result<String> {
    let program = suite::program("zariz")?;
    let help = |arguments: &[&str]| -> Result<String> {
        let mut zariz = command(&program.to_string_lossy(), arguments);
        zariz.env("COLUMNS", "84");
        output(zariz)
    };
    let all = help(&["--help"])?;
    let (_, list) = all.split_once("Commands:\n").context("the program's help lists no commands")?;
    let names = list.lines().take_while(|line| !line.is_empty());
    let names =
        names.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    let mut page = format!("{HEAD}\n```text\n{}\n```\n", all.trim_end());
    for name in names.filter(|name| *name != "help") {
        page += &format!("\n## zariz {name}\n\n```text\n{}\n```\n", help(&[name, "--help"])?.trim_end());
    }
    // Help has blanks at the ends of some lines.
    Ok(page.lines().map(|line| line.trim_end().to_owned() + "\n").collect())
}

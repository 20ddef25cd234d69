//! OpenSSL's own tests with zariz as their provider of RSA: each recipe of a built tree runs on a copy of it
//! with zariz before the default provider. A recipe that reaches zariz, or fails, runs again with the default
//! provider alone, and every test in it must end alike. So nobody chooses recipes: zariz counts its
//! operations in a file for each recipe, which shows whether the recipe reached it.
//!
//! The configurations of the copy name the providers; the tree itself is never written.

mod table;

use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use crate::process::{command, empty_folder, limited, output, root, run};
use crate::{module, processor};
use table::Counts;

const FOLDER: &str = "target/openssl-tests";
/// The configurations that the recipes load.
const CONFIGURATIONS: [&str; 2] = ["test/default.cnf", "apps/openssl.cnf"];
/// Tests of other projects, which the tree does not have.
const FOREIGN: &str = "external";
/// Seconds that one recipe may take.
const LONGEST: u32 = 1800;

/// What a recipe did.
#[derive(PartialEq)]
struct Outcome {
    passed: bool,
    /// Its lines that say `ok` or `not ok`.
    tests: Vec<String>,
}

/// A recipe with both providers.
struct Comparison {
    recipe: String,
    usual: Outcome,
    zariz: Outcome,
    counts: Counts,
}

/// Runs the recipes with these names, or all; with `module`, that file in place of a new build. All recipes
/// with a new build are a result, which belongs to the repository.
pub fn check(tree: &str, module: Option<&str>, names: &[&str]) -> Result<()> {
    let tree = Path::new(tree).canonicalize().with_context(|| format!("cannot open {tree}"))?;
    for part in [
        "test/run_tests.pl",
        "configdata.pm",
        "apps/openssl",
        "libcrypto.so",
        CONFIGURATIONS[0],
        CONFIGURATIONS[1],
    ] {
        let built = "it must be OpenSSL's source, built there (`./config && make`)";
        ensure!(tree.join(part).exists(), "{} has no {part}; {built}", tree.display());
    }
    // Before the long part: a commit in the meantime must not come between the code and its name.
    let version = version(&tree)?;
    let results = match (module, names) {
        (None, []) => processor::results(&format!("openssl-{version}-tests"), ".md")?,
        _ => root().join(FOLDER).join("results.md"),
    };
    let module = match module {
        Some(module) => Path::new(module).canonicalize().with_context(|| format!("cannot open {module}"))?,
        None => module::build()?,
    };
    let folder = root().join(FOLDER);
    empty_folder(&folder)?;
    let copy = folder.join("tree");
    // With its times: nothing is to be built again.
    run(command("cp", &["-a", &tree.to_string_lossy(), &copy.to_string_lossy()]))?;
    let recipes = recipes(&copy, names)?;
    without_own_context(&copy)?;
    let (mut compared, mut others) = (Vec::new(), 0);
    for (i, recipe) in recipes.iter().enumerate() {
        print!("{:>3}/{} {recipe:<28} ", i + 1, recipes.len());
        std::io::stdout().flush()?;
        let counters = folder.join(format!("{recipe}.counters"));
        let zariz = recipe_with(&copy, recipe, Some((&module, &counters)), &folder)?;
        let counts = Counts::read(&counters)?;
        if zariz.passed && counts.is_none() {
            println!("{:>4} tests, passed without zariz's operations", zariz.tests.len());
            others += 1;
        } else {
            let usual = recipe_with(&copy, recipe, None, &folder)?;
            compared.push(Comparison { recipe: recipe.clone(), usual, zariz, counts });
            println!("{}", compared[compared.len() - 1]);
        }
        // Each time: so a run that is interrupted leaves what it found.
        fs::write(
            &results,
            table::of(&version, i + 1 == recipes.len() && names.is_empty(), &compared, others),
        )
        .with_context(|| format!("cannot write {}", results.display()))?;
    }
    fs::remove_dir_all(&copy).with_context(|| format!("cannot remove {}", copy.display()))?;
    let different: Vec<&str> =
        compared.iter().filter(|c| c.usual != c.zariz).map(|c| c.recipe.as_str()).collect();
    println!("{} recipes compared, {} different; {others} others passed", compared.len(), different.len());
    println!("written: {}", results.display());
    ensure!(
        compared.iter().any(|c| !c.counts.is_none()),
        "no recipe reached zariz: it was not loaded, or none of them uses RSA (logs in {FOLDER})"
    );
    ensure!(
        different.is_empty(),
        "with zariz these end in another way: {} (logs in {FOLDER})",
        different.join(" ")
    );
    Ok(())
}

/// OpenSSL's version, such as `3.0.22`.
fn version(tree: &Path) -> Result<String> {
    let mut openssl = command(&tree.join("apps/openssl").to_string_lossy(), &["version"]);
    openssl.env("LD_LIBRARY_PATH", tree);
    let text = output(openssl)?;
    text.split_whitespace()
        .nth(1)
        .map(str::to_owned)
        .with_context(|| format!("`openssl version` printed {text:?}"))
}

/// The names of the recipes to run, `test_rsa` for `15-test_rsa.t`: these, or all in the order of their
/// numbers.
fn recipes(tree: &Path, names: &[&str]) -> Result<Vec<String>> {
    let folder = tree.join("test/recipes");
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
        files.push(entry?.file_name().to_string_lossy().into_owned());
    }
    files.sort_unstable();
    let all = files.iter().filter_map(|file| file.strip_suffix(".t")?.split_once('-').map(|(_, name)| name));
    if names.is_empty() {
        return Ok(all.filter(|name| !name.contains(FOREIGN)).map(str::to_owned).collect());
    }
    let all: Vec<&str> = all.collect();
    if let Some(name) = names.iter().find(|name| !all.contains(name)) {
        bail!("{} has no recipe {name}", folder.display());
    }
    Ok(names.iter().map(|name| (*name).to_owned()).collect())
}

/// Some recipes give the program `openssl` a library context of its own, for which no configuration names
/// providers: zariz would not be loaded there.
fn without_own_context(tree: &Path) -> Result<()> {
    const OWN: &str = "$ENV{OPENSSL_TEST_LIBCTX} = \"1\";";
    let folder = tree.join("test/recipes");
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "t") {
            continue;
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if text.contains(OWN) {
            let text = text.replace(OWN, "delete $ENV{OPENSSL_TEST_LIBCTX};");
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(())
}

/// Runs one recipe with the default provider, or with zariz (its file, and that of its counters).
fn recipe_with(tree: &Path, recipe: &str, zariz: Option<(&Path, &Path)>, folder: &Path) -> Result<Outcome> {
    for name in CONFIGURATIONS {
        let (path, original) = (tree.join(name), tree.join(format!("{name}.original")));
        if !original.exists() {
            fs::rename(&path, &original).with_context(|| format!("cannot rename {}", path.display()))?;
        }
        let text =
            fs::read_to_string(&original).with_context(|| format!("cannot read {}", original.display()))?;
        let text = configuration(&text, zariz).with_context(|| format!("in {name}"))?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let subject = if zariz.is_some() { "zariz" } else { "default" };
    let (tests, log) =
        (folder.join(format!("{recipe}.{subject}.tap")), folder.join(format!("{recipe}.{subject}.log")));
    let file = fs::File::create(&log).with_context(|| format!("cannot make {}", log.display()))?;
    let mut perl = limited(LONGEST, "perl", &["test/run_tests.pl", recipe]);
    perl.current_dir(tree).env("SRCTOP", tree).env("BLDTOP", tree).env("PERL", "perl").env("EXE_EXT", "");
    perl.env("HARNESS_TAP_COPY", &tests).stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let passed = perl.status().context("cannot run bash")?.success();
    let tests =
        fs::read_to_string(&tests).with_context(|| format!("{recipe} did not run; see {}", log.display()))?;
    let says = |line: &&str| line.trim_start().starts_with("ok ") || line.trim_start().starts_with("not ok ");
    Ok(Outcome { passed, tests: tests.lines().filter(says).map(str::to_owned).collect() })
}

/// The configuration with the default provider preferred by name, or zariz.
fn configuration(text: &str, zariz: Option<(&Path, &Path)>) -> Result<String> {
    let (name, listed, section) = match zariz {
        None => ("default", String::new(), String::new()),
        Some((module, counters)) => (
            "zariz",
            "zariz = zariz_sect\n".to_owned(),
            format!(
                "[zariz_sect]\nmodule = {}\nactivate = 1\ncounters = {}\n",
                module.display(),
                counters.display()
            ),
        ),
    };
    let mut text = text.to_owned();
    for (head, more) in [
        ("[openssl_init]\n", "alg_section = named_algorithms\n"),
        ("[provider_sect]\n", &listed),
        ("[default_sect]\n", "activate = 1\n"),
    ] {
        ensure!(
            text.matches(head).count() == 1,
            "there is no section {}, where providers are named",
            head.trim_end()
        );
        text = text.replace(head, &format!("{head}{more}"));
    }
    Ok(format!("{text}\n{section}[named_algorithms]\ndefault_properties = ?provider={name}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "openssl_conf = openssl_init\n[openssl_init]\nproviders = provider_sect\n[provider_sect]\n\
                        default = default_sect\n[default_sect]\nactivate = 1\n";

    #[test]
    fn recipes_lose_their_own_context() {
        let tree = std::env::temp_dir().join(format!("zariz-xtask-{}", std::process::id()));
        let recipe = tree.join("test/recipes/15-test_a.t");
        fs::create_dir_all(recipe.parent().unwrap()).unwrap();
        fs::write(&recipe, "a;\n    $ENV{OPENSSL_TEST_LIBCTX} = \"1\";\nb;\n").unwrap();
        let result = without_own_context(&tree).and_then(|()| Ok(fs::read_to_string(&recipe)?));
        fs::remove_dir_all(&tree).unwrap();
        assert_eq!(result.unwrap(), "a;\n    delete $ENV{OPENSSL_TEST_LIBCTX};\nb;\n");
    }

    #[test]
    fn a_configuration_names_one_provider() {
        let usual = configuration(TEXT, None).unwrap();
        assert!(usual.ends_with("default_properties = ?provider=default\n") && !usual.contains("zariz"));
        let zariz = configuration(TEXT, Some((Path::new("/m.so"), Path::new("/c")))).unwrap();
        for part in [
            "[provider_sect]\nzariz = zariz_sect\ndefault = default_sect\n",
            "module = /m.so\n",
            "counters = /c\n",
        ] {
            assert!(zariz.contains(part), "{zariz}");
        }
        assert!(zariz.ends_with("default_properties = ?provider=zariz\n"));
        assert!(configuration("[openssl_init]\n", None).is_err());
    }
}

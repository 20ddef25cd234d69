//! `zariz info`.

use serde_json::Value;

#[cfg(target_os = "linux")]
use crate::run::{Done, Folder, has_openssl, openssl, program, run};
use crate::run::{ENGINES, zariz};

#[test]
fn every_engine_is_there_and_the_available_ones_pass() {
    let done = zariz(["info", "--json"]).exits(0).says_nothing();
    let info: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert!(info["processor"].as_str().is_some_and(|name| !name.is_empty()));
    assert!(info["features"].is_array());
    let engines = info["engines"].as_array().expect("an array");
    let names: Vec<&str> = engines.iter().filter_map(|engine| engine["name"].as_str()).collect();
    assert_eq!(names, ENGINES);
    for engine in engines {
        let expected = if engine["available"] == true { Value::from("passed") } else { Value::Null };
        assert_eq!(engine["self_test"], expected, "{engine}");
        assert!(engine["lanes"].as_u64().is_some_and(|lanes| (1..=8).contains(&lanes)));
    }
    let chosen: Vec<&Value> = engines.iter().filter(|engine| engine["chosen"] == true).collect();
    assert!(chosen.len() == 1 && chosen[0]["available"] == true, "{chosen:?}");
}

#[test]
fn the_table_says_the_same() {
    let done = zariz(["info"]).exits(0).says_nothing();
    for word in ["processor", "features", "portable", "avx2-fma", "avx512-fma", "avx512-ifma", "chosen by auto"] {
        assert!(done.text().contains(word), "{word}");
    }
}

/// OpenSSL's own module, a provider that is not zariz's.
#[cfg(target_os = "linux")]
fn another_provider() -> Option<std::path::PathBuf> {
    if !has_openssl() {
        return None;
    }
    let folder = String::from_utf8(openssl(["info", "-modulesdir"])).expect("text");
    let module = std::path::Path::new(folder.trim()).join("legacy.so");
    // A distribution may leave it out, or build it in.
    module.exists().then_some(module)
}

/// Asks for a module under a configuration.
#[cfg(target_os = "linux")]
fn ask(module: &std::path::Path, configuration: &std::path::Path) -> Done {
    run(program().arg("info").arg("--provider").arg(module).env("OPENSSL_CONF", configuration), b"")
}

#[test]
#[cfg(target_os = "linux")]
fn files_that_are_no_module_are_told() {
    let folder = Folder::new();
    let none = folder.join("none.cnf");
    let text = folder.file("text.so", format!("no module, but text\n{}", " ".repeat(99)));
    ask(&text, &none).exits(3).says(&["text.so: OpenSSL cannot load it as a provider", "invalid ELF header"]);
    ask(&folder.file("empty.so", ""), &none).exits(3).says(&["empty.so", "file too short"]);
    ask(&folder.file("zariz.txt", ""), &none).exits(3).says(&["zariz.txt", "names end in .so"]);
    ask(&folder.join("missing.so"), &none).exits(3).says(&["missing.so: No such file"]);
    ask(folder.path(), &none).exits(3).says(&["is not a file"]);
    let lib = ["/lib/x86_64-linux-gnu/libm.so.6", "/lib64/libm.so.6", "/usr/lib/libm.so.6"];
    if let Some(library) = lib.into_iter().find(|path| std::path::Path::new(path).exists()) {
        std::fs::copy(library, folder.join("libm.so")).expect("copied");
        ask(&folder.join("libm.so"), &none).exits(3).says(&["libm.so", "no provider init function"]);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn another_provider_is_told_under_any_configuration() {
    let Some(module) = another_provider() else { return };
    let folder = Folder::new();
    let copy = folder.join("legacy.so");
    std::fs::copy(&module, &copy).expect("copied");
    let none = folder.join("none.cnf");
    for module in [&module, &copy] {
        ask(module, &none).exits(3).says(&["legacy.so: is another provider (OpenSSL Legacy Provider), not zariz"]);
    }
    let configuration = |name: &str, lines: &str| {
        let text =
            format!("openssl_conf = all\n[all]\nproviders = list\n[list]\n{name} = section\n[section]\n{lines}\n");
        folder.file("openssl.cnf", text)
    };
    let file = format!("module = {}\nactivate = 1", copy.display());
    let other = format!("module = {}", module.display());
    let missing = format!("module = {}\nactivate = 1", folder.join("missing.so").display());
    // Its section by its file or by its name, sections of others, none.
    for (name, lines) in [
        ("legacy", file.as_str()),
        ("other", &file),
        ("1.other", &file),
        ("legacy", "setting = \"a b\"'$#'"),
        ("legacy", &other),
        ("gone", &missing),
        ("legacy", ""),
    ] {
        ask(&copy, &configuration(name, lines)).exits(3).says(&["another provider (OpenSSL Legacy Provider)"]);
    }
    for (text, why) in [("[not closed\n", "bad.cnf, line 1: missing close square bracket"), ("a = $b\n", "line 1")] {
        ask(&copy, &folder.file("bad.cnf", text)).exits(3).says(&["configuration cannot be read", why]);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_module_that_its_settings_break_says_where_they_stand() {
    let folder = Folder::new();
    let text = folder.file("text.so", format!("no module, but text\n{}", " ".repeat(99)));
    for (name, lines) in
        [("text", "a = 1\n".to_owned()), ("other", format!("module = {}\nactivate = 1\n", text.display()))]
    {
        let all = format!("openssl_conf = all\n[all]\nproviders = list\n[list]\n{name} = mine\n[mine]\n{lines}");
        let configuration = folder.file("openssl.cnf", all);
        let place = format!("with the settings in {} [mine]", configuration.display());
        ask(&text, &configuration).exits(3).says(&[&place, "invalid ELF header"]);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn without_openssl_there_is_nothing_to_ask() {
    let folder = Folder::new();
    for library in ["libcrypto.so.3", "libcrypto.so.4", "libcrypto.so.1.1"] {
        folder.file(library, "no library at all, but text\n");
    }
    let module = folder.file("zariz.so", "");
    let mut command = program();
    command.arg("info").arg("--provider").arg(module).env("LD_LIBRARY_PATH", folder.path());
    run(&mut command, b"").exits(3).says(&["OpenSSL was not found: ", "libcrypto.so.3", "libssl3"]);
}

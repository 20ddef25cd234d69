//! `zariz info`.

use serde_json::Value;
use zariz::Engine;
use zariz_needs::needs;

#[cfg(target_os = "linux")]
use crate::run::{Done, Folder, another_library, key, module, openssl};
use crate::run::{program, run, zariz};

#[test]
fn every_engine_is_there_and_the_available_ones_pass() {
    let done = zariz(["info", "--json"]).exits(0).says_nothing();
    let info: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert!(info["processor"].as_str().is_some_and(|name| !name.is_empty()));
    assert!(info["features"].is_array());
    let engines = info["engines"].as_array().expect("an array");
    let names: Vec<&str> = engines.iter().filter_map(|engine| engine["name"].as_str()).collect();
    assert!(names.into_iter().eq(Engine::ALL.iter().map(|engine| engine.name())));
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
    for word in [
        "processor",
        "design",
        "features",
        "portable",
        "avx2-fma",
        "avx-ifma",
        "avx512-fma",
        "avx512-ifma",
        "chosen by auto",
    ] {
        assert!(done.text().contains(word), "{word}");
    }
}

/// What it says to expect is what was measured, by the pages that are made of lab/results.
#[test]
fn expectations_are_those_of_the_pages() {
    let gain = |page: &str, batch: &str| -> u32 {
        let path = format!("{}/../../docs/benchmarks/{page}.md", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).expect("the page");
        let head = text.lines().find(|line| line.starts_with("| library")).expect("a table of signatures");
        let at = head.split('|').position(|cell| cell.trim() == "RSA-2048").expect("a column");
        let rows = text.split("## Verifying").next().expect("signatures come first").lines();
        let gains = ["zariz auto", "zariz avx512-ifma"].map(|engine| {
            let row = rows.clone().find(|row| {
                let mut cells = row.split('|').skip(1).map(str::trim);
                cells.next() == Some(engine) && cells.next() == Some(batch)
            })?;
            let gain = row.split('|').nth(at)?.split_once('(')?.1.split_once('×')?.0;
            gain.replace('.', "").parse().ok()
        });
        gains.into_iter().flatten().next().unwrap_or_else(|| panic!("{page} has no batch of {batch}"))
    };
    for measured in zariz_cli::processor::expected::MEASURED {
        assert_eq!(measured.batch, gain(measured.page, "64"), "{}", measured.design);
        assert_eq!(measured.single, gain(measured.page, "1"), "{}", measured.design);
    }
}

/// The table of docs/processor.md has the same figures.
#[test]
fn the_page_of_processors_says_the_same() {
    let page = include_str!("../../../../docs/processor.md");
    for measured in zariz_cli::processor::expected::MEASURED {
        let row = page.lines().find(|line| line.starts_with(&format!("| {} (", measured.design)));
        let cells: Vec<_> = row.expect("a row").split('|').map(str::trim).collect();
        let figures =
            [measured.batch, measured.single].map(|gain| format!("{}.{:02}", gain / 100, gain % 100));
        assert_eq!([cells[4], cells[5]], figures, "{}", measured.design);
        assert!(cells[6].contains(measured.page), "{}", measured.design);
    }
}

/// The program, with these instructions hidden.
fn without(hidden: &str) -> std::process::Command {
    let mut program = program();
    program.env("ZARIZ_HIDE", hidden);
    program
}

#[test]
fn hidden_instructions_are_not_used() {
    let available = |hidden: &str| -> Vec<String> {
        let done = run(without(hidden).args(["info", "--json"]), b"").exits(0).says_nothing();
        let info: Value = serde_json::from_slice(&done.stdout).expect("JSON");
        assert_eq!(info["hidden"].as_array().expect("an array").len(), hidden.split_terminator(',').count());
        let engines = info["engines"].as_array().expect("an array").iter();
        let available =
            engines.filter(|engine| engine["available"] == true && engine["requires"] != "nothing");
        available.filter_map(|engine| Some(engine["name"].as_str()?.to_owned())).collect()
    };
    // What an engine requires, in words, and the names that hide it.
    let needs = [("ADX", "adx"), ("AVX", "avx2"), ("AVX-512", "avx512"), ("IFMA", "ifma")];
    let all = available("");
    for set in 0..16 {
        let names: Vec<_> = ["adx", "avx2", "avx512", "ifma"].into_iter().enumerate().collect();
        let hidden: Vec<&str> =
            names.into_iter().filter(|(i, _)| set >> i & 1 == 1).map(|(_, name)| name).collect();
        let is_left = |engine: &String| {
            let requires = engine.parse::<Engine>().expect("an engine").requires();
            !needs.iter().any(|(needed, name)| requires.contains(needed) && hidden.contains(name))
        };
        let left: Vec<String> = all.iter().filter(|engine| is_left(engine)).cloned().collect();
        assert_eq!(available(&hidden.join(",")), left, "without {hidden:?}");
    }
}

#[test]
fn what_is_hidden_is_said() {
    let table = run(without("IFMA, avx512").arg("info"), b"").exits(0).says_nothing();
    assert!(table.text().contains("hidden     ifma avx512 (by ZARIZ_HIDE)"), "{}", table.text());
    assert!(!table.text().contains("expect "), "nobody measured it so: {}", table.text());
    let by_name = ["speed", "rsa2048", "--engine", "avx2-fma"];
    run(without("avx2").args(by_name), b"").exits(2).says(&["avx2-fma needs AVX2", "ZARIZ_HIDE=avx2 hides"]);
    run(without("avx512,sse9").arg("info"), b"").exits(2).says(&["\"sse9\"", "adx, avx2, avx512, ifma"]);
}

/// OpenSSL's own module, a provider that is not zariz's.
#[cfg(target_os = "linux")]
fn another_provider() -> std::path::PathBuf {
    let folder = String::from_utf8(openssl(["info", "-modulesdir"])).expect("text");
    std::path::Path::new(folder.trim()).join("legacy.so")
}

/// Runs `info --provider` on a module under a configuration.
#[cfg(target_os = "linux")]
fn ask(module: &std::path::Path, configuration: &std::path::Path) -> Done {
    run(program().arg("info").arg("--provider").arg(module).env("OPENSSL_CONF", configuration), b"")
}

#[test]
#[cfg(target_os = "linux")]
fn files_that_are_no_module_are_told() {
    let folder = Folder::new();
    let none = folder.file("none.cnf", "");
    let text = folder.file("text.so", format!("no module, but text\n{}", " ".repeat(99)));
    ask(&text, &none).exits(3).says(&["text.so: OpenSSL cannot load it as a provider", "invalid ELF header"]);
    ask(&folder.file("empty.so", ""), &none).exits(3).says(&["empty.so", "file too short"]);
    ask(&folder.file("zariz.txt", ""), &none).exits(3).says(&["zariz.txt", "names end in .so"]);
    ask(&folder.join("missing.so"), &none).exits(3).says(&["missing.so: No such file"]);
    ask(folder.path(), &none).exits(3).says(&["is not a file"]);
    std::fs::copy(another_library(), folder.join("another.so")).expect("copied");
    ask(&folder.join("another.so"), &none).exits(3).says(&["another.so", "no provider init function"]);
}

#[needs("openssl", "legacy.so")] // which a distribution may leave out, or build in
#[test]
#[cfg(target_os = "linux")]
fn another_provider_is_told_under_any_configuration() {
    let module = another_provider();
    let folder = Folder::new();
    let copy = folder.join("legacy.so");
    std::fs::copy(&module, &copy).expect("copied");
    let none = folder.file("none.cnf", "");
    for module in [&module, &copy] {
        ask(module, &none)
            .exits(3)
            .says(&["legacy.so: is another provider (OpenSSL Legacy Provider), not zariz"]);
    }
    let configuration = |name: &str, lines: &str| {
        let text = format!(
            "openssl_conf = all\n[all]\nproviders = list\n[list]\n{name} = section\n[section]\n{lines}\n"
        );
        folder.file("openssl.cnf", text)
    };
    let file = format!("module = {}\nactivate = 1", copy.display());
    let other = format!("module = {}", module.display());
    let missing = format!("module = {}\nactivate = 1", folder.join("missing.so").display());
    // Its section found by its file or by its name, sections of others, and none.
    for (name, lines) in [
        ("legacy", file.as_str()),
        ("other", &file),
        ("1.other", &file),
        ("legacy", "setting = \"a b\"'$#'"),
        ("legacy", &other),
        ("gone", &missing),
        ("legacy", ""),
    ] {
        ask(&copy, &configuration(name, lines))
            .exits(3)
            .says(&["another provider (OpenSSL Legacy Provider)"]);
    }
    for (text, why) in
        [("[not closed\n", "bad.cnf, line 1: missing close square bracket"), ("a = $b\n", "line 1")]
    {
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
        let all =
            format!("openssl_conf = all\n[all]\nproviders = list\n[list]\n{name} = mine\n[mine]\n{lines}");
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

/// What `info --provider --json` says.
#[cfg(target_os = "linux")]
fn told(module: &std::path::Path, configuration: &std::path::Path) -> Value {
    let mut command = program();
    command.args(["info", "--json", "--provider"]).arg(module).env("OPENSSL_CONF", configuration);
    let done = run(&mut command, b"").exits(0).says_nothing();
    serde_json::from_slice(&done.stdout).expect("JSON")
}

/// The counters, in the order of the table.
const COUNTERS: [&str; 9] = [
    "operations",
    "private_operations",
    "public_operations",
    "batches",
    "mean_batch",
    "largest_batch",
    "fallbacks",
    "check_failures",
    "keys_generated",
];

#[test]
#[cfg(target_os = "linux")]
fn the_module_says_its_settings_and_that_it_has_done_nothing() {
    let folder = Folder::new();
    let none = folder.file("none.cnf", "");
    for name in ["zariz.so", "another-name.so"] {
        let file = folder.join(name);
        std::fs::copy(module(), &file).expect("copied");
        let info = told(&file, &none);
        assert_eq!(info["name"], file.file_stem().and_then(|stem| stem.to_str()).expect("a name"));
        assert!(info["provider"].as_str().is_some_and(|name| name.contains("zariz")), "{info}");
        assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!((&info["running"], &info["configuration"]), (&Value::from(true), &Value::Null), "{info}");
        assert!(info["openssl"].as_str().is_some_and(|openssl| openssl.starts_with("OpenSSL ")), "{info}");
        assert!(info["engine"].as_str().is_some_and(|engine| engine.starts_with("auto")), "{info}");
        assert!(
            info["threads"].as_u64().is_some_and(|threads| threads >= 1) && info["max_batch"] == 16,
            "{info}"
        );
        for counter in COUNTERS {
            assert_eq!(info[counter].as_f64(), Some(0.0), "{counter}: {info}");
        }
        let done = ask(&file, &none).exits(0).says_nothing();
        for word in [
            "loaded by",
            "OpenSSL 3",
            "running",
            "auto",
            "operations",
            "each process has its own",
            "computed nothing yet",
            "by default",
        ] {
            assert!(done.text().contains(word), "{word} is not in {done:?}");
        }
        assert!(done.lines().iter().all(|line| line.trim_end() == *line), "{done:?}");
    }
}

#[needs("openssl")]
#[test]
#[cfg(target_os = "linux")]
fn the_module_has_the_settings_and_the_counters_of_the_configuration() {
    let folder = Folder::new();
    let (file, counters) = (folder.join("zariz.so"), folder.join("a 'file' of \\$counters"));
    std::fs::copy(module(), &file).expect("copied");
    // A name with all characters that have a meaning to OpenSSL.
    let escaped = folder.path().display().to_string() + "/a\\ \\'file\\'\\ of\\ \\\\\\$counters";
    let configuration = |name: &str, more: &str| {
        let text = format!(
            "openssl_conf = all\n[all]\nproviders = list\nalg_section = query\n[query]\ndefault_properties = \
             ?provider=zariz\n[list]\ndefault = other\n{name} = ours\n[other]\nactivate = 1\n[ours]\n{more}engine = \
             portable\nmethod = ahmm\nthreads = 3\nmax-batch = 5\ncounters = {escaped}\n"
        );
        folder.file(&format!("{name}.cnf"), text)
    };
    let active = format!("module = {}\nactivate = 1\n", file.display());
    let message = folder.file("message", "text");
    let sign = |configuration: &std::path::Path| {
        let mut command = std::process::Command::new("openssl");
        command.args(["dgst", "-sha256", "-out"]).arg(folder.join("signature")).arg("-sign").arg(key(1024));
        run(command.arg(&message).env("OPENSSL_CONF", configuration), b"").exits(0);
    };
    // With any name of its section; and with the module's name, for programs that load it themselves.
    let (usual, other, passive) =
        (configuration("zariz", &active), configuration("other", &active), configuration("zariz-2", ""));
    let renamed = folder.join("zariz-2.so");
    std::fs::copy(module(), &renamed).expect("copied");
    for (signed, configuration) in [&usual, &other].into_iter().enumerate() {
        sign(configuration);
        for (file, configuration) in [(&file, configuration), (&renamed, &passive)] {
            let info = told(file, configuration);
            assert!(info["engine"] == "portable" && info["method"] == "ahmm", "{info}");
            assert!(info["threads"] == 3 && info["max_batch"] == 5, "{info}");
            let place = format!("{} [ours]", configuration.display());
            assert_eq!(
                (&info["configuration"], &info["active"]),
                (&Value::from(place), &Value::from(file != &renamed))
            );
            for counter in ["operations", "private_operations", "batches"] {
                assert_eq!(info[counter], signed + 1, "{counter}: {info}");
            }
            assert!(
                info["mean_batch"] == 1.0 && info["largest_batch"] == 1 && info["public_operations"] == 0,
                "{info}"
            );
        }
    }
    assert!(counters.exists());
    let done = ask(&file, &usual).exits(0).says_nothing();
    for line in ["engine                portable", "max batch             5", "  mean                1.00"] {
        assert!(done.lines().contains(&line), "{line} is not in {done:?}");
    }
    assert!(!done.text().contains("computed nothing yet"), "{done:?}");
    assert_eq!(told(&file, &usual)["counters"], counters.to_str().expect("a name"));
    assert!(done.text().contains(counters.to_str().expect("a name")), "{done:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn settings_of_the_module_that_are_wrong_are_told() {
    let folder = Folder::new();
    let file = folder.join("zariz.so");
    std::fs::copy(module(), &file).expect("copied");
    for (line, words) in [
        ("engine = warp", ["engine", "warp"]),
        ("threads = many", ["threads", "many"]),
        ("counters = /", ["counters", "/"]),
    ] {
        let text = format!(
            "openssl_conf = all\n[all]\nproviders = list\n[list]\nzariz = ours\n[ours]\nactivate = 1\n{line}\n"
        );
        let done = ask(&file, &folder.file("openssl.cnf", text))
            .exits(3)
            .says(&["with the settings in", "openssl.cnf [ours]"]);
        done.says(&words);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn configurations_that_do_not_lead_to_the_module_are_told() {
    let folder = Folder::new();
    let file = folder.join("zariz.so");
    std::fs::copy(module(), &file).expect("copied");
    let text = |all: &str, list: &str, ours: &str, module: &str| {
        format!(
            "openssl_conf = {all}\n[all]\nproviders = {list}\n[list]\nzariz = {ours}\n[ours]\nmodule = {module}\nactivate = 1\n"
        )
    };
    let module = file.to_str().expect("a name");
    let wrong = folder.join("zarizz.so");
    for (text, words) in [
        (text("allz", "list", "ours", module), ["allz", "not there"]),
        (text("all", "lizt", "ours", module), ["lizt", "not there"]),
        (text("all", "list", "hours", module), ["hours", "not there"]),
        (text("all", "list", "ours", wrong.to_str().expect("a name")), ["zarizz.so", "does not exist"]),
    ] {
        ask(&file, &folder.file("openssl.cnf", text)).exits(3).says(&words);
    }
    ask(&file, &folder.join("none.cnf")).exits(3).says(&["none.cnf", "does not exist"]);
    ask(&file, &folder.file("openssl.cnf", text("all", "list", "ours", module))).exits(0);
}

/// `info` warns of a configuration in which programs cannot use zariz, or cannot use anything else; and its
/// warnings agree with what happens to a signature of OpenSSL's program.
#[needs("openssl")]
#[test]
#[cfg(target_os = "linux")]
fn configurations_that_do_not_lead_programs_to_the_module_are_told() {
    let folder = Folder::new();
    let (file, message) = (folder.join("zariz.so"), folder.file("message", "text"));
    std::fs::copy(module(), &file).expect("copied");
    let (first, last, only) = ("zariz = ours\ndefault = own", "default = own\nzariz = ours", "zariz = ours");
    let (fips, renamed) = ("default = own\nfips = passive\nzariz = ours", "default = own\nmine = ours");
    let choose = "write default_properties = ?provider=zariz";
    let not_loaded = "does not load it: add activate = 1 to [ours]";
    for (i, (providers, query, signs, warning)) in [
        (last, "?provider=zariz", true, ""),
        (first, "?provider=zariz", true, ""),
        (renamed, "?provider=zariz", true, ""),
        (fips, "?fips=yes,?provider=zariz", true, ""),
        (last, "? Provider = 'zariz'", true, ""),
        (last, "?provider!=default", true, ""),
        (first, "", true, ""),
        (last, "", false, choose),
        (fips, "", false, choose),
        (last, "?fips=yes", false, choose),
        (last, "fips=yes", false, choose),
        (last, "provider=default", false, choose),
        (last, "?provider=other", false, choose),
        (last, "?provider=other,?provider=zariz", false, "names provider twice"),
        (last, "provider=zariz", false, "allows nothing except RSA"),
        (only, "?provider=zariz", false, "and not default"),
        (only, "", false, "and not default"),
        (only, "provider=zariz", false, "and not default"),
    ]
    .into_iter()
    .enumerate()
    {
        let what = format!("{providers:?}, {query:?}");
        let counters = folder.join(&format!("counters-{i}"));
        let line = if query.is_empty() { String::new() } else { format!("default_properties = {query}\n") };
        let text = format!(
            "openssl_conf = all\n[all]\nproviders = list\nalg_section = query\n[query]\n{line}[list]\n{providers}\n\
             [own]\nactivate = 1\n[passive]\n[ours]\nmodule = {}\nactivate = 1\ncounters = {}\n",
            file.display(),
            counters.display()
        );
        let configuration = folder.file("openssl.cnf", &text);
        let mut command = std::process::Command::new("openssl");
        command.args(["dgst", "-sha256", "-out"]).arg(folder.join("signature")).arg("-sign").arg(key(1024));
        run(command.arg(&message).env("OPENSSL_CONF", &configuration), b"");
        let info = told(&file, &configuration);
        assert_eq!(info["private_operations"], u64::from(signs), "{what}: {info}");
        let done = ask(&file, &configuration).exits(0).says_nothing();
        match warning {
            "" => {
                assert!(info["unreached"].is_null() && !done.text().contains("warning"), "{what}: {done:?}")
            }
            words => {
                assert!(
                    info["unreached"].as_str().is_some_and(|text| text.contains(words)),
                    "{what}: {info}"
                );
                assert!(done.text().contains(words), "{what}: {done:?}");
            }
        }
        // If it is not activated, programs must load it themselves; only a query for it is a mistake.
        let passive = folder.file("openssl.cnf", text.replace("activate = 1\ncounters", "counters"));
        let told = &told(&file, &passive)["unreached"];
        let asks = ["?provider=zariz", "? Provider = 'zariz'", "?fips=yes,?provider=zariz"].contains(&query)
            || query.starts_with("provider=zariz")
            || query == "?provider!=default";
        assert_eq!(told.as_str().is_some_and(|text| text.contains(not_loaded)), asks, "{what}: {told}");
    }
}

/// OpenSSL ignores names that a provider does not read, so nothing else reports them.
#[test]
#[cfg(target_os = "linux")]
fn settings_that_the_module_does_not_have_are_told() {
    let folder = Folder::new();
    let file = folder.join("zariz.so");
    std::fs::copy(module(), &file).expect("copied");
    let configuration = |lines: &str| {
        let text = format!(
            "openssl_conf = all\n[all]\nproviders = list\n[list]\nzariz = ours\n[ours]\nmodule = {}\nactivate = 1\n\
             identity = zariz\nsoft_load = 0\n{lines}\n",
            file.display()
        );
        folder.file("openssl.cnf", text)
    };
    // Every setting in the page for administrators is accepted, and the module lists its name.
    let page = include_str!("../../../../docs/openssl.md");
    let rows = page.split_once("| setting |").expect("a table of settings").1.lines().skip(2);
    let mut names: Vec<&str> =
        rows.map_while(|row| Some(row.strip_prefix("| `")?.split_once('`')?.0)).collect();
    names.sort_unstable();
    assert!(names.contains(&"threads") && names.len() >= 5, "{names:?}");
    let info = told(&file, &configuration("threads = 3"));
    let mut known: Vec<&str> =
        info["known_settings"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    known.sort_unstable();
    assert_eq!(known, names, "the module and the page");
    assert_eq!(info["unknown_settings"], Value::Array(Vec::new()), "{info}");
    let done = ask(&file, &configuration("threads = 3")).exits(0).says_nothing();
    assert!(!done.text().contains("unknown setting"), "{done:?}");
    // Near misses of each of them, and other names.
    for name in names {
        let mut without_last = name.to_owned();
        without_last.pop();
        for wrong in [without_last, name.to_uppercase(), format!("{name}s"), format!("1.{name}")] {
            let configuration = configuration(&format!("{wrong} = 4\nthreads = 3"));
            let info = told(&file, &configuration);
            assert_eq!(info["unknown_settings"][0]["name"], Value::from(wrong.clone()), "{info}");
            assert_eq!(info["unknown_settings"][0]["suggestion"], Value::from(name), "{info}");
            let done = ask(&file, &configuration).exits(0).says_nothing();
            let warning = format!("unknown setting {wrong}; did you mean {name}?");
            assert!(done.text().contains(&warning), "{warning}: {done:?}");
        }
    }
    let configuration = configuration("max_batch = 4\nzzz = 1\nthreads = 3");
    let info = told(&file, &configuration);
    assert_eq!(info["threads"], 3);
    assert_eq!(info["unknown_settings"].as_array().map(Vec::len), Some(2), "{info}");
    assert_eq!(info["unknown_settings"][0]["suggestion"], "max-batch", "{info}");
    assert_eq!(info["unknown_settings"][1]["suggestion"], Value::Null, "{info}");
    let done = ask(&file, &configuration).exits(0).says_nothing();
    assert!(done.text().contains("unknown setting zzz; the settings are engine, "), "{done:?}");
}

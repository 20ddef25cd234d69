//! What the tools of Go and Java fetch: a module proxy with the Go modules, and a Maven repository with the
//! package for Java. Each is an archive of a folder, which these tools read as it is.

use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;

use super::{CRATES, DIST, LICENCES, RUST, TARGET, archive, built, commit, copy, make_folder, put};
use crate::process::{command, empty_folder, root, run};
use crate::target::{TARGETS, Target};
use crate::{go, java};

/// Folders in target/dist.
const PROXY: &str = "go";
const REPOSITORY: &str = "maven";
/// Folders of the Go modules that others use, and their names. The first has the engine.
const MODULES: [(&str, &str); 2] = [("go", "example.org/zariz"), ("go/jwt", "example.org/zariz/jwt")];

/// The modules of the last commit, the engines, and the licences of what is compiled into these.
pub fn go(version: &str) -> Result<()> {
    let target = root().join(TARGET);
    empty_folder(&target.join(PROXY))?;
    let mut added = licences().to_vec();
    for of in &TARGETS {
        let engine = target.join(go::engine(of));
        make_folder(&engine)?;
        go::link(of, &built(of, "libzariz_capi.a"), &engine)?;
        added.push(engine);
    }
    for (folder, module) in MODULES {
        let place = target.join(PROXY).join(module).join("@v");
        let file = |ending: &str| place.join(format!("v{version}.{ending}"));
        let info = format!("{{\"Version\": \"v{version}\", \"Time\": \"{}\"}}\n", commit("%cI")?);
        put(&file("info"), &info)?;
        put(&place.join("list"), &format!("v{version}\n"))?;
        copy(&root().join(folder).join("go.mod"), &file("mod"))?;
        let mut zip = command("git", &["archive", "--format=zip", "-9"]);
        // Times in it are local.
        zip.env("TZ", "UTC").current_dir(root().join(folder)).arg("--output").arg(file("zip"));
        let mut add = |folder: &str, files: &[PathBuf]| {
            zip.arg(format!("--prefix={module}@v{version}/{folder}"));
            zip.args(files.iter().map(|file| format!("--add-file={}", file.display())));
        };
        if folder == MODULES[0].0 {
            add("internal/syso/", &added);
        }
        // In the repository they are links, which a module may not have.
        add("", &["LICENSE-MIT", "LICENSE-APACHE"].map(|name| root().join(name)));
        zip.args(["HEAD", "--", ".", ":!LICENSE-*", ":!jwt", ":!interop"]);
        run(zip)?;
        // git makes entries of folders. With them, Go's checksum of the archive is not that of the files.
        run(command("zip", &["--quiet", "--delete", &file("zip").to_string_lossy(), "*/"]))?;
    }
    archive(PROXY, &format!("zariz-{version}-go"))
}

/// The jar, alone and in a repository. It has the licences of what is compiled into it.
pub fn maven(version: &str) -> Result<()> {
    let repository = root().join(TARGET).join(REPOSITORY);
    empty_folder(&repository)?;
    let name = "libzariz_jni.so";
    let library = built(Target::host()?, name);
    // Where pom.xml looks for more than the library of this machine.
    for file in licences() {
        let name = file.file_name().context("a file has a name")?;
        copy(&file, &library.with_file_name("licences").join(name))?;
    }
    for target in &TARGETS {
        let folder = format!("others/linux-{}", target.java);
        copy(&built(target, name), &library.with_file_name(folder).join(name))?;
    }
    let jar = java::deploy(&library, &repository)?;
    // They have the time, and name only this version. A project that names a version does not need them.
    for name in ["maven-metadata.xml", "maven-metadata.xml.md5", "maven-metadata.xml.sha1"] {
        let file = repository.join("zariz/zariz-jca").join(name);
        fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))?;
    }
    copy(&jar, &root().join(DIST).join(jar.file_name().context("a file has a name")?))?;
    archive(REPOSITORY, &format!("zariz-{version}-maven"))
}

/// Licences of others.
fn licences() -> [PathBuf; 2] {
    [CRATES, RUST].map(|name| root().join(LICENCES).join(name))
}

//! The parts of `cargo metadata` that the checks need.

use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::process::{cargo, output, root};

/// Where cargo leaves what it builds.
pub fn target_directory() -> Result<PathBuf> {
    let metadata = output(cargo(&["metadata", "--format-version=1", "--no-deps", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&metadata).context("`cargo metadata` did not print JSON")?;
    metadata["target_directory"]
        .as_str()
        .map(PathBuf::from)
        .context("`cargo metadata` names no target_directory")
}

/// A package of the dependency graph.
#[derive(Default)]
pub struct Package {
    pub name: String,
    pub version: String,
    /// The registry or repository that it comes from; none for a folder.
    pub source: Option<String>,
    /// Its licence, in SPDX's words.
    pub license: Option<String>,
    /// The oldest compiler it promises to build with.
    pub rust_version: Option<String>,
    /// Whether it is ours.
    pub member: bool,
    /// Whether it may be published.
    pub published: bool,
    /// What crates.io shows of a crate, and this one does not say.
    pub lacking: Vec<&'static str>,
    /// Where its Cargo.toml is.
    pub folder: PathBuf,
    /// The roots of its libraries and programs.
    pub crate_roots: Vec<PathBuf>,
    /// What it depends on, by id.
    pub dependencies: Vec<Dependency>,
}

impl Package {
    /// Whether it is a folder of this repository.
    pub fn is_here(&self) -> bool {
        self.source.is_none()
            && !self.crate_roots.is_empty()
            && self.crate_roots.iter().all(|path| path.starts_with(root()))
    }
}

/// An edge of the dependency graph.
pub struct Dependency {
    pub id: String,
    /// Whether only its tests, examples and benchmarks depend.
    pub dev_only: bool,
}

/// What crates.io shows of a crate.
const SHOWN: [&str; 5] = ["description", "license", "readme", "keywords", "categories"];

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// The packages of the workspace and of everything it depends on, by id.
pub struct Graph(pub BTreeMap<String, Package>);

impl Graph {
    /// Asks cargo.
    pub fn read() -> Result<Self> {
        Self::read_of(&[])
    }

    /// Asks cargo, with more arguments: of another workspace.
    pub fn read_of(arguments: &[&str]) -> Result<Self> {
        let text = output(cargo(&[&["metadata", "--format-version=1", "--locked"], arguments].concat()))
            .context("if Cargo.lock is out of date, any cargo command without --locked renews it")?;
        let json: Value = serde_json::from_str(&text).context("`cargo metadata` did not print JSON")?;
        Self::parse(&json).context("`cargo metadata` printed something unexpected")
    }

    fn parse(json: &Value) -> Option<Self> {
        let members: Vec<&str> =
            json["workspace_members"].as_array()?.iter().filter_map(Value::as_str).collect();
        let mut packages = BTreeMap::new();
        for package in json["packages"].as_array()? {
            let id = package["id"].as_str()?;
            let is_crate = |target: &&Value| {
                let kinds = target["kind"].as_array().into_iter().flatten().filter_map(Value::as_str);
                kinds.into_iter().any(|kind| {
                    matches!(kind, "bin" | "lib" | "rlib" | "cdylib" | "staticlib" | "proc-macro")
                })
            };
            let targets = package["targets"].as_array()?;
            packages.insert(
                id.to_owned(),
                Package {
                    name: package["name"].as_str()?.to_owned(),
                    version: package["version"].as_str()?.to_owned(),
                    source: package["source"].as_str().map(str::to_owned),
                    license: package["license"].as_str().map(str::to_owned),
                    rust_version: package["rust_version"].as_str().map(str::to_owned),
                    member: members.contains(&id),
                    published: package["publish"].is_null(),
                    folder: Path::new(package["manifest_path"].as_str()?).parent()?.to_owned(),
                    lacking: SHOWN.into_iter().filter(|what| is_empty(&package[*what])).collect(),
                    crate_roots: targets
                        .iter()
                        .filter(is_crate)
                        .filter_map(|t| t["src_path"].as_str())
                        .map(PathBuf::from)
                        .collect(),
                    dependencies: Vec::new(),
                },
            );
        }
        for node in json["resolve"]["nodes"].as_array()? {
            let package = packages.get_mut(node["id"].as_str()?)?;
            for dependency in node["deps"].as_array()? {
                let dev_only = dependency["dep_kinds"].as_array()?.iter().all(|kind| kind["kind"] == "dev");
                package
                    .dependencies
                    .push(Dependency { id: dependency["pkg"].as_str()?.to_owned(), dev_only });
            }
        }
        Some(Self(packages))
    }

    /// Everything that the chosen members need to be built, themselves included; with `dev`, to be tested.
    pub fn closure(&self, from: impl Fn(&Package) -> bool, dev: bool) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        let mut open: Vec<&str> =
            self.0.iter().filter(|(_, p)| p.member && from(p)).map(|(id, _)| id.as_str()).collect();
        while let Some(id) = open.pop() {
            if found.insert(id) {
                let package = &self.0[id];
                let wanted = package.dependencies.iter().filter(|d| !d.dev_only || (dev && package.member));
                open.extend(wanted.map(|d| d.id.as_str()));
            }
        }
        found
    }
}

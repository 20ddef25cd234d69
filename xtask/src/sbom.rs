//! Bills of materials (CycloneDX 1.5, JSON): what is compiled into the program, the module for OpenSSL and
//! the libraries for C, each built alone, or runs while they are compiled. The same commit gives the same
//! files: no time, no number at random.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::metadata::{Graph, Package};
use crate::process::{cargo, output, root};
use crate::target::{TARGETS, Target};

/// A crate, the file that is made of it, and what that is.
pub const PRODUCTS: [(&str, &str, &str); 4] = [
    ("zariz-cli", "zariz", "application"),
    ("zariz-openssl-provider", "zariz.so", "library"),
    ("zariz-capi", "libzariz.so", "library"),
    ("zariz-crypto-mb", "libzariz_crypto_mb.so", "library"),
];
const FOLDER: &str = "target/sbom";

/// Name and version.
type Crate = (String, String);

/// Writes a file for each product and target.
pub fn write() -> Result<()> {
    let graph = Graph::read()?;
    let lock = fs::read_to_string(root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let sums = checksums(&lock);
    fs::create_dir_all(root().join(FOLDER)).with_context(|| format!("cannot make {FOLDER}"))?;
    for target in &TARGETS {
        for (package, product, kind) in PRODUCTS {
            let edges = tree(target, &["--package", package])?;
            let bill = bill(&graph, &sums, &edges, package, (product, kind))?;
            let path = file(target, product);
            fs::write(root().join(&path), serde_json::to_string_pretty(&bill)? + "\n")
                .with_context(|| format!("cannot write {path}"))?;
            println!("{path}: {} components", edges.len() - 1);
        }
    }
    Ok(())
}

/// The file of a product. Its name has the target, as packages of a library for two may be on one system.
pub fn file(target: &Target, product: &str) -> String {
    format!("{FOLDER}/{product}.{}.cdx.json", target.arch)
}

/// What each crate depends on that is compiled into a package, or runs while it is compiled.
pub fn tree(target: &Target, package: &[&str]) -> Result<BTreeMap<Crate, BTreeSet<Crate>>> {
    let tree = ["tree", "--locked", "--no-dedupe", "--edges=normal,build", "--prefix=depth", "--format= {p}"];
    edges(&output(cargo(&[&tree[..], &["--target", &target.triple()], package].concat()))?)
}

/// What each crate of a tree depends on, of lines such as `2 libc v0.2.1 (a note)`: its depth, name and
/// version.
fn edges(tree: &str) -> Result<BTreeMap<Crate, BTreeSet<Crate>>> {
    let (mut edges, mut path) = (BTreeMap::<Crate, BTreeSet<Crate>>::new(), Vec::<Crate>::new());
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let mut words = line.split_whitespace();
        let (depth, name, version) =
            (words.next(), words.next(), words.next().and_then(|word| word.strip_prefix('v')));
        let (Some(Ok(depth)), Some(name), Some(version)) = (depth.map(str::parse::<usize>), name, version)
        else {
            bail!("`cargo tree` printed something unexpected: {line}");
        };
        path.truncate(depth);
        let found = (name.to_owned(), version.to_owned());
        edges.entry(found.clone()).or_default();
        if let Some(parent) = path.last() {
            edges.entry(parent.clone()).or_default().insert(found.clone());
        }
        path.push(found);
    }
    Ok(edges)
}

/// The SHA-256 of each crate's archive, by Cargo.lock.
fn checksums(lock: &str) -> BTreeMap<Crate, String> {
    let value = |block: &str, key: &str| {
        block.lines().find_map(|line| {
            Some(line.strip_prefix(key)?.strip_prefix(" = \"")?.trim_end_matches('"').to_owned())
        })
    };
    let package =
        |block: &str| Some(((value(block, "name")?, value(block, "version")?), value(block, "checksum")?));
    lock.split("[[package]]").filter_map(package).collect()
}

fn bill(
    graph: &Graph,
    sums: &BTreeMap<Crate, String>,
    edges: &BTreeMap<Crate, BTreeSet<Crate>>,
    root: &str,
    (product, kind): (&str, &str),
) -> Result<Value> {
    let url = |(name, version): &Crate| format!("pkg:cargo/{name}@{version}");
    let component = |found: &Crate| {
        let is_it = |package: &&Package| package.name == found.0 && package.version == found.1;
        let package =
            graph.0.values().find(is_it).with_context(|| format!("{} is not in the graph", url(found)))?;
        let license =
            package.license.as_ref().with_context(|| format!("{} states no licence", url(found)))?;
        let mut component = json!({
            "type": "library", "bom-ref": url(found), "purl": url(found), "name": found.0, "version": found.1,
            // Old crates write `MIT/Apache-2.0`, which is no SPDX expression.
            "licenses": [{ "expression": license.replace('/', " OR ") }],
        });
        match sums.get(found) {
            Some(sum) => component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]),
            None if package.member => {}
            None => bail!("{} has no checksum in Cargo.lock", url(found)),
        }
        Ok(component)
    };
    let is_root = |found: &&Crate| found.0 == root;
    let mut subject =
        component(edges.keys().find(is_root).with_context(|| format!("{root} is not in its tree"))?)?;
    (subject["name"], subject["type"]) = (product.into(), kind.into());
    let components =
        edges.keys().filter(|found| !is_root(found)).map(component).collect::<Result<Vec<_>>>()?;
    let dependencies: Vec<Value> = edges
        .iter()
        .map(|(found, on)| json!({ "ref": url(found), "dependsOn": on.iter().map(url).collect::<Vec<_>>() }))
        .collect();
    Ok(json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": { "component": subject }, "components": components, "dependencies": dependencies,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_read_by_its_depths() {
        let tree = "0 a v1.0.0 (/a)\n1 b v2.0.0\n2 c v3.0.0 (proc-macro)\n1 c v3.0.0\n";
        let edges = edges(tree).unwrap();
        let names = |name: &str, version: &str| -> Vec<&str> {
            edges[&(name.into(), version.into())].iter().map(|found| found.0.as_str()).collect()
        };
        assert_eq!(
            [names("a", "1.0.0"), names("b", "2.0.0"), names("c", "3.0.0")],
            [vec!["b", "c"], vec!["c"], vec![]]
        );
        assert!(super::edges("0 a (/a)").is_err());
    }

    #[test]
    fn checksums_are_those_of_the_lock() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"00ff\"\n\n[[package]]\nname = \"b\"\nversion = \"0.1.0\"\n";
        assert_eq!(checksums(lock), BTreeMap::from([(("a".into(), "1.0.0".into()), "00ff".into())]));
    }
}

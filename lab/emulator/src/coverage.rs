//! Which VPMADD52 of the program have been emulated, function by function.

/// A function of this program with VPMADD52 in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its demangled name, or names where the linker has merged equal functions.
    pub name: String,
    /// The address of its first VPMADD52 in this process.
    pub address: u64,
    /// How many VPMADD52 it has.
    pub instructions: usize,
    /// How many of these have not been emulated since the process began.
    pub missed: usize,
}

/// Those that have been missed at least in part, of the functions that `wanted` names; sorted by name.
pub fn missed(wanted: impl Fn(&str) -> bool) -> Vec<Function> {
    coverage().into_iter().filter(|function| function.missed > 0 && wanted(&function.name)).collect()
}

/// All functions with VPMADD52, sorted by name; empty where nothing is emulated, or the program has no
/// symbols.
pub fn coverage() -> Vec<Function> {
    let mut functions = counted();
    functions.sort_by(|a, b| (&a.name, a.instructions).cmp(&(&b.name, b.instructions)));
    functions
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn counted() -> Vec<Function> {
    use rustc_demangle::demangle;
    use std::sync::atomic::Ordering;

    // Sites are sorted by address, so those of a function follow each other.
    let sites = crate::sites::all();
    let with_names = sites.iter().filter(|site| !site.functions.is_empty()).collect::<Vec<_>>();
    let functions = with_names.chunk_by(|a, b| a.functions == b.functions);
    functions
        .map(|sites| {
            let names: Vec<String> =
                sites[0].functions.iter().map(|name| format!("{:#}", demangle(name))).collect();
            Function {
                name: names.join(" = "),
                address: sites[0].address,
                instructions: sites.len(),
                missed: sites.iter().filter(|site| site.executed.load(Ordering::Relaxed) == 0).count(),
            }
        })
        .collect()
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn counted() -> Vec<Function> {
    Vec::new()
}

//! Configurations by which programs do not get to the module, or get to nothing else.

use std::collections::BTreeSet;

use zariz_peers::{Programs, Section};

/// OpenSSL's own providers, of which one is needed for everything except RSA.
const OWN: [&str; 2] = ["default", "fips"];

/// The fault of a configuration, if it has one, and the line that mends it.
pub fn warning(section: &Section, programs: &Programs) -> Option<String> {
    let (file, name, place) = (section.file.display(), &section.provider, &section.name);
    let query = programs.query.as_deref().unwrap_or("");
    if let Some(twice) = twice(query) {
        return Some(format!(
            "default_properties = {query} in {file} names {twice} twice, which OpenSSL refuses: write \
             default_properties = ?provider=zariz"
        ));
    }
    if !section.active {
        // Without a query, a program is meant to load and to choose it, as haproxy does.
        let asks = score(query, "zariz") > score(query, "default");
        return asks.then(|| format!("{file} asks for zariz, but does not load it: add activate = 1 to [{place}]"));
    }
    let position = |wanted: &str| programs.active.iter().position(|active| active == wanted);
    let Some(own) = OWN.into_iter().filter_map(|own| Some((own, position(own)?))).min_by_key(|(_, at)| *at) else {
        return Some(format!(
            "{file} makes {name} active and not default: programs cannot read keys, and have nothing but RSA; add \
             default to the providers, with activate = 1"
        ));
    };
    let (ours, theirs) = (score(query, "zariz"), score(query, own.0));
    match (ours, theirs) {
        (Some(_), None) if own.0 == "default" => Some(format!(
            "default_properties = {query} in {file} allows nothing except RSA, not even reading keys: write \
             default_properties = ?provider=zariz"
        )),
        // Of equals, OpenSSL takes the first.
        _ if ours > theirs || ours == theirs && ours.is_some() && position(name) < Some(own.1) => None,
        _ => Some(format!(
            "{file} does not choose zariz, so only programs that ask for provider=zariz themselves get to it: write \
             default_properties = ?provider=zariz"
        )),
    }
}

/// A clause of a query: a property's name in lower case, its value, whether it is to have it, and whether that is only
/// a wish (`property(7)`).
struct Clause<'a> {
    name: String,
    value: &'a str,
    equal: bool,
    optional: bool,
}

fn clauses(query: &str) -> impl Iterator<Item = Clause<'_>> {
    query.split(',').map(str::trim).filter(|clause| !clause.is_empty()).map(|clause| {
        let wish = clause.strip_prefix('?');
        let clause = wish.unwrap_or(clause);
        // A name alone means that it is yes.
        let (name, value) = clause.split_once('=').unwrap_or((clause, "yes"));
        let (name, equal) = name.strip_suffix('!').map_or((name, true), |name| (name, false));
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim().trim_matches(['\'', '"']));
        Clause { name, value, equal, optional: wish.is_some() }
    })
}

/// A property that a query names twice.
fn twice(query: &str) -> Option<String> {
    let mut names = BTreeSet::new();
    clauses(query).map(|clause| clause.name).find(|name| !names.insert(name.clone()))
}

/// How many of a query's clauses a provider's RSA has; nothing where it lacks one that is not optional.
fn score(query: &str, provider: &str) -> Option<usize> {
    clauses(query).try_fold(0, |score, clause| {
        let has = match clause.name.as_str() {
            "provider" => provider,
            "fips" if provider == "fips" => "yes",
            _ => "no",
        };
        match has.eq_ignore_ascii_case(clause.value) == clause.equal {
            true => Some(score + 1),
            false => clause.optional.then_some(score),
        }
    })
}

//! Finds configurations in which programs cannot use the module, or cannot use anything else.

use std::collections::BTreeSet;

use zariz_peers::{Programs, Section};

/// OpenSSL's own providers; everything except RSA needs one of them.
const OWN: [&str; 2] = ["default", "fips"];

/// The fault of a configuration, if it has one, and the line that fixes it.
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
        // Without a query, a program is expected to load and select it, like haproxy.
        let asks = score(query, "zariz") > score(query, "default");
        return asks
            .then(|| format!("{file} asks for zariz, but does not load it: add activate = 1 to [{place}]"));
    }
    let position = |wanted: &str| programs.active.iter().position(|active| active == wanted);
    let Some(own) = OWN.into_iter().filter_map(|own| Some((own, position(own)?))).min_by_key(|(_, at)| *at)
    else {
        return Some(format!(
            "{file} makes {name} active and not default: programs cannot read keys, and only have RSA; add \
             default to the providers, with activate = 1"
        ));
    };
    let (ours, theirs) = (score(query, "zariz"), score(query, own.0));
    match (ours, theirs) {
        (Some(_), None) if own.0 == "default" => Some(format!(
            "default_properties = {query} in {file} allows nothing except RSA, not even reading keys: write \
             default_properties = ?provider=zariz"
        )),
        // If scores are equal, OpenSSL takes the first provider.
        _ if ours > theirs || ours == theirs && ours.is_some() && position(name) < Some(own.1) => None,
        _ => Some(format!(
            "{file} does not choose zariz, so only programs that ask for provider=zariz themselves use it: write \
             default_properties = ?provider=zariz"
        )),
    }
}

/// A clause of a query (`property(7)`): a property's name in lower case, its value, whether the value must
/// match or must differ, and whether the clause is optional.
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
        // A name without a value means `yes`.
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

/// How many of a query's clauses a provider's RSA fulfils; `None` if it fails one that is not optional.
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

//! `zariz info`.

use serde_json::Value;

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

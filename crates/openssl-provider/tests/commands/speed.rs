//! `speed` measures zariz. How fast that is, other programs measure.

use crate::run::{Done, OURS, Place, Way};

/// Runs `speed` for a second, and checks that it reports as many operations as the provider counted.
#[track_caller]
fn speed(place: &Place, way: Way, options: &[&str]) -> Done {
    let command = [&["speed", "-elapsed", "-mr", "-seconds", "1"], options, &["rsa2048"]].concat();
    let done = place.run(way, &command).succeeds();
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(text.lines().any(|line| line.starts_with("+F2:") && line.contains(":2048:")), "{done:?}");
    // `+R1:signatures:bits:seconds`, `+R2:verifications:bits:seconds`.
    for (label, counted) in [("+R1:", done.counters.private), ("+R2:", done.counters.public)] {
        let line = text
            .lines()
            .chain(done.stderr.lines())
            .find_map(|line| line.strip_prefix(label))
            .expect("a count");
        let told: u64 = line.split(':').next().and_then(|count| count.parse().ok()).expect("a number");
        assert!(counted >= told && told > 0, "{told} of {label} and {done:?}");
    }
    assert_eq!((done.counters.fallbacks, done.counters.check_failures), (0, 0), "{done:?}");
    done
}

#[test]
fn one_after_the_other() {
    let place = Place::new();
    for way in OURS {
        let done = speed(&place, way, &[]);
        assert_eq!(done.counters.largest_batch, 1, "there is no other request: {done:?}");
    }
}

#[test]
fn jobs_are_batched() {
    let place = Place::new();
    for way in OURS {
        // The exact mean depends on what else the machine does; without batching it would be one.
        for (jobs, least) in [("8", 2.0), ("64", 6.0)] {
            let done = speed(&place, way, &["-async_jobs", jobs]);
            let mean = done.counters.mean_batch();
            assert!(mean >= least, "{mean} in each batch: {done:?}");
        }
    }
}

#[test]
fn processes_count_together() {
    let place = Place::new();
    for way in OURS {
        let command = ["speed", "-elapsed", "-seconds", "1", "-multi", "2", "-async_jobs", "8", "rsa1024"];
        let done = place.run(way, &command).succeeds();
        assert!(done.counters.private > 100 && done.counters.public > 100, "{done:?}");
    }
}

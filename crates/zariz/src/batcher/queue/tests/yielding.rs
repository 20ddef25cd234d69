//! When threads yield.

use super::*;

/// Threads yield while others keep the processor for no longer than allowed. After a longer time, none yields
/// for sixteen times as long.
#[test]
fn strangers_have_a_small_part_of_the_time() {
    let (start, ms) = (Instant::now(), Duration::from_millis);
    for (time, brought, pause) in
        [(ms(0), 0, 0), (ms(1), 0, 16), (ms(1), 1, 0), (ms(3), 4, 48), (ms(3), 5, 0), (ms(3), u64::MAX, 0)]
    {
        let mut yielding = YieldBackoff::default();
        assert!(yielding.is_due(start));
        yielding.note(start, time, brought);
        assert_eq!(yielding.is_due(start), pause == 0, "{time:?}, {brought} brought");
        if pause > 0 {
            assert!(!yielding.is_due(start + ms(pause) - Duration::from_nanos(1)));
        }
        // A shorter pause does not end a longer one.
        yielding.note(start, ms(1), if pause > 0 { 0 } else { 1 });
        assert_eq!(yielding.is_due(start + ms(pause) - Duration::from_nanos(1)), pause == 0);
        assert!(yielding.is_due(start + ms(pause)));
        yielding.note(start, Duration::MAX, 0);
        assert!(yielding.is_due(start), "a time that no clock reaches");
    }
}

/// No thread yields if the waiting requests fill a batch, or before a public operation.
#[test]
fn no_thread_yields_before_a_full_batch_or_a_public_operation() {
    model(|| {
        for (max_batch, waiting, gives) in
            [(2, 0, true), (2, 1, false), (1, 0, false), (100, 6, true), (100, 7, false)]
        {
            let queue = queue(Limits { max_batch, threads: Some(0), ..LIMITS });
            let mut state = queue.lock();
            state
                .waiting
                .extend((0..waiting).map(|name| Request::of_thread(Task::named(name), None)).collect());
            for (kind, expected) in [(Kind::Private, gives), (Kind::Long, gives), (Kind::Public, false)] {
                let given = queue.yields_at(&mut state, kind);
                assert_eq!(given.is_some(), expected, "{kind:?}: {waiting} of {max_batch}");
            }
        }
    });
}

//! When threads give way.

use super::*;

/// Where others have the processor for no longer than they may, all give way. After longer, nobody does for sixteen
/// times as long.
#[test]
fn strangers_have_a_small_part_of_the_time() {
    let (start, ms) = (Instant::now(), Duration::from_millis);
    for (time, brought, pause) in
        [(ms(0), 0, 0), (ms(1), 0, 16), (ms(1), 1, 0), (ms(3), 4, 48), (ms(3), 5, 0), (ms(3), u64::MAX, 0)]
    {
        let mut giving_way = GivingWay::default();
        assert!(giving_way.is_due(start));
        giving_way.note(start, time, brought);
        assert_eq!(giving_way.is_due(start), pause == 0, "{time:?}, {brought} brought");
        if pause > 0 {
            assert!(!giving_way.is_due(start + ms(pause) - Duration::from_nanos(1)));
        }
        // A shorter one does not end it.
        giving_way.note(start, ms(1), if pause > 0 { 0 } else { 1 });
        assert_eq!(giving_way.is_due(start + ms(pause) - Duration::from_nanos(1)), pause == 0);
        assert!(giving_way.is_due(start + ms(pause)));
        giving_way.note(start, Duration::MAX, 0);
        assert!(giving_way.is_due(start), "a time that no clock reaches");
    }
}

/// Where as many requests wait as fill a batch, nobody gives way: all are there. Nor does anybody before a public
/// operation.
#[test]
fn nobody_gives_way_before_a_full_batch_or_a_public_operation() {
    model(|| {
        for (max_batch, waiting, gives) in [(2, 0, true), (2, 1, false), (1, 0, false), (100, 6, true), (100, 7, false)]
        {
            let queue = queue(Limits { max_batch, threads: Some(0), ..LIMITS });
            let mut state = queue.lock();
            state.waiting.extend((0..waiting).map(|name| Request::of_thread(Task::named(name), None)).collect());
            for (kind, expected) in [(Kind::Private, gives), (Kind::Long, gives), (Kind::Public, false)] {
                let given = queue.gives_way(&mut state, kind);
                assert_eq!(given.is_some(), expected, "{kind:?}: {waiting} of {max_batch}");
            }
        }
    });
}

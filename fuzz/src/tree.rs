//! The span tree, beside the other ways to read JSON.

use rethread_json::{
    Event, Pull, PullError, Skim, Tree, Value, classify, compact, pretty, salvage,
};

/// Every way to read JSON takes the same texts; spans are where their values are; and whatever is
/// no JSON is classified and salvaged without an end to it.
pub fn tree(data: &[u8]) {
    let pieces = salvage(data);
    for piece in &pieces {
        assert!(data.get(piece.range()).is_some());
    }
    let _ = classify(data);
    let parsed = Tree::parse(data);
    assert_eq!(skims(data), parsed.is_ok(), "skimmed otherwise");
    assert_eq!(pulls(data), parsed.is_ok(), "pulled otherwise");
    let Ok(tree) = parsed else {
        assert!(compact(data).is_err());
        return;
    };
    assert_spans(tree.root(data), data);
    let small = compact(data).unwrap();
    assert_eq!(compact(&small).unwrap(), small);
    let wide = pretty(data, 2, 0);
    assert_eq!(compact(&wide).unwrap(), small);
}

/// Each value is within the one that it is in, and is a value by itself.
fn assert_spans(root: Value<'_>, data: &[u8]) {
    let mut left = vec![root];
    let mut seen = 0;
    while let Some(value) = left.pop() {
        let span = value.span();
        assert_eq!(data.get(span.clone()), Some(value.raw()));
        // Each alone would take the square of the time.
        seen += 1;
        if seen < 64 {
            let alone = Tree::parse(value.raw()).unwrap();
            assert_eq!(alone.root(value.raw()).kind(), value.kind());
        }
        let inside = |inner: &Value<'_>| {
            let inner = inner.span();
            span.start < inner.start && inner.end < span.end
        };
        for (key, member) in value.members() {
            assert!(inside(&key) && inside(&member));
            assert!(key.span().end < member.span().start);
            left.push(member);
        }
        for item in value.items() {
            assert!(inside(&item));
            left.push(item);
        }
    }
}

fn skims(data: &[u8]) -> bool {
    let mut skim = Skim::checking(data);
    skim.pass().is_ok() && skim.is_done()
}

fn pulls(data: &[u8]) -> bool {
    let mut pull = Pull::new(data);
    loop {
        match pull.next_event() {
            Ok(Event::End) => return true,
            Ok(_) => {}
            Err(PullError::Io(e)) => panic!("{e}"),
            Err(_) => return false,
        }
    }
}

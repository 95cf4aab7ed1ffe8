//! A ledger as bytes, for a cache: numbers in as few bytes as they need.

use std::hash::Hasher as _;

use rethread_model::ModelRef;

use crate::ledger::{
    ActiveSpan, CallRow, Oddity, OddityKind, ResponseRow, SessionLedger, SpanRow, TokenCounts,
};

/// The version of a ledger that is kept. It changes with its form, and with what is counted.
const LEDGER_VERSION: u8 = 1;

/// Whether bytes are a ledger of this version that nobody damaged.
pub fn is_whole_ledger(bytes: &[u8]) -> bool {
    bytes.first() == Some(&LEDGER_VERSION) && split_checksum(bytes).is_some()
}

/// A ledger without its checksum, which stands at the end; none if that does not fit.
fn split_checksum(bytes: &[u8]) -> Option<&[u8]> {
    let (ledger, checksum) = bytes.split_last_chunk()?;
    (u64::from_le_bytes(*checksum) == checksum_of(ledger)).then_some(ledger)
}

fn checksum_of(bytes: &[u8]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// The bytes of a ledger.
pub fn save_ledger(ledger: &SessionLedger) -> Vec<u8> {
    let mut out = LedgerBytes(vec![LEDGER_VERSION]);
    let SessionLedger {
        models,
        tools,
        responses,
        spans,
        calls,
        active,
        is_all_inherited,
        oddities,
    } = ledger;
    out.0.push(u8::from(*is_all_inherited));
    out.put_len(models.len());
    for model in models {
        out.put_text(model.provider.as_deref().unwrap_or_default());
        out.put_text(&model.id);
    }
    out.put_len(tools.len());
    for tool in tools {
        out.put_text(tool);
    }
    out.put_len(responses.len());
    let mut last = 0;
    for row in responses {
        let flags = u8::from(row.time.is_some())
            | u8::from(row.model.is_some()) << 1
            | u8::from(row.cost.is_some()) << 2
            | u8::from(row.is_inherited) << 3;
        out.0.push(flags);
        out.0.extend_from_slice(&row.key.to_le_bytes());
        if let Some(time) = row.time {
            out.put_signed(time.wrapping_sub(last));
            last = time;
        }
        if let Some(model) = row.model {
            out.put(u64::from(model));
        }
        if let Some(cost) = row.cost {
            out.0.extend_from_slice(&cost.to_bits().to_le_bytes());
        }
        for count in row.tokens.parts() {
            out.put(count);
        }
        out.put(u64::from(row.entry));
    }
    out.put_len(spans.len());
    for row in spans {
        out.put_quarter(row.quarter);
        for count in [
            row.messages,
            row.prompts,
            row.lines_added,
            row.lines_removed,
        ] {
            out.put(count);
        }
    }
    out.put_len(calls.len());
    for row in calls {
        out.put_quarter(row.quarter);
        out.put(u64::from(row.tool));
        for count in [row.calls, row.failed, row.duration_ms] {
            out.put(count);
        }
    }
    out.put_len(active.len());
    let mut last = 0;
    for span in active {
        out.put_signed(span.start.wrapping_sub(last));
        out.put_signed(span.end.wrapping_sub(span.start));
        last = span.end;
    }
    out.put_len(oddities.len());
    for odd in oddities {
        let kind = OddityKind::ALL.iter().position(|kind| *kind == odd.kind);
        out.put_len(kind.unwrap_or_default());
        out.put(odd.count);
        out.put(u64::from(odd.entry));
        out.put_text(&odd.example);
    }
    let checksum = checksum_of(&out.0);
    out.0.extend_from_slice(&checksum.to_le_bytes());
    out.0
}

/// The ledger that bytes hold; none if another version wrote them, or if they are damaged.
pub fn load_ledger(bytes: &[u8]) -> Option<SessionLedger> {
    // The checksum is compared once, by whoever takes it out of a cache.
    let (bytes, _) = bytes.split_last_chunk::<8>()?;
    let mut from = LedgerReader(bytes);
    if from.take_byte()? != LEDGER_VERSION {
        return None;
    }
    let mut ledger = SessionLedger {
        is_all_inherited: from.take_byte()? != 0,
        ..SessionLedger::default()
    };
    for _ in 0..from.take()? {
        let provider = Some(from.take_text()?).filter(|name| !name.is_empty());
        let id = from.take_text()?;
        ledger.models.push(ModelRef { provider, id });
    }
    for _ in 0..from.take()? {
        ledger.tools.push(from.take_text()?);
    }
    let mut last = 0_i64;
    for _ in 0..from.take()? {
        let flags = from.take_byte()?;
        let key = u64::from_le_bytes(from.take_eight()?);
        let mut time = None;
        if flags & 1 != 0 {
            last = last.wrapping_add(from.take_signed()?);
            time = Some(last);
        }
        let model = match flags & 2 {
            0 => None,
            _ => Some(from.take_u32()?),
        };
        let cost = match flags & 4 {
            0 => None,
            _ => Some(f64::from_bits(u64::from_le_bytes(from.take_eight()?))),
        };
        let mut parts = [0; 6];
        for part in &mut parts {
            *part = from.take()?;
        }
        ledger.responses.push(ResponseRow {
            key,
            time,
            model,
            tokens: TokenCounts::of_parts(parts),
            cost,
            is_inherited: flags & 8 != 0,
            entry: from.take_u32()?,
        });
    }
    for _ in 0..from.take()? {
        let mut quarter = None;
        from.take_quarter(&mut quarter)?;
        ledger.spans.push(SpanRow {
            quarter,
            messages: from.take()?,
            prompts: from.take()?,
            lines_added: from.take()?,
            lines_removed: from.take()?,
        });
    }
    for _ in 0..from.take()? {
        let mut quarter = None;
        from.take_quarter(&mut quarter)?;
        ledger.calls.push(CallRow {
            quarter,
            tool: from.take_u32()?,
            calls: from.take()?,
            failed: from.take()?,
            duration_ms: from.take()?,
        });
    }
    let mut last = 0_i64;
    for _ in 0..from.take()? {
        let start = last.wrapping_add(from.take_signed()?);
        last = start.wrapping_add(from.take_signed()?);
        ledger.active.push(ActiveSpan { start, end: last });
    }
    for _ in 0..from.take()? {
        let kind = usize::try_from(from.take()?).ok()?;
        ledger.oddities.push(Oddity {
            kind: *OddityKind::ALL.get(kind)?,
            count: from.take()?,
            entry: from.take_u32()?,
            example: from.take_text()?,
        });
    }
    from.0.is_empty().then_some(ledger)
}

struct LedgerBytes(Vec<u8>);

impl LedgerBytes {
    /// Seven bits a byte, the lowest first; the highest bit says that more follow.
    fn put(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push((number & 0x7f) as u8);
    }

    fn put_len(&mut self, len: usize) {
        self.put(len as u64);
    }

    /// A number that may be negative: small ones of both signs are short.
    fn put_signed(&mut self, number: i64) {
        self.put((number.wrapping_shl(1) ^ (number >> 63)).cast_unsigned());
    }

    fn put_quarter(&mut self, quarter: Option<i64>) {
        match quarter {
            Some(quarter) => {
                self.0.push(1);
                self.put_signed(quarter);
            }
            None => self.0.push(0),
        }
    }

    fn put_text(&mut self, text: &str) {
        self.put_len(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }
}

struct LedgerReader<'a>(&'a [u8]);

impl LedgerReader<'_> {
    fn take_byte(&mut self) -> Option<u8> {
        self.0.split_off_first().copied()
    }

    fn take(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take_byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn take_u32(&mut self) -> Option<u32> {
        self.take()?.try_into().ok()
    }

    fn take_signed(&mut self) -> Option<i64> {
        let number = self.take()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// Takes a quarter of an hour, which may be none, into its place.
    fn take_quarter(&mut self, quarter: &mut Option<i64>) -> Option<()> {
        *quarter = match self.take_byte()? {
            0 => None,
            _ => Some(self.take_signed()?),
        };
        Some(())
    }

    fn take_eight(&mut self) -> Option<[u8; 8]> {
        let (eight, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*eight)
    }

    fn take_text(&mut self) -> Option<String> {
        let len = usize::try_from(self.take()?).ok()?;
        let (text, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn full_ledger() -> SessionLedger {
        SessionLedger {
            models: vec![ModelRef {
                provider: Some("p".to_owned()),
                id: "m".to_owned(),
            }],
            tools: vec!["Bash".to_owned()],
            responses: vec![
                ResponseRow {
                    key: u64::MAX,
                    time: Some(-5),
                    model: Some(0),
                    tokens: TokenCounts::of_parts([1, 200, 40_000, u64::MAX, 5, 6]),
                    cost: Some(0.1),
                    is_inherited: true,
                    entry: 7,
                },
                ResponseRow::default(),
            ],
            spans: vec![SpanRow {
                quarter: Some(1_900_000),
                messages: 3,
                ..SpanRow::default()
            }],
            calls: vec![CallRow::default()],
            active: vec![ActiveSpan {
                start: 1_700_000_000_000,
                end: 1_700_000_300_000,
            }],
            is_all_inherited: true,
            oddities: vec![Oddity {
                kind: OddityKind::BadTime,
                count: 2,
                entry: 9,
                example: "-1".to_owned(),
            }],
        }
    }

    #[test]
    fn a_ledger_is_loaded_as_it_was_saved() {
        let ledger = full_ledger();
        let bytes = save_ledger(&ledger);
        assert_eq!(load_ledger(&bytes), Some(ledger));
        assert!(is_whole_ledger(&bytes));
        for cut in 0..bytes.len() {
            assert_eq!(load_ledger(&bytes[..cut]), None, "cut at {cut}");
            assert!(!is_whole_ledger(&bytes[..cut]), "cut at {cut}");
        }
    }

    proptest! {
        #[test]
        fn numbers_of_any_size_come_back(number in any::<u64>(), signed in any::<i64>()) {
            let mut out = LedgerBytes(Vec::new());
            out.put(number);
            out.put_signed(signed);
            let mut from = LedgerReader(&out.0);
            prop_assert_eq!(from.take(), Some(number));
            prop_assert_eq!(from.take_signed(), Some(signed));
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = load_ledger(&bytes);
            let mut versioned = vec![LEDGER_VERSION];
            versioned.extend(bytes);
            let _ = load_ledger(&versioned);
        }
    }
}

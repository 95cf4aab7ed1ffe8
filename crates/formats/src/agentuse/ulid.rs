//! Ids that sort by the time they were made: 48 bits of milliseconds, 80 random ones.

use rethread_model::Moment;

use crate::Env;

/// How many characters an id has.
pub(super) const LEN: usize = 26;

/// The digits of Crockford's base 32.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// How many of the characters tell the time.
const TIME: usize = 10;

/// Whether a name can be an id: programs are read leniently.
pub(super) fn is_id(name: &str) -> bool {
    name.len() == LEN && name.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Whether a text is an id as we write them.
pub(super) fn is_strict(text: &str) -> bool {
    text.len() == LEN
        && text.bytes().all(|b| DIGITS.contains(&b))
        && text.bytes().next().is_some_and(|b| b <= b'7')
}

/// The number that an id spells.
fn value_of(id: &str) -> Option<u128> {
    if !is_strict(id) {
        return None;
    }
    let digit = |b: u8| DIGITS.iter().position(|d| *d == b);
    let digits = id.bytes().map(|b| Some(digit(b)? as u128));
    digits
        .into_iter()
        .try_fold(0, |sum, digit| Some((sum << 5) | digit?))
}

/// The moment at which an id was made, if it is one.
pub(super) fn made_at(id: &str) -> Option<Moment> {
    if !is_id(id) {
        return None;
    }
    let mut millis: i64 = 0;
    for byte in id.bytes().take(TIME) {
        let upper = byte.to_ascii_uppercase();
        let digit = DIGITS.iter().position(|d| *d == upper)?;
        millis = millis
            .checked_mul(32)?
            .checked_add(i64::try_from(digit).ok()?)?;
    }
    Moment::from_millis(millis)
}

/// Makes ids that follow each other in the order in which they were asked for.
#[derive(Debug)]
pub(super) struct UlidSource {
    value: u128,
}

impl UlidSource {
    /// Begins now. `salt` makes ids of the same seed differ.
    pub(super) fn new(env: &Env, salt: &[u8]) -> Self {
        Self::at(env.now(), env, salt)
    }

    /// Begins at a moment.
    pub(super) fn at(moment: Moment, env: &Env, salt: &[u8]) -> Self {
        let millis = u128::try_from(moment.millis()).unwrap_or(0) & ((1 << 48) - 1);
        let random = u128::from_be_bytes(env.random_bytes(salt)) & ((1 << 80) - 1);
        // Room above, so that ids that follow never change the time.
        let random = random & !(1 << 79);
        Self {
            value: (millis << 80) | random,
        }
    }

    /// Goes on behind an id that is there, if that is of the same time or later.
    pub(super) fn follow(&mut self, id: &str) {
        self.value = self.value.max(value_of(id).unwrap_or(0));
    }

    /// The next id.
    pub(super) fn next(&mut self) -> String {
        self.value = self.value.wrapping_add(1);
        let mut rest = self.value;
        let mut text = [0; LEN];
        for place in text.iter_mut().rev() {
            *place = DIGITS[usize::try_from(rest & 31).unwrap_or(0)];
            rest >>= 5;
        }
        text.iter().map(|b| char::from(*b)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn ids_tell_their_time_and_follow_each_other() {
        let env = Env::from_variables(BTreeMap::new(), Some("/h".into()), "/w".into()).unwrap();
        let moment = Moment::from_millis(1_777_916_810_252).unwrap();
        let mut ids = UlidSource::new(&env.at(moment), b"");
        let made: Vec<String> = (0..100).map(|_| ids.next()).collect();
        assert!(made.is_sorted());
        for id in &made {
            assert!(is_strict(id), "{id}");
            assert_eq!(made_at(id), Some(moment));
        }
        assert!(made[0].starts_with("01KQT1K50C"), "{}", made[0]);
        let mut others = UlidSource::new(&env.at(moment), b"");
        others.follow(&made[99]);
        let next = others.next();
        assert!(next > made[99] && is_strict(&next), "{next}");
    }

    #[test]
    fn what_is_no_id() {
        for text in ["", "01KQT1K50C", "01KQT1K50CRD3FNF13AABN9X8-", "é"] {
            assert!(!is_id(text), "{text}");
        }
        assert!(is_id("01kqt1k50crd3fnf13aabn9x8q"));
        assert!(!is_strict("01kqt1k50crd3fnf13aabn9x8q"));
        assert!(
            !is_strict("81KQT1K50CRD3FNF13AABN9X8Q"),
            "beyond 48 bits of time"
        );
        assert_eq!(made_at("UUUUUUUUUUUUUUUUUUUUUUUUUU"), None);
    }
}

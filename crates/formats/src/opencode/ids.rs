//! Ids as the client makes them: twelve hexadecimal digits of time, and fourteen signs of chance.

use crate::Env;

/// The signs of chance.
const SIGNS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The low 48 bits of milliseconds times 4096: they begin anew every 795 days.
const BITS: u64 = (1 << 48) - 1;

/// Makes ids of one moment, each of which is later than the one before.
pub(super) struct IdSource<'a> {
    env: &'a Env,
    /// How much there is already: with the same clock and seed, chance follows from it.
    there: u64,
    made: u64,
}

impl<'a> IdSource<'a> {
    pub(super) fn new(env: &'a Env, there: u64) -> Self {
        Self {
            env,
            there,
            made: 0,
        }
    }

    /// An id of a session: the newest is the first.
    pub(super) fn session(&mut self) -> String {
        let time = !self.next() & BITS;
        self.spelled("ses", time)
    }

    /// An id of a message.
    pub(super) fn message(&mut self) -> String {
        let time = self.next() & BITS;
        self.spelled("msg", time)
    }

    /// An id of a part.
    pub(super) fn part(&mut self) -> String {
        let time = self.next() & BITS;
        self.spelled("prt", time)
    }

    fn next(&mut self) -> u64 {
        self.made += 1;
        let now = u64::try_from(self.env.now().millis()).unwrap_or(0);
        now.wrapping_mul(0x1000).wrapping_add(self.made)
    }

    fn spelled(&self, prefix: &str, time: u64) -> String {
        let salt = [time.to_le_bytes(), self.there.to_le_bytes()].concat();
        let chance = self.env.random_bytes(&salt);
        let sign = |byte: &u8| char::from(SIGNS[usize::from(*byte) % SIGNS.len()]);
        let chance: String = chance[..14].iter().map(sign).collect();
        format!("{prefix}_{time:012x}{chance}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_in_order_and_new_sessions_come_first() {
        let variables = [
            ("RETHREAD_NOW", "2026-01-02T03:04:05Z"),
            ("RETHREAD_SEED", "1"),
        ];
        let variables = variables.map(|(k, v)| (k.to_owned(), v.into()));
        let env = Env::from_variables(variables.into(), Some("/h".into()), "/w".into()).unwrap();
        let mut ids = IdSource::new(&env, 0);
        let (a, b) = (ids.message(), ids.message());
        assert!(a < b && a.len() == 30, "{a} {b}");
        let (a, b) = (ids.session(), ids.session());
        assert!(a > b, "{a} {b}");
    }
}

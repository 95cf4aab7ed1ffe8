//! Ids of messages, also of those whose source gives none.

use std::borrow::Cow;
use std::fmt::Write;

use rethread_model::{EntryIx, Session};
use sha2::{Digest, Sha256};

/// The id of an entry. Where `made` says so and the source gives none, it follows from the session
/// and the place of the entry, so that it is the same every time.
pub(super) fn id_of(session: &Session, ix: EntryIx, made: bool) -> Cow<'_, str> {
    let id = session.id(ix);
    if id.is_empty() && made {
        Cow::Owned(made_up(&session.head.id, ix.get()))
    } else {
        Cow::Borrowed(id)
    }
}

/// A UUID of version 8: the bytes are those of a digest.
fn made_up(session: &str, place: usize) -> String {
    let digest = Sha256::new()
        .chain_update(b"message of a session without ids\0")
        .chain_update(session.as_bytes())
        .chain_update(b"\0")
        .chain_update(place.to_string().as_bytes())
        .finalize();
    let mut text = String::with_capacity(36);
    for (i, byte) in digest.iter().copied().take(16).enumerate() {
        let byte = match i {
            6 => 0x80 | (byte & 0x0f),
            8 => 0x80 | (byte & 0x3f),
            _ => byte,
        };
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::made_up;

    #[test]
    fn made_up_ids_are_uuids_and_stay_the_same() {
        let id = made_up("s", 3);
        assert_eq!(id, made_up("s", 3));
        assert_ne!(id, made_up("s", 4));
        assert_ne!(id, made_up("t", 3));
        assert_eq!(id.len(), 36);
        assert_eq!(id.as_bytes()[14], b'8');
        assert!(matches!(id.as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
    }
}

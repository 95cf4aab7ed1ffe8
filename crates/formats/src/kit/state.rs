//! Values as bytes, for a cache: fields one behind the other, without names. Whoever changes what is
//! saved changes [`super::scan::STATE_VERSION`].

use std::collections::HashSet;
use std::hash::BuildHasher;
use std::path::PathBuf;

use rethread_json::LineSpan;
use rethread_model::{
    Activity, ActivitySpan, ConvertedFrom, Cost, Counts, Link, LinkKind, ModelRef, Moment, RawRef,
    Usage, UsageRecord, UsageScope,
};

use crate::first_prompt::FirstPrompt;
use crate::times::Times;

/// A value that can be saved as bytes for a cache, and loaded again by the same version of the program.
pub trait SavedState: Sized {
    /// Appends the value.
    fn save(&self, out: &mut Vec<u8>);

    /// Takes the value from the beginning of the bytes; none if they hold none.
    fn load(bytes: &mut &[u8]) -> Option<Self>;
}

/// Saves a struct field by field. One that is left out does not compile.
macro_rules! saved_struct {
    ($type:ty { $($field:ident),+ $(,)? }) => {
        impl $crate::kit::SavedState for $type {
            fn save(&self, out: &mut Vec<u8>) {
                let Self { $($field),+ } = self;
                $($crate::kit::SavedState::save($field, out);)+
            }

            fn load(bytes: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: $crate::kit::SavedState::load(bytes)?),+ })
            }
        }
    };
}

/// Saves an enum without fields as the number of its variant.
macro_rules! saved_enum {
    ($type:ty { $($variant:ident = $number:literal),+ $(,)? }) => {
        impl $crate::kit::SavedState for $type {
            fn save(&self, out: &mut Vec<u8>) {
                out.push(match self { $(Self::$variant => $number),+ });
            }

            fn load(bytes: &mut &[u8]) -> Option<Self> {
                match bytes.split_off_first()? {
                    $($number => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use {saved_enum, saved_struct};

impl SavedState for Activity {
    fn save(&self, out: &mut Vec<u8>) {
        let spans = self.spans().iter();
        let spans: Vec<(i64, u64)> = spans.map(|s| (s.quarter, s.messages)).collect();
        spans.save(out);
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        let spans: Vec<(i64, u64)> = SavedState::load(bytes)?;
        let span = |(quarter, messages)| ActivitySpan { quarter, messages };
        Some(Self::of_spans(spans.into_iter().map(span)))
    }
}

impl SavedState for u64 {
    fn save(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        let (number, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(Self::from_le_bytes(*number))
    }
}

impl SavedState for i64 {
    fn save(&self, out: &mut Vec<u8>) {
        self.cast_unsigned().save(out);
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        Some(u64::load(bytes)?.cast_signed())
    }
}

impl SavedState for f64 {
    fn save(&self, out: &mut Vec<u8>) {
        self.to_bits().save(out);
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        Some(Self::from_bits(u64::load(bytes)?))
    }
}

impl SavedState for u32 {
    fn save(&self, out: &mut Vec<u8>) {
        u64::from(*self).save(out);
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        u64::load(bytes)?.try_into().ok()
    }
}

impl SavedState for u8 {
    fn save(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        bytes.split_off_first().copied()
    }
}

impl SavedState for bool {
    fn save(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        match u8::load(bytes)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl SavedState for String {
    fn save(&self, out: &mut Vec<u8>) {
        (self.len() as u64).save(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        Self::from_utf8(Vec::load(bytes)?).ok()
    }
}

impl SavedState for PathBuf {
    fn save(&self, out: &mut Vec<u8>) {
        let bytes = self.as_os_str().as_encoded_bytes();
        (bytes.len() as u64).save(out);
        out.extend_from_slice(bytes);
    }

    #[cfg(unix)]
    fn load(bytes: &mut &[u8]) -> Option<Self> {
        use std::os::unix::ffi::OsStringExt as _;
        Some(std::ffi::OsString::from_vec(Vec::load(bytes)?).into())
    }

    /// A path that is no Unicode is not loaded: then all is read anew.
    #[cfg(not(unix))]
    fn load(bytes: &mut &[u8]) -> Option<Self> {
        String::load(bytes).map(Self::from)
    }
}

impl<T: SavedState> SavedState for Option<T> {
    fn save(&self, out: &mut Vec<u8>) {
        self.is_some().save(out);
        if let Some(value) = self {
            value.save(out);
        }
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        Some(if bool::load(bytes)? {
            Some(T::load(bytes)?)
        } else {
            None
        })
    }
}

impl<T: SavedState> SavedState for Vec<T> {
    fn save(&self, out: &mut Vec<u8>) {
        (self.len() as u64).save(out);
        for value in self {
            value.save(out);
        }
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        let len = usize::try_from(u64::load(bytes)?).ok()?;
        // Each takes a byte at least, so more than there are bytes is no length.
        let mut values = Self::with_capacity(len.min(bytes.len()));
        for _ in 0..len {
            values.push(T::load(bytes)?);
        }
        Some(values)
    }
}

impl<T: SavedState, const N: usize> SavedState for [T; N] {
    fn save(&self, out: &mut Vec<u8>) {
        for value in self {
            value.save(out);
        }
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        let values: Option<Vec<T>> = (0..N).map(|_| T::load(bytes)).collect();
        values?.try_into().ok()
    }
}

impl<A: SavedState, B: SavedState> SavedState for (A, B) {
    fn save(&self, out: &mut Vec<u8>) {
        self.0.save(out);
        self.1.save(out);
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        Some((A::load(bytes)?, B::load(bytes)?))
    }
}

impl<S: BuildHasher + Default> SavedState for HashSet<String, S> {
    fn save(&self, out: &mut Vec<u8>) {
        let mut texts: Vec<String> = self.iter().cloned().collect();
        texts.sort_unstable();
        texts.save(out);
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        Some(<Vec<String>>::load(bytes)?.into_iter().collect())
    }
}

impl SavedState for Moment {
    fn save(&self, out: &mut Vec<u8>) {
        self.millis().save(out);
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        Self::from_millis(i64::load(bytes)?)
    }
}

saved_struct!(RawRef { part, record });
saved_struct!(LineSpan {
    offset,
    len,
    terminated,
    number
});
saved_struct!(Times { first, last });
saved_struct!(FirstPrompt { words, command });
saved_struct!(ConvertedFrom { format, id, path });
saved_struct!(ModelRef { provider, id });
saved_struct!(Cost { usd });
saved_struct!(Usage {
    input,
    cache_read,
    cache_write,
    cache_write_1h,
    output,
    reasoning,
    recorded_total,
    cost,
    scope,
});
saved_struct!(UsageRecord {
    usage,
    model,
    purpose
});
saved_struct!(Counts {
    messages,
    user_messages,
    assistant_messages,
    tool_calls,
    usage
});
saved_struct!(Link {
    kind,
    session,
    entry,
    tool_call
});
saved_enum!(UsageScope {
    Response = 0,
    Turn = 1,
    Cumulative = 2,
    WithSubAgents = 3,
});
saved_enum!(LinkKind {
    Parent = 0,
    SubAgent = 1,
    ForkOf = 2,
    Continues = 3,
    ContinuedIn = 4,
    Review = 5,
});

#[cfg(test)]
mod tests {
    use super::*;

    fn load_alike<T: SavedState>(_like: &T, mut bytes: &[u8]) -> Option<T> {
        T::load(&mut bytes)
    }

    #[test]
    fn what_is_saved_is_loaded_again() {
        let state = (
            vec![Some("a".to_owned()), None],
            (
                Counts {
                    messages: 7,
                    usage: Some(Usage {
                        cost: Some(Cost { usd: 0.1 }),
                        scope: UsageScope::WithSubAgents,
                        ..Usage::default()
                    }),
                    ..Counts::default()
                },
                [Moment::from_millis(-5), None],
            ),
        );
        let mut bytes = Vec::new();
        state.save(&mut bytes);
        assert_eq!(load_alike(&state, &bytes).as_ref(), Some(&state));
        for cut in 0..bytes.len() {
            let loaded = load_alike(&state, &bytes[..cut]);
            assert_eq!(loaded, None, "cut at {cut}");
        }
    }

    #[test]
    fn what_nobody_saved_is_refused() {
        assert_eq!(<Vec<u64>>::load(&mut &[0xFF; 8][..]), None);
        assert_eq!(bool::load(&mut &[2][..]), None);
        assert_eq!(LinkKind::load(&mut &[9][..]), None);
        let not_utf8 = [1, 0, 0, 0, 0, 0, 0, 0, 0xFF];
        assert_eq!(String::load(&mut &not_utf8[..]), None);
    }
}

//! What becomes of the types of records that a client is known to write.

/// What becomes of a type of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// What it says is in the conversation, or is known about the whole of it.
    Understood,
    /// It is shown as something that happened.
    Event,
    /// Its bytes are kept, and nothing is made of them.
    Unread,
}

impl Treatment {
    /// The words for it in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Understood => "understood",
            Self::Event => "kept as event",
            Self::Unread => "kept unread",
        }
    }

    /// What becomes of the type of this name, by the types that are treated alike: those that are
    /// understood, those that are events, and those that are not read.
    pub(crate) fn find(name: &str, types: [&[&str]; 3]) -> Option<Self> {
        let treatments = [Self::Understood, Self::Event, Self::Unread];
        let mut tables = types.into_iter().zip(treatments);
        let found = tables.find(|(types, _)| types.contains(&name));
        found.map(|(_, treatment)| treatment)
    }
}

//! An object whose members were found in one pass, to be asked for several of them.

use rethread_json::{Key, Object, Passed, Skim, Strayed};
use rethread_model::Json;

/// A value, with its members if it is an object.
#[derive(Clone, Debug)]
pub(super) struct Members<'a> {
    value: Passed<'a>,
    all: Vec<(Key<'a>, Passed<'a>)>,
}

impl<'a> Members<'a> {
    /// Those of a value.
    pub(super) fn of(value: Passed<'a>) -> Self {
        Self {
            value,
            all: value.members().collect(),
        }
    }

    /// Those of the value in some bytes that are known to be JSON.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        Self::next(&mut Skim::trusting(bytes)).ok()
    }

    /// Those of the next value, which is gone through.
    pub(super) fn next(skim: &mut Skim<'a>) -> Result<Self, Strayed> {
        Self::each(skim, |skim, _| skim.pass().map(drop))
    }

    /// The same, where somebody goes through the value of each by its name.
    pub(super) fn each(
        skim: &mut Skim<'a>,
        mut pass: impl FnMut(&mut Skim<'a>, &[u8]) -> Result<(), Strayed>,
    ) -> Result<Self, Strayed> {
        let mut all = Vec::new();
        let start = skim.offset();
        if !skim.enter_object() {
            let value = skim.pass()?;
            return Ok(Self { value, all });
        }
        all.reserve(USUAL);
        while let Some(key) = skim.next_key()? {
            let start = skim.offset();
            pass(skim, &key.bytes())?;
            all.push((key, skim.since(start)));
        }
        let value = skim.since(start);
        Ok(Self { value, all })
    }

    /// Those of what a row, which is next, has in its column `data`; of the row itself where there
    /// is no such column.
    pub(super) fn data(skim: &mut Skim<'a>) -> Result<Self, Strayed> {
        let mut data = None;
        let row = Self::each(skim, |skim, name| {
            match name {
                b"data" => data = Some(Self::next(skim)?),
                _ => drop(skim.pass()?),
            }
            Ok(())
        })?;
        Ok(data.unwrap_or(row))
    }

    /// The value itself.
    pub(super) fn value(&self) -> Passed<'a> {
        self.value
    }

    /// Several members at once. Of several with the same name the last one counts.
    pub(super) fn pick<const N: usize>(&self, names: [&str; N]) -> [Option<Passed<'a>>; N] {
        names.map(|name| self.get(name))
    }

    /// The member of that name. Of several with the same name the last one counts.
    pub(super) fn get(&self, name: &str) -> Option<Passed<'a>> {
        let mut last_first = self.all.iter().rev();
        let is_it = |(key, _): &&(Key<'_>, Passed<'_>)| *key.bytes() == *name.as_bytes();
        last_first.find(is_it).map(|(_, value)| *value)
    }

    /// Whether there is a member of this name with something in it.
    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !value.is_null())
    }

    /// Whether a member is `true`.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.get(name).and_then(Passed::bool) == Some(true)
    }

    /// Whether a member is this text.
    pub(super) fn is_str(&self, name: &str, text: &str) -> bool {
        self.get(name).is_some_and(|value| value.is_str(text))
    }

    /// The members that are not among these, as one JSON object.
    pub(super) fn others(&self, known: &[&str]) -> Option<Json> {
        let mut others = Object::new();
        for (key, value) in &self.all {
            let name = key.text();
            if !known.contains(&&*name) {
                others = others.raw(&name, value.raw());
            }
        }
        (!others.is_empty()).then(|| Json::new(&others.finish()))
    }
}

/// Few objects have more members.
const USUAL: usize = 8;

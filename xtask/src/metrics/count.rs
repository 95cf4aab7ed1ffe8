//! What is counted in parsed source files.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use syn::visit::{self, Visit};
use syn::{Attribute, FnArg, ImplItemFn, ItemFn, Meta, Signature, TraitItemFn, Type};

use super::source::SourceFile;

/// What was counted in the files of a crate.
#[derive(Default)]
pub(super) struct CrateCounts {
    /// Lines of code.
    pub(super) lines: usize,
    /// Functions and methods whose names were chosen here: not those of implemented traits.
    pub(super) functions: usize,
    /// Those whose name is one word.
    pub(super) one_word: usize,
    /// Those with a parameter that is a tuple.
    pub(super) tuple_parameters: usize,
    /// Traits, and how many methods each has.
    pub(super) traits: Vec<(String, usize)>,
    /// How often each name of a type is defined.
    types: BTreeMap<String, usize>,
}

impl CrateCounts {
    /// Names that more than one type of the crate has.
    pub(super) fn repeated_types(&self) -> impl Iterator<Item = &str> {
        let twice = self.types.iter().filter(|(_, times)| **times > 1);
        twice.map(|(name, _)| name.as_str())
    }

    /// Adds what another crate has. Types of different crates may share a name.
    pub(super) fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.functions += other.functions;
        self.one_word += other.one_word;
        self.tuple_parameters += other.tuple_parameters;
        self.traits.extend(other.traits);
    }

    fn add_function(&mut self, signature: &Signature) {
        self.functions += 1;
        let name = signature.ident.to_string();
        self.one_word += usize::from(!name.trim_matches('_').contains('_'));
        let is_tuple = |arg: &FnArg| match arg {
            FnArg::Typed(arg) => is_tuple(&arg.ty),
            FnArg::Receiver(_) => false,
        };
        self.tuple_parameters += usize::from(signature.inputs.iter().any(is_tuple));
    }

    fn add_type(&mut self, name: &syn::Ident) {
        *self.types.entry(name.to_string()).or_default() += 1;
    }
}

/// Counts what one file has.
pub(super) fn count_file(counts: &mut CrateCounts, file: &SourceFile) -> Result<()> {
    counts.lines += file.code_lines();
    let parsed = syn::parse_file(&file.text)
        .with_context(|| format!("`{}` cannot be parsed", file.path.display()))?;
    Counter { counts }.visit_file(&parsed);
    Ok(())
}

struct Counter<'a> {
    counts: &'a mut CrateCounts,
}

impl<'ast> Visit<'ast> for Counter<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if !is_test(&function.attrs) {
            self.counts.add_function(&function.sig);
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        if block.trait_.is_none() {
            for item in &block.items {
                if let syn::ImplItem::Fn(ImplItemFn { sig, .. }) = item {
                    self.counts.add_function(sig);
                }
            }
        }
        visit::visit_item_impl(self, block);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let mut methods = 0;
        for part in &item.items {
            if let syn::TraitItem::Fn(TraitItemFn { sig, .. }) = part {
                self.counts.add_function(sig);
                methods += 1;
            }
        }
        self.counts.traits.push((item.ident.to_string(), methods));
        self.counts.add_type(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.counts.add_type(&item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.counts.add_type(&item.ident);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.counts.add_type(&item.ident);
    }
}

/// Whether a parameter is a tuple of several things, also behind a reference or in a slice.
fn is_tuple(mut parameter: &Type) -> bool {
    loop {
        parameter = match parameter {
            Type::Reference(inner) => &inner.elem,
            Type::Slice(inner) => &inner.elem,
            Type::Tuple(tuple) => return tuple.elems.len() > 1,
            _ => return false,
        };
    }
}

/// Whether something is there only in tests.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        Meta::NameValue(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> CrateCounts {
        let mut counts = CrateCounts::default();
        let file = SourceFile {
            path: "x.rs".into(),
            text: text.to_owned(),
        };
        count_file(&mut counts, &file).unwrap();
        counts
    }

    #[test]
    fn functions_are_counted_where_their_names_were_chosen() {
        let counts = count(
            "fn read() {}\nfn read_all(pair: (u8, &str)) {}\nimpl A { fn _go(&self, x: &[(u8, u8)]) {} }\n\
             impl Drop for A { fn drop(&mut self) {} }\n#[cfg(test)]\nmod tests { fn one() {} }\n",
        );
        assert_eq!((counts.functions, counts.one_word), (3, 2));
        assert_eq!(counts.tuple_parameters, 2);
        assert_eq!(counts.lines, 4);
    }

    #[test]
    fn traits_and_repeated_types_are_counted() {
        let counts = count(
            "trait Store { fn find(&self); fn list_all(&self) {} }\nstruct Place;\nmod inner { enum Place {} }\n",
        );
        assert_eq!(counts.traits, [("Store".to_owned(), 2)]);
        assert_eq!(counts.repeated_types().collect::<Vec<_>>(), ["Place"]);
    }
}

//! Naming the facets of a format.

/// Implements [`Format`](crate::Format) for a type that is its own store and reader, and has these facets
/// besides. Its facts are found by a function of the value.
macro_rules! format_facets {
    ($format:ty, $about:expr, [$($facet:ident),*]) => {
        impl $crate::Format for $format {
            fn about(&self) -> &'static $crate::About {
                let about: fn(&Self) -> &'static $crate::About = $about;
                about(self)
            }

            fn store(&self) -> &dyn $crate::Store {
                self
            }

            fn reader(&self) -> &dyn $crate::Reader {
                self
            }

            $($crate::format::format_facets!(@ $facet);)*
        }
    };
    (@ Writer) => {
        fn writer(&self) -> Option<&dyn $crate::Writer> {
            Some(self)
        }
    };
    (@ Carrier) => {
        fn carrier(&self) -> Option<&dyn $crate::Carrier> {
            Some(self)
        }
    };
    (@ Client) => {
        fn client(&self) -> Option<&dyn $crate::Client> {
            Some(self)
        }
    };
    (@ Rules) => {
        fn rules(&self) -> Option<&dyn $crate::Rules> {
            Some(self)
        }
    };
    (@ Projects) => {
        fn projects(&self) -> Option<&dyn $crate::Projects> {
            Some(self)
        }
    };
}

pub(crate) use format_facets;

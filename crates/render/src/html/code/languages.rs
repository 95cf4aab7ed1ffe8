//! What words of each language look like.

/// How a language is read.
#[derive(Clone, Copy)]
pub(super) enum Language {
    /// Tags and text.
    Markup,
    /// Words, as these rules tell them apart.
    Words(&'static LanguageRules),
}

/// What words of a language look like.
#[allow(
    clippy::struct_excessive_bools,
    reason = "languages have these in any combination"
)]
pub(super) struct LanguageRules {
    /// Separated by spaces, and in the order of their bytes.
    pub(super) keywords: &'static str,
    /// Names of types that begin with a small letter, likewise.
    pub(super) types: &'static str,
    /// What begins a comment to the end of the line.
    pub(super) lines: &'static [&'static str],
    /// What begins a comment, and what ends it.
    pub(super) blocks: &'static [(&'static str, &'static str)],
    /// The longest first.
    pub(super) quotes: &'static [QuoteStyle],
    pub(super) keys: KeyStyle,
    /// `name!(`
    pub(super) macros: bool,
    /// `'a`
    pub(super) lifetimes: bool,
    /// `r#"…"#`
    pub(super) raw_strings: bool,
    /// `#[…]`
    pub(super) attributes: bool,
    /// `@name`
    pub(super) decorators: bool,
    /// `#name` at the beginning of a line.
    pub(super) directives: bool,
    /// `$name`
    pub(super) variables: bool,
    /// The first word of a line is a command.
    pub(super) commands: bool,
    /// Names may have `-` in them.
    pub(super) dashes: bool,
    /// `#fff`
    pub(super) colours: bool,
    /// Keywords may be spelled in large letters.
    pub(super) any_case: bool,
}

/// How the keys of a language are told from its values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyStyle {
    /// It has none.
    None,
    /// `"key": …`
    Quoted,
    /// `key: …`, anywhere.
    Names,
    /// `key: …`, at the beginning of a line.
    Lines,
    /// `key = …` and `[section]`, at the beginning of a line.
    Settings,
}

/// What a string is put in.
pub(super) struct QuoteStyle {
    pub(super) mark: &'static str,
    /// Whether a backslash hides what follows.
    pub(super) escapes: bool,
    /// Whether it goes over several lines.
    pub(super) lines: bool,
}

/// The known words of a language, to look names up in.
pub(super) struct KnownWords {
    keywords: Vec<&'static str>,
    types: Vec<&'static str>,
    any_case: bool,
    camel: bool,
}

impl LanguageRules {
    pub(super) fn known_words(&self) -> KnownWords {
        KnownWords {
            keywords: self.keywords.split(' ').collect(),
            types: self.types.split(' ').collect(),
            any_case: self.any_case,
            camel: self.keys == KeyStyle::None && !self.any_case && !self.commands,
        }
    }
}

impl KnownWords {
    pub(super) fn is_keyword(&self, name: &str) -> bool {
        self.is_in(&self.keywords, name)
    }

    /// Whether a name is that of a type: one that is known, or one in `CamelCase`.
    pub(super) fn is_type(&self, name: &str) -> bool {
        let camel = || name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
        self.is_in(&self.types, name) || (self.camel && camel())
    }

    fn is_in(&self, words: &[&str], name: &str) -> bool {
        if self.any_case {
            return words.binary_search(&&*name.to_ascii_lowercase()).is_ok();
        }
        words.binary_search(&name).is_ok()
    }
}

fn is_among(words: &str, name: &str) -> bool {
    words.split(' ').any(|word| word == name)
}

/// The language with this name, in any case.
pub(super) fn language_named(name: &str) -> Option<Language> {
    let name = name.to_ascii_lowercase();
    if is_among(MARKUP, &name) {
        return Some(Language::Markup);
    }
    let found = ALL.iter().find(|(names, _)| is_among(names, &name))?;
    Some(Language::Words(found.1))
}

/// Whether words are in the order in which they are looked up.
#[cfg(test)]
pub(super) fn are_sorted() -> bool {
    ALL.iter().all(|(_, rules)| {
        let known = rules.known_words();
        known.keywords.is_sorted() && known.types.is_sorted()
    })
}

/// All names of languages.
#[cfg(test)]
pub(super) fn all_names() -> Vec<&'static str> {
    let all = ALL.iter().flat_map(|(names, _)| names.split(' '));
    all.chain(MARKUP.split(' ')).collect()
}

const MARKUP: &str = "html xml svg xhtml vue svelte astro plist xaml";

/// The rules, by the names that languages go by: in code blocks, and as suffixes of files.
const ALL: &[(&str, &LanguageRules)] = &[
    ("rust rs", &RUST),
    (
        "javascript js jsx mjs cjs typescript ts tsx mts cts node",
        &SCRIPT,
    ),
    ("python py pyi python3 starlark bzl gd", &PYTHON),
    ("go golang", &GO),
    (
        "c h cc cpp cxx hpp hh c++ objc objective-c m mm cuda cu glsl hlsl wgsl ino",
        &C,
    ),
    (
        "java kotlin kt kts scala csharp cs c# groovy gradle dart",
        &JAVA,
    ),
    ("swift", &SWIFT),
    ("php", &PHP),
    ("ruby rb rake gemfile crystal", &RUBY),
    (
        "sh bash shell zsh fish console shellsession sh-session terminal",
        &SHELL,
    ),
    ("powershell ps1 pwsh", &POWERSHELL),
    ("sql sqlite postgres postgresql mysql plsql", &SQL),
    ("json jsonc json5 jsonl ndjson", &JSON),
    ("yaml yml", &YAML),
    ("toml ini conf cfg properties env editorconfig", &SETTINGS),
    ("css scss sass less", &CSS),
    ("lua luau", &LUA),
    ("haskell hs elm purescript", &HASKELL),
    ("ocaml ml mli fsharp fs f#", &OCAML),
    ("elixir ex exs erlang erl", &ELIXIR),
    ("zig", &ZIG),
    ("lisp clojure clj cljs scheme elisp el edn", &LISP),
    ("perl pl pm", &PERL),
    ("r julia jl", &R),
    ("dockerfile docker containerfile", &DOCKER),
    ("makefile make mk", &MAKE),
    ("hcl terraform tf nix graphql gql proto protobuf", &HCL),
];

const fn quote_style(mark: &'static str, escapes: bool, lines: bool) -> QuoteStyle {
    QuoteStyle {
        mark,
        escapes,
        lines,
    }
}

const DOUBLE: QuoteStyle = quote_style("\"", true, false);
const DOUBLE_LINES: QuoteStyle = quote_style("\"", true, true);
const SINGLE: QuoteStyle = quote_style("'", true, false);
const SINGLE_RAW: QuoteStyle = quote_style("'", false, true);
const BACKTICK: QuoteStyle = quote_style("`", true, true);
const RAW_BACKTICK: QuoteStyle = quote_style("`", false, true);
const TRIPLE_DOUBLE: QuoteStyle = quote_style("\"\"\"", true, true);
const TRIPLE_SINGLE: QuoteStyle = quote_style("'''", true, true);

const NONE: LanguageRules = LanguageRules {
    keywords: "",
    types: "",
    lines: &[],
    blocks: &[],
    quotes: &[],
    keys: KeyStyle::None,
    macros: false,
    lifetimes: false,
    raw_strings: false,
    attributes: false,
    decorators: false,
    directives: false,
    variables: false,
    commands: false,
    dashes: false,
    colours: false,
    any_case: false,
};

const CURLY: LanguageRules = LanguageRules {
    lines: &["//"],
    blocks: &[("/*", "*/")],
    quotes: &[DOUBLE, SINGLE],
    ..NONE
};

const RUST: LanguageRules = LanguageRules {
    keywords: "Self as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self static struct super trait true type unsafe use where while yield",
    types: "bool char f32 f64 i128 i16 i32 i64 i8 isize str u128 u16 u32 u64 u8 usize",
    macros: true,
    lifetimes: true,
    raw_strings: true,
    attributes: true,
    quotes: &[DOUBLE_LINES, SINGLE],
    ..CURLY
};

const SCRIPT: LanguageRules = LanguageRules {
    keywords: "as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface keyof let namespace new null of private protected public readonly return satisfies set static super switch this throw true try type typeof undefined var void while with yield",
    types: "any boolean never number object string symbol unknown",
    decorators: true,
    quotes: &[DOUBLE, SINGLE, BACKTICK],
    ..CURLY
};

const PYTHON: LanguageRules = LanguageRules {
    keywords: "False None True and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield",
    types: "bool bytes dict float int list object set str tuple",
    lines: &["#"],
    decorators: true,
    quotes: &[TRIPLE_DOUBLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
    ..NONE
};

const GO: LanguageRules = LanguageRules {
    keywords: "break case chan const continue default defer else fallthrough false for func go goto if import interface iota map nil package range return select struct switch true type var",
    types: "any bool byte error float32 float64 int int16 int32 int64 int8 rune string uint uint16 uint32 uint64 uint8 uintptr",
    quotes: &[DOUBLE, SINGLE, RAW_BACKTICK],
    ..CURLY
};

const C: LanguageRules = LanguageRules {
    keywords: "NULL alignas alignof auto break case catch class co_await co_return concept const constexpr continue default delete do else enum explicit export extern false final for friend goto if inline mutable namespace new noexcept nullptr operator override private protected public register requires restrict return sizeof static static_assert struct switch template this throw true try typedef typename union using virtual volatile while",
    types: "bool char double float int int16_t int32_t int64_t int8_t long short signed size_t ssize_t uint16_t uint32_t uint64_t uint8_t unsigned void wchar_t",
    directives: true,
    ..CURLY
};

const JAVA: LanguageRules = LanguageRules {
    keywords: "abstract actual as assert async await base break by case catch class companion const constructor continue data def default delegate do else enum event expect explicit extends extern false final finally fixed for foreach fun get goto if implements implicit import in infix init inline inner instanceof interface internal is lateinit lazy lock match namespace native new null object of open operator out override package params partial permits private protected public readonly record ref reified required return sealed set static struct super suspend switch synchronized this throw throws trait transient true try type typealias typeof unsafe using val var vararg virtual void volatile when where while with yield",
    types: "bool boolean byte char decimal double dynamic float int long sbyte short string uint ulong ushort",
    decorators: true,
    quotes: &[TRIPLE_DOUBLE, DOUBLE, SINGLE],
    ..CURLY
};

const SWIFT: LanguageRules = LanguageRules {
    keywords: "Self actor as associatedtype async await break case catch class continue default defer deinit do else enum extension false fileprivate final for func get guard if import in indirect init inout internal is lazy let mutating nil open operator override private protocol public repeat required rethrows return self set some static struct subscript super switch throw throws true try typealias var weak where while",
    decorators: true,
    quotes: &[TRIPLE_DOUBLE, DOUBLE],
    ..CURLY
};

const PHP: LanguageRules = LanguageRules {
    keywords: "abstract and array as break callable case catch class clone const continue declare default do echo else elseif empty enum extends false final finally fn for foreach function global if implements include include_once instanceof interface isset list match namespace new null or print private protected public readonly require require_once return self static switch throw trait true try unset use var while yield",
    types: "bool float int iterable mixed string void",
    variables: true,
    attributes: true,
    lines: &["//", "#"],
    ..CURLY
};

const RUBY: LanguageRules = LanguageRules {
    keywords: "alias and begin break case class def do else elsif end ensure extend false for if in include module next nil not or private protected public raise redo require require_relative rescue retry return self super then true undef unless until when while yield",
    lines: &["#"],
    decorators: true,
    variables: true,
    quotes: &[DOUBLE, SINGLE],
    ..NONE
};

const SHELL: LanguageRules = LanguageRules {
    keywords: "case do done elif else esac export fi for function if in local readonly return select set shift source then unset until while",
    lines: &["#"],
    variables: true,
    commands: true,
    dashes: true,
    quotes: &[DOUBLE_LINES, SINGLE_RAW],
    ..NONE
};

const POWERSHELL: LanguageRules = LanguageRules {
    keywords: "begin break catch class continue data do else elseif end exit filter finally for foreach function if in param process return switch throw trap try until using while",
    lines: &["#"],
    blocks: &[("<#", "#>")],
    variables: true,
    dashes: true,
    any_case: true,
    quotes: &[DOUBLE_LINES, SINGLE_RAW],
    ..NONE
};

const SQL: LanguageRules = LanguageRules {
    keywords: "add all alter and as asc begin between by case cast check column commit constraint create cross database default delete desc distinct drop else end except exists explain false foreign from full group having if in index inner insert intersect into is join key left like limit not null offset on or order outer over partition pragma primary references replace returning right rollback select set table then transaction trigger true union unique update using values view when where with",
    types: "bigint blob boolean char date decimal double float int integer json jsonb numeric real serial smallint text timestamp timestamptz uuid varchar",
    lines: &["--"],
    blocks: &[("/*", "*/")],
    any_case: true,
    quotes: &[SINGLE_RAW, DOUBLE, BACKTICK],
    ..NONE
};

const JSON: LanguageRules = LanguageRules {
    keywords: "false null true",
    keys: KeyStyle::Quoted,
    lines: &["//"],
    blocks: &[("/*", "*/")],
    quotes: &[DOUBLE],
    ..NONE
};

const YAML: LanguageRules = LanguageRules {
    keywords: "false no null off on true yes",
    keys: KeyStyle::Lines,
    lines: &["#"],
    quotes: &[DOUBLE_LINES, SINGLE_RAW],
    dashes: true,
    ..NONE
};

const SETTINGS: LanguageRules = LanguageRules {
    keywords: "false true",
    keys: KeyStyle::Settings,
    lines: &["#", ";"],
    quotes: &[TRIPLE_DOUBLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
    dashes: true,
    ..NONE
};

const CSS: LanguageRules = LanguageRules {
    keywords: "and from important not only to",
    keys: KeyStyle::Names,
    blocks: &[("/*", "*/")],
    lines: &["//"],
    decorators: true,
    dashes: true,
    colours: true,
    quotes: &[DOUBLE, SINGLE],
    ..NONE
};

const LUA: LanguageRules = LanguageRules {
    keywords: "and break do else elseif end false for function goto if in local nil not or repeat return self then true until while",
    lines: &["--"],
    blocks: &[("--[[", "]]"), ("[[", "]]")],
    quotes: &[DOUBLE, SINGLE],
    ..NONE
};

const HASKELL: LanguageRules = LanguageRules {
    keywords: "as case class data deriving do else exposing family forall foreign hiding if import in infix infixl infixr instance let module newtype of port qualified then type where",
    lines: &["--"],
    blocks: &[("{-", "-}")],
    lifetimes: true,
    quotes: &[DOUBLE, SINGLE],
    ..NONE
};

const OCAML: LanguageRules = LanguageRules {
    keywords: "and as assert begin class constraint do done downto else end exception external false for fun function functor if in include inherit let match method module mutable new object of open or private rec sig struct then to true try type val virtual when while with yield",
    lines: &["//"],
    blocks: &[("(*", "*)")],
    lifetimes: true,
    quotes: &[DOUBLE, SINGLE],
    ..NONE
};

const ELIXIR: LanguageRules = LanguageRules {
    keywords: "after alias and case catch cond def defimpl defmacro defmodule defp defprotocol defstruct do else end false fn for if import in nil not or quote raise receive require rescue true try unless unquote use when with",
    lines: &["#", "%"],
    decorators: true,
    quotes: &[TRIPLE_DOUBLE, DOUBLE, SINGLE],
    ..NONE
};

const ZIG: LanguageRules = LanguageRules {
    keywords: "and anyerror anytype asm async await break catch comptime const continue defer else enum errdefer error export extern false fn for if inline null opaque or orelse packed pub resume return struct suspend switch test threadlocal true try undefined union unreachable usingnamespace var volatile while",
    types: "bool f32 f64 i16 i32 i64 i8 isize u16 u32 u64 u8 usize void",
    decorators: true,
    ..CURLY
};

const LISP: LanguageRules = LanguageRules {
    keywords: "cond def define defmacro defmethod defn defun defvar do fn if lambda let let* loop ns progn quote recur require set! setq when",
    lines: &[";"],
    blocks: &[("#|", "|#")],
    dashes: true,
    quotes: &[DOUBLE_LINES],
    ..NONE
};

const PERL: LanguageRules = LanguageRules {
    keywords: "and bless do else elsif eval for foreach if last local my next no not or our package print push redo require return say shift sub undef unless until use wantarray while",
    lines: &["#"],
    variables: true,
    quotes: &[DOUBLE, SINGLE],
    ..NONE
};

const R: LanguageRules = LanguageRules {
    keywords: "FALSE NA NULL TRUE break else for function if in library next repeat return source while",
    lines: &["#"],
    quotes: &[DOUBLE, SINGLE, BACKTICK],
    ..NONE
};

const DOCKER: LanguageRules = LanguageRules {
    keywords: "ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL ONBUILD RUN SHELL STOPSIGNAL USER VOLUME WORKDIR",
    lines: &["#"],
    variables: true,
    dashes: true,
    quotes: &[DOUBLE, SINGLE],
    ..NONE
};

const MAKE: LanguageRules = LanguageRules {
    keywords: "define else endef endif export ifdef ifeq ifndef ifneq include",
    keys: KeyStyle::Lines,
    lines: &["#"],
    variables: true,
    dashes: true,
    quotes: &[DOUBLE, SINGLE],
    ..NONE
};

const HCL: LanguageRules = LanguageRules {
    keywords: "data else enum false for if import in inherit input interface let locals message module mutation null option optional output package provider query rec repeated resource returns rpc scalar schema service subscription syntax terraform then true type union variable with",
    lines: &["#", "//"],
    blocks: &[("/*", "*/")],
    decorators: true,
    dashes: true,
    quotes: &[DOUBLE_LINES],
    ..NONE
};

//! What runs on the other machine: a loop of a POSIX shell that lists files and sends them.
//!
//! It is one constant; whatever differs is read from standard input, a line each, and is never part
//! of a command:
//!
//! - `L PATTERN…` lists the regular files in what the patterns of the shell name;
//! - `D PATH` lists those in one folder, whatever its name;
//! - `G SIZE PATH` sends so many bytes of a file;
//! - `T START SIZE PATH` sends the checksum of the bytes before `START`, and so many bytes from there;
//! - `S PATH` says what is at a path now.
//!
//! A list is a line for each file, `SIZE VERSION PATH`, and a last one that begins with a dot. Bytes
//! are always as many as were asked for: where a file became shorter, zeros follow, and the line
//! behind them, which says what is there now, tells so.

/// The loop. It stands between single quotes in whatever shell the user has there, which may be one
/// with rules of its own (fish, csh): so it is one line without single quotes, backslashes and
/// exclamation marks.
const LOOP: &str = concat!(
    r#"LC_ALL=C; export LC_ALL; cd || exit 9; n=$(echo; echo .); n=${n%.}; "#,
    // What a file is known by: GNU and busybox, then BSD and macOS, then what POSIX has.
    r#"if stat -c %s . >/dev/null 2>&1; then set -- stat -c "%s %Y.%Z %n"; m=stat; "#,
    r#"elif stat -f %z . >/dev/null 2>&1; then set -- stat -f "%z %m.%c %N"; m=stat; "#,
    r"else set -- cksum; m=cksum; fi; ",
    r#"[ "$(echo ab | head -c 1)" = a ] || exit 8; "#,
    r#"echo "rethread-home 1 $m $(date +%s) $(pwd)"; "#,
    r"while IFS= read -r q; do p=${q#? }; case $q in ",
    // Names with a line break in them are passed over.
    r#""L "*) e=0; for f in $p; do if [ -e "$f" ]; then "#,
    r#"find -H "$f" -path "*$n*" -prune -o -type f -exec "$@" {} + </dev/null 2>/dev/null || e=1; "#,
    r#"fi; done; echo ". $e";; "#,
    r#""D "*) e=0; if [ -e "$p" ]; then "#,
    r#"find -H "$p" -path "*$n*" -prune -o -type f -exec "$@" {} + </dev/null 2>/dev/null || e=1; "#,
    r#"fi; echo ". $e";; "#,
    r#""G "*) k=${p%% *}; f=${p#* }; "#,
    r#"{ cat "$f"; cat /dev/zero; } </dev/null 2>/dev/null | head -c "$k"; "#,
    r#""$@" "$f" </dev/null 2>/dev/null || echo gone;; "#,
    r#""T "*) k=${p%% *}; p=${p#* }; l=${p%% *}; f=${p#* }; "#,
    r#"head -c "$k" "$f" </dev/null 2>/dev/null | cksum; "#,
    r#"{ tail -c "+$((k+1))" "$f"; cat /dev/zero; } </dev/null 2>/dev/null | head -c "$l"; "#,
    r#""$@" "$f" </dev/null 2>/dev/null || echo gone;; "#,
    r#""S "*) "$@" "$p" </dev/null 2>/dev/null || echo gone;; "#,
    r"*) exit 7;; esac; done",
);

/// What the first line begins with, after whatever the user's own files there print.
pub(super) const HELLO: &str = "rethread-home 1 ";

/// The command for the user's shell there.
pub(super) fn command() -> String {
    format!("exec sh -c '{LOOP}'")
}

#[cfg(test)]
mod tests {
    use rethread_formats::FORMATS;

    use super::*;

    #[test]
    fn every_shell_takes_it_between_single_quotes() {
        assert!(!LOOP.contains(['\'', '\\', '!', '\n']), "{LOOP}");
    }

    #[test]
    fn patterns_are_plain_words_and_name_no_credentials() {
        for format in FORMATS {
            let about = format.about();
            for pattern in about.in_home.iter().chain(about.in_project) {
                let plain = |c: char| c.is_ascii_alphanumeric() || "./-_*".contains(c);
                assert!(pattern.chars().all(plain), "{pattern}");
                assert!(pattern.starts_with('.') && !pattern.contains(".."));
                let depth = pattern.split('/').count();
                assert!(depth > 1, "{pattern}: not all of an agent's folder");
            }
        }
    }
}

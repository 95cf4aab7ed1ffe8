//! Paths compared and written the portable way.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// `folder` as seen from `root`, with forward slashes; `.` for the root itself.
///
/// Paths that do not share a prefix as they stand are compared once more with
/// their symbolic links resolved. A folder outside the root starts with `..`; one
/// on another drive stays absolute.
///
/// ```
/// use std::path::Path;
/// use rethread_project::relative;
///
/// assert_eq!(relative(Path::new("/app"), Path::new("/app/src/bin")), "src/bin");
/// assert_eq!(relative(Path::new("/app"), Path::new("/app/")), ".");
/// assert_eq!(relative(Path::new("/no/app"), Path::new("/no/docs")), "../docs");
/// ```
pub fn relative(root: &Path, folder: &Path) -> String {
    let steps_up = |path: &Path| path.components().any(|part| part == Component::ParentDir);
    if !steps_up(folder)
        && !steps_up(root)
        && let Ok(inside) = folder.strip_prefix(root)
    {
        return join_components(inside.components());
    }
    let (root, folder) = (resolve_path(root), resolve_path(folder));
    let shared = root
        .components()
        .zip(folder.components())
        .take_while(|(a, b)| a == b)
        .count();
    if shared == 0 && folder.is_absolute() {
        return join_components(folder.components());
    }
    let up = root.components().skip(shared).map(|_| Component::ParentDir);
    join_components(up.chain(folder.components().skip(shared)))
}

/// The path with symbolic links resolved, or without `.` and `..` where it does
/// not exist.
pub(crate) fn resolve_path(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| without_dots(path))
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(plain.components().next_back(), Some(Component::Normal(_))) =>
            {
                plain.pop();
            }
            Component::ParentDir if plain.has_root() => {}
            part => plain.push(part),
        }
    }
    plain
}

fn join_components<'a>(parts: impl Iterator<Item = Component<'a>>) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Component::CurDir => continue,
            Component::RootDir => {
                text.push('/');
                continue;
            }
            _ => {}
        }
        if !text.is_empty() && !text.ends_with('/') {
            text.push('/');
        }
        text.push_str(&part.as_os_str().to_string_lossy());
    }
    if text.is_empty() {
        text.push('.');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{relative, without_dots};
    use std::path::Path;

    #[test]
    fn relative_paths_are_portable() {
        for (root, folder, expected) in [
            ("/nowhere", "/nowhere", "."),
            ("/nowhere/", "/nowhere/a/./b/", "a/b"),
            ("/nowhere", "/nowhere/a/../b", "b"),
            ("/nowhere/a", "/nowhere", ".."),
            ("/nowhere/a/b", "/nowhere/c", "../../c"),
            ("/nowhere", "/nowhere-not", "../nowhere-not"),
            ("/", "/nowhere", "nowhere"),
        ] {
            let found = relative(Path::new(root), Path::new(folder));
            assert_eq!(found, expected, "{folder} from {root}");
        }
    }

    #[test]
    fn dots_never_climb_above_the_root() {
        assert_eq!(without_dots(Path::new("/a/../../b/.")), Path::new("/b"));
        assert_eq!(without_dots(Path::new("../a")), Path::new("../a"));
    }
}

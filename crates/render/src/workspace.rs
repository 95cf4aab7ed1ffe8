//! How a workspace's folder becomes a name.

use std::fmt::Write;

/// Longer names are cut here.
const LIMIT: usize = 200;

/// The name that a project's folder has in Claude Code's store: every UTF-16 unit that is no ASCII
/// letter or digit becomes `-`; a long name is cut and ends with a hash of the whole path.
///
/// ```
/// use rethread_render::encode_workspace;
/// assert_eq!(encode_workspace("/home/user/my.project"), "-home-user-my-project");
/// ```
pub fn encode_workspace(path: &str) -> String {
    let mut name = String::new();
    let mut hash = 0_i32;
    let mut units = 0_usize;
    for unit in path.encode_utf16() {
        hash = hash.wrapping_mul(31).wrapping_add(i32::from(unit));
        units += 1;
        if units <= LIMIT {
            name.push(match u8::try_from(unit) {
                Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
                _ => '-',
            });
        }
    }
    if units > LIMIT {
        // Writing to a string cannot fail.
        let _ = write!(name, "-{}", to_base36(hash.unsigned_abs()));
    }
    name
}

fn to_base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

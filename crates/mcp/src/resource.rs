//! Conversations as resources.

use std::fmt::Write as _;

use rmcp::model::{Resource, ResourceTemplate};

use crate::handle::ConversationRow;

/// The address of a conversation, up to its id.
const ADDRESS: &str = "rethread://session/";

/// What is in a resource.
const MIME_TYPE: &str = "text/plain";

/// So many of the newest conversations are listed as resources.
pub(crate) const LISTED: usize = 50;

/// A conversation as a client lists it.
pub(crate) fn resource(row: &ConversationRow) -> Resource {
    let title = row.title.as_deref().unwrap_or("(no title)");
    Resource::new(format!("{ADDRESS}{}", encoded(&row.id)), title)
        .with_description(row.line())
        .with_mime_type(MIME_TYPE)
}

/// The addresses that can be read.
pub(crate) fn resource_template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{ADDRESS}{{id}}"), "conversation")
        .with_title("A recorded conversation")
        .with_description("The beginning of a conversation; read_conversation reads the rest")
        .with_mime_type(MIME_TYPE)
}

/// The id in an address.
pub(crate) fn resource_id(address: &str) -> Option<String> {
    let id = address.strip_prefix(ADDRESS)?;
    decoded(id).filter(|id| !id.is_empty())
}

/// An id as it stands in an address.
fn encoded(id: &str) -> String {
    let mut text = String::new();
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gives_its_id_back() {
        for id in ["7f3a90c1-5b1e", "ses_1#2", "ü/%", "codex:0199"] {
            let address = format!("{ADDRESS}{}", encoded(id));
            assert!(address.is_ascii());
            assert_eq!(resource_id(&address).as_deref(), Some(id));
        }
        for wrong in ["file:///etc/passwd", ADDRESS, "rethread://session/%4"] {
            assert_eq!(resource_id(wrong), None, "{wrong}");
        }
    }
}

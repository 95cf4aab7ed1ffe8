//! Who says a message, as far as that matters for what becomes of it.

use rethread_json::Value;

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    User,
    Assistant,
    ToolResult,
    System,
    Custom,
    /// Somebody else, or nobody.
    Other,
}

impl Role {
    pub(crate) fn of(message: Value<'_>) -> Self {
        const ROLES: [(&str, Role); 5] = [
            ("user", Role::User),
            ("assistant", Role::Assistant),
            ("toolResult", Role::ToolResult),
            ("system", Role::System),
            ("custom", Role::Custom),
        ];
        let role = message.get("role");
        let found = role.and_then(|role| ROLES.into_iter().find(|(name, _)| role.is_str(name)));
        found.map_or(Self::Other, |(_, role)| role)
    }

    /// Whether a later entry may change what a message of this role says.
    pub(crate) fn can_change(self) -> bool {
        !matches!(self, Self::System | Self::Other)
    }

    /// Whether a message of this role must have content and has none.
    pub(crate) fn lacks_content(self, message: Value<'_>) -> bool {
        !matches!(self, Self::Custom | Self::Other)
            && message.get("content").is_none_or(Value::is_null)
    }
}

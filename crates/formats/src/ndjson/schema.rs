//! The JSON Schema of the document, made from the same tables as the check.

use rethread_json::{Array, Object, pretty};

use super::field_tables::{FieldType, Shape, TABLES, Table, object_table};

/// The JSON Schema of one line of an export: the header, or a session record.
///
/// ```
/// assert!(rethread_formats::ndjson::schema().contains("\"session_count\""));
/// ```
pub fn schema() -> String {
    let mut shapes = Object::new();
    for one in TABLES {
        shapes = shapes.raw(one.name, &object(one));
    }
    let lines = Array::new()
        .raw(&reference(Shape::Header))
        .raw(&reference(Shape::Record))
        .finish();
    let whole = Object::new()
        .str("$schema", "https://json-schema.org/draft/2020-12/schema")
        .str("title", "A line of a Unified NDJSON file, version 1")
        .raw("oneOf", &lines)
        .raw("$defs", &shapes.finish())
        .finish();
    let mut text = String::from_utf8_lossy(&pretty(&whole, 2, 0)).into_owned();
    text.push('\n');
    text
}

fn object(table: &Table) -> Vec<u8> {
    let mut properties = Object::new();
    let mut required = Array::new();
    for field in table.fields {
        properties = properties.raw(field.key, &value(field.is));
        if field.required {
            required = required.str(field.key);
        }
    }
    let mut object = Object::new()
        .str("description", table.section)
        .str("type", "object")
        .raw("properties", &properties.finish());
    if !required.is_empty() {
        object = object.raw("required", &required.finish());
    }
    object.finish()
}

fn value(is: FieldType) -> Vec<u8> {
    let of = |kind: &str| Object::new().str("type", kind);
    let list = |items: &[u8]| of("array").raw("items", items).finish();
    match is {
        FieldType::Word(word) => Object::new().str("const", word).finish(),
        FieldType::OneOf(words) => {
            let words = words.iter().fold(Array::new(), |all, word| all.str(word));
            Object::new().raw("enum", &words.finish()).finish()
        }
        FieldType::Text => of("string").finish(),
        FieldType::TextOrNull => {
            let kinds = Array::new().str("string").str("null").finish();
            Object::new().raw("type", &kinds).finish()
        }
        FieldType::Time => of("string").str("format", "date-time").finish(),
        FieldType::Version => of("string").str("pattern", r"^1(\.|$)").finish(),
        FieldType::Count(least) => of("integer").u64("minimum", least).finish(),
        FieldType::Bool => of("boolean").finish(),
        FieldType::No => Object::new().bool("const", false).finish(),
        FieldType::Any => Object::new().finish(),
        FieldType::Open => of("object").finish(),
        FieldType::Texts => list(&of("string").finish()),
        FieldType::Object(shape) => reference(shape),
        FieldType::Objects(shape) => list(&reference(shape)),
        FieldType::Blocks => {
            let blocks = Array::new()
                .raw(&reference(Shape::Text))
                .raw(&reference(Shape::ToolUse))
                .raw(&reference(Shape::ToolResult))
                .finish();
            list(&Object::new().raw("oneOf", &blocks).finish())
        }
    }
}

fn reference(shape: Shape) -> Vec<u8> {
    let name = object_table(shape).map_or("", |t| t.name);
    let place = format!("#/$defs/{name}");
    Object::new().str("$ref", &place).finish()
}

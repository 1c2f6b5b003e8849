//! Building blocks of schemas.

use serde_json::Value;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::schema::{
    AdditionalProperties, ArrayBuilder, ArrayItems, Object, ObjectBuilder, SchemaType, Type,
};
use utoipa::openapi::{Ref, RefOr, Schema};

/// A schema, or the name of one.
pub(super) type AnySchema = RefOr<Schema>;

/// A property of an object.
pub(super) struct Property {
    name: &'static str,
    schema: AnySchema,
    required: bool,
}

/// A property that is always there.
pub(super) fn always(name: &'static str, schema: impl Into<AnySchema>) -> Property {
    Property { name, schema: schema.into(), required: true }
}

/// A property that may be left out.
pub(super) fn maybe(name: &'static str, schema: impl Into<AnySchema>) -> Property {
    Property { name, schema: schema.into(), required: false }
}

/// An object with these properties and no other (D8).
pub(super) fn closed_object(
    description: &str,
    properties: impl IntoIterator<Item = Property>,
) -> ObjectBuilder {
    let object = ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some(description))
        .additional_properties(Some(AdditionalProperties::FreeForm(false)));
    properties.into_iter().fold(object, |object, Property { name, schema, required }| {
        let object = object.property(name, schema);
        if required { object.required(name) } else { object }
    })
}

/// The same object, or null.
pub(super) fn or_null(object: ObjectBuilder) -> ObjectBuilder {
    object.schema_type(SchemaType::from_iter([Type::Object, Type::Null]))
}

/// A string.
pub(super) fn string(description: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).description(Some(description))
}

/// A string or null.
pub(super) fn string_or_null(description: &str) -> ObjectBuilder {
    string(description).schema_type(SchemaType::from_iter([Type::String, Type::Null]))
}

/// `true` or `false`.
pub(super) fn boolean(description: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Boolean).description(Some(description))
}

/// A number of things.
pub(super) fn count(description: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).description(Some(description))
}

/// The one value that `object` has in a kind of resource.
pub(super) fn kind(name: &str) -> ObjectBuilder {
    string("The kind of resource.").enum_values(Some([name]))
}

/// A list.
pub(super) fn list(description: &str, items: impl Into<ArrayItems>) -> ArrayBuilder {
    ArrayBuilder::new().description(Some(description)).items(items)
}

/// The schema of this name among the components.
pub(in crate::openapi) fn named(name: &str) -> Ref {
    Ref::from_schema_name(name)
}

/// A keyword that the builder does not know, as a part of what it builds. One at most, because what is built does
/// not keep an order among several.
pub(in crate::openapi) fn keyword(name: &str, value: Value) -> Extensions {
    std::iter::once((name, value)).collect()
}

/// The object, with a rule in words of JSON Schema on top of its properties.
pub(super) fn with_rule(object: ObjectBuilder, name: &str, value: Value) -> Object {
    object.extensions(Some(keyword(name, value))).build()
}

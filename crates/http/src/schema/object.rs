//! Building blocks of schemas.

use std::fmt;

use serde_json::Value;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::schema::{
    AdditionalProperties, ArrayBuilder, ArrayItems, Object, ObjectBuilder, SchemaType, Type,
};
use utoipa::openapi::{Ref, RefOr, Schema};

/// A schema, or the name of one.
pub(crate) type AnySchema = RefOr<Schema>;

/// A property of an object.
pub(crate) struct Property {
    name: &'static str,
    schema: AnySchema,
    required: bool,
}

/// A property that is always present.
pub(crate) fn always(name: &'static str, schema: impl Into<AnySchema>) -> Property {
    Property { name, schema: schema.into(), required: true }
}

impl Property {
    /// Its name.
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// The same property, as an optional one.
    pub(crate) fn or_absent(self) -> Self {
        Self { required: false, ..self }
    }
}

impl fmt::Debug for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Schemas do not implement `Debug`.
        f.write_str(self.name)
    }
}

/// A property that may be absent.
pub(crate) fn maybe(name: &'static str, schema: impl Into<AnySchema>) -> Property {
    always(name, schema).or_absent()
}

/// An object with these properties and no other (D8).
pub(crate) fn closed_object(
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

/// The same schema, or null. A reference stays unchanged: the named component itself says whether null is allowed.
pub(crate) fn or_null(schema: AnySchema) -> AnySchema {
    let with_null = |types: SchemaType| match types {
        SchemaType::Type(single) => SchemaType::from_iter([single, Type::Null]),
        several @ (SchemaType::Array(_) | SchemaType::AnyValue) => several,
    };
    match schema {
        RefOr::T(Schema::Object(mut object)) => {
            object.schema_type = with_null(object.schema_type);
            RefOr::T(Schema::Object(object))
        }
        RefOr::T(Schema::Array(mut array)) => {
            array.schema_type = with_null(array.schema_type);
            RefOr::T(Schema::Array(array))
        }
        other => other,
    }
}

/// The same schema, with the default of an absent property.
pub(crate) fn with_default(schema: AnySchema, default: Value) -> AnySchema {
    match schema {
        RefOr::T(Schema::Object(mut object)) => {
            object.default = Some(default);
            RefOr::T(Schema::Object(object))
        }
        other => other,
    }
}

/// A string.
pub(crate) fn string(description: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).description(Some(description))
}

/// `true` or `false`.
pub(crate) fn boolean(description: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Boolean).description(Some(description))
}

/// A count, from 0.
pub(crate) fn count(description: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).description(Some(description))
}

/// The field `object`, with its one value for a kind of resource.
pub(crate) fn kind(name: &str) -> ObjectBuilder {
    string("The kind of resource.").enum_values(Some([name]))
}

/// A list.
pub(crate) fn list(description: &str, items: impl Into<ArrayItems>) -> ArrayBuilder {
    ArrayBuilder::new().description(Some(description)).items(items)
}

/// A reference to the component with this name.
pub(crate) fn named(name: &str) -> Ref {
    Ref::from_schema_name(name)
}

/// A keyword that the builder does not support. Only one per schema: the builder does not keep the order of several.
pub(crate) fn keyword(name: &str, value: Value) -> Extensions {
    std::iter::once((name, value)).collect()
}

/// The object, with one more keyword of JSON Schema.
pub(crate) fn with_rule(object: ObjectBuilder, name: &str, value: Value) -> Object {
    object.extensions(Some(keyword(name, value))).build()
}

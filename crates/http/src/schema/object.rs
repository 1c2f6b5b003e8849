//! Building blocks of schemas.

use std::fmt;

use serde_json::Value;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::schema::{
    AdditionalProperties, AnyOfBuilder, ArrayBuilder, ArrayItems, KnownFormat, ObjectBuilder, SchemaFormat,
    SchemaType, Type,
};
use utoipa::openapi::{Ref, RefOr, Schema};

/// The keyword of objects that pass on what a newer version wrote, so that tests allow other properties too.
pub(crate) const PASSED_ON: &str = "x-signpost-passed-on";

/// The keyword of patterns that only our own tests apply.
const PATTERN: &str = "x-signpost-pattern";

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

/// An object of a request: these properties and no other (D8).
pub(crate) fn closed_object(
    description: &str,
    properties: impl IntoIterator<Item = Property>,
) -> ObjectBuilder {
    open_object(description, properties).additional_properties(Some(AdditionalProperties::FreeForm(false)))
}

/// An object of an answer. It allows other properties, because clients must keep those of newer versions.
pub(crate) fn open_object(
    description: &str,
    properties: impl IntoIterator<Item = Property>,
) -> ObjectBuilder {
    let object = ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some(description))
        .additional_properties(Some(AdditionalProperties::FreeForm(true)));
    properties.into_iter().fold(object, |object, Property { name, schema, required }| {
        let object = object.property(name, schema);
        if required { object.required(name) } else { object }
    })
}

/// The same schema, or null. A reference keeps its description beside the two alternatives.
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
        RefOr::Ref(mut named) => {
            let description = std::mem::take(&mut named.description);
            let alternatives =
                AnyOfBuilder::new().item(named).item(ObjectBuilder::new().schema_type(Type::Null));
            let description = Some(description).filter(|description| !description.is_empty());
            alternatives.description(description).into()
        }
        other @ RefOr::T(_) => other,
    }
}

/// The same schema, whose description also names the value of an absent property. It has no `default`, because some client
/// generators would then always send the property.
pub(crate) fn with_default(schema: AnySchema, default: bool) -> AnySchema {
    match schema {
        RefOr::T(Schema::Object(mut object)) => {
            let description = object.description.unwrap_or_default();
            object.description = Some(format!("{description} Left out: `{default}`."));
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

/// An integer. Without the format, generators of some languages take 32 bits.
pub(crate) fn integer() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
}

/// A count, from 0.
pub(crate) fn count(description: &str) -> ObjectBuilder {
    integer().minimum(Some(0)).description(Some(description))
}

/// The field `object`, with its one value for a kind of resource.
pub(crate) fn kind(name: &str) -> ObjectBuilder {
    only(string("The kind of resource."), name)
}

/// The schema, which allows only this value.
pub(crate) fn only(schema: ObjectBuilder, value: impl Into<Value>) -> ObjectBuilder {
    schema.extensions(Some(keyword("const", value.into())))
}

/// The schema of a value that matches a pattern, for our own tests.
///
/// Generated clients do not see the pattern: some would refuse values of newer versions, and the engines of others do not
/// know the classes of white space and control characters.
pub(crate) fn matching(schema: ObjectBuilder, pattern: impl Into<String>) -> ObjectBuilder {
    schema.extensions(Some(keyword(PATTERN, Value::String(pattern.into()))))
}

/// The schema of an answer's text with these values and, in newer versions, others.
pub(crate) fn one_of_known<const N: usize>(
    schema: ObjectBuilder,
    values: [&'static str; N],
) -> ObjectBuilder {
    schema.examples(values).extensions(Some(keyword("x-extensible-enum", Value::from_iter(values))))
}

/// A list.
pub(crate) fn list(description: &str, items: impl Into<ArrayItems>) -> ArrayBuilder {
    ArrayBuilder::new().description(Some(description)).items(items)
}

/// A reference to the component with this name.
pub(crate) fn named(name: &str) -> Ref {
    Ref::from_schema_name(name)
}

/// A reference to the component with this name, with a description of its own.
pub(crate) fn named_as(name: &str, description: String) -> Ref {
    let mut named = named(name);
    named.description = description;
    named
}

/// A keyword that the builder does not support. Only one per schema: the builder does not keep the order of several.
pub(crate) fn keyword(name: &str, value: Value) -> Extensions {
    std::iter::once((name, value)).collect()
}

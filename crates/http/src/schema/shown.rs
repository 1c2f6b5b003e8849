//! Bodies of answers, each declared once: what is serialised, and how the OpenAPI document describes it.

use serde::Serialize;

use super::object::{AnySchema, Property, always, or_null};

/// A type whose values are fields of answers.
pub(crate) trait FieldType: Serialize {
    /// Whether a value may be null.
    const IS_NULLABLE: bool = false;
}

impl<T: FieldType> FieldType for Option<T> {
    const IS_NULLABLE: bool = true;
}

impl FieldType for String {}
impl FieldType for &'static str {}
impl FieldType for bool {}
impl FieldType for u32 {}
impl FieldType for u64 {}
impl<T: Serialize> FieldType for Vec<T> {}

/// A property that an answer always has. Its schema allows null if its type does.
pub(crate) fn property<T: FieldType>(name: &'static str, schema: impl Into<AnySchema>) -> Property {
    let schema = schema.into();
    always(name, if T::IS_NULLABLE { or_null(schema) } else { schema })
}

/// Declares the body of an answer: each field with its type and, after `=`, its schema. From it come the struct, how it is
/// serialised, and `properties()`, which the schemas of the document consist of. A field may have another name in
/// JSON: `as "type"`. A body may begin with the fields of another: `..redirect: RedirectBody,`.
macro_rules! shown {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $body:ident {
            $(..$base:ident: $base_type:ty,)?
            $($(#[$field_meta:meta])* $field:ident $(as $wire:literal)?: $type:ty = $schema:expr,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(serde::Serialize)]
        $visibility struct $body {
            $(#[serde(flatten)] $base: $base_type,)?
            $($(#[$field_meta])* $(#[serde(rename = $wire)])? $field: $type,)*
        }

        impl $crate::schema::FieldType for $body {}

        impl $body {
            /// Its properties, in their order.
            $visibility fn properties() -> Vec<$crate::schema::Property> {
                let base: Vec<$crate::schema::Property> = vec![];
                $(let base = { let _ = base; <$base_type>::properties() };)?
                base.into_iter()
                    .chain([$($crate::schema::property::<$type>(
                        $crate::schema::shown!(@name $field $($wire)?),
                        $schema,
                    )),*])
                    .collect()
            }
        }
    };
    (@name $field:ident $wire:literal) => { $wire };
    (@name $field:ident) => { stringify!($field) };
}

pub(crate) use shown;

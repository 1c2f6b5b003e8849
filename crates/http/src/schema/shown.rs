//! Bodies of answers, each declared once: what is serialised, and how the OpenAPI document describes it.

use std::borrow::Cow;

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
impl FieldType for &str {}
impl FieldType for Cow<'_, str> {}
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
/// serialised, and `properties()`, which the schemas of the document consist of.
///
/// A field may have another name in JSON: `as "type"`. One that is left out where it is `None` is marked `maybe`, beside the
/// attribute of serde. A body may begin with the fields of another, `..redirect: RedirectBody,`, or end with them, `+ counts: CountsBody,`.
macro_rules! shown {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $body:ident $(<$lifetime:lifetime>)? {
            $(..$before:ident: $before_type:ty,)?
            $(
                $(#[$field_meta:meta])*
                $field_visibility:vis $field:ident $(as $wire:literal)? $(($maybe:ident))?: $type:ty = $schema:expr,
            )*
            $(+ $after:ident: $after_type:ty,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(serde::Serialize)]
        $visibility struct $body $(<$lifetime>)? {
            $(#[serde(flatten)] $before: $before_type,)?
            $($(#[$field_meta])* $(#[serde(rename = $wire)])? $field_visibility $field: $type,)*
            $(#[serde(flatten)] $after: $after_type,)?
        }

        impl $(<$lifetime>)? $crate::schema::FieldType for $body $(<$lifetime>)? {}

        impl $(<$lifetime>)? $body $(<$lifetime>)? {
            /// Its properties, in their order.
            $visibility fn properties() -> Vec<$crate::schema::Property> {
                let own: Vec<$crate::schema::Property> = vec![$($crate::schema::shown!(
                    @property $($maybe)?;
                    $crate::schema::shown!(@name $field $($wire)?), $type, $schema
                )),*];
                let properties = std::iter::empty();
                $(let properties = properties.chain(<$before_type>::properties());)?
                let properties = properties.chain(own);
                $(let properties = properties.chain(<$after_type>::properties());)?
                properties.collect()
            }
        }
    };
    (@name $field:ident $wire:literal) => { $wire };
    (@name $field:ident) => { stringify!($field) };
    (@property; $name:expr, $type:ty, $schema:expr) => { $crate::schema::property::<$type>($name, $schema) };
    (@property maybe; $name:expr, $type:ty, $schema:expr) => { $crate::schema::maybe($name, $schema) };
}

pub(crate) use shown;

//! Bodies of responses. One declaration gives the serialised type and its description in the OpenAPI document.

use std::borrow::Cow;

use serde::Serialize;

use super::object::{AnySchema, Property, always, or_null};

/// A type of fields in responses.
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
impl FieldType for usize {}
impl<T: Serialize> FieldType for Vec<T> {}

/// A property that a response always has. Its schema allows null if its type does.
pub(crate) fn property<T: FieldType>(name: &'static str, schema: impl Into<AnySchema>) -> Property {
    let schema = schema.into();
    always(name, if T::IS_NULLABLE { or_null(schema) } else { schema })
}

/// Declares the body of a response: each field with its type and, after `=`, its schema. The declaration gives the struct, its
/// serialisation, and `properties()` for the schemas of the document.
///
/// - `as "type"` gives a field another name in JSON.
/// - `(maybe)` marks a field that is absent where it is `None`, in addition to the attribute of serde.
/// - `..redirect: RedirectBody,` begins a body with the fields of another; `+ counts: CountsBody,` ends it with them.
/// - `struct ListBody<T: Serialize>(item: &str)` declares a generic body whose schemas depend on arguments of `properties()`.
macro_rules! shown {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $body:ident
            $(<$($lifetime:lifetime)? $($param:ident: $bound:path)?>)?
            $(($($argument:ident: $argument_type:ty),*))?
        {
            $(..$before:ident: $before_type:ty,)?
            $(
                $(#[$field_meta:meta])*
                $field_visibility:vis $field:ident $(as $wire:literal)? $(($maybe:ident))?: $type:ty = $schema:expr,
            )*
            $(+ $after:ident: $after_type:ty,)?
        }
    ) => {
        #[derive(serde::Serialize)]
        $(#[$meta])*
        $visibility struct $body $(<$($lifetime)? $($param)?>)? {
            $(#[serde(flatten)] $before: $before_type,)?
            $($(#[$field_meta])* $(#[serde(rename = $wire)])? $field_visibility $field: $type,)*
            $(#[serde(flatten)] $after: $after_type,)?
        }

        impl $(<$($lifetime)? $($param: $bound)?>)? $crate::schema::FieldType
            for $body $(<$($lifetime)? $($param)?>)?
        {
        }

        impl $(<$($lifetime)? $($param: $bound)?>)? $body $(<$($lifetime)? $($param)?>)? {
            /// Its properties, in their order.
            $visibility fn properties($($($argument: $argument_type),*)?) -> Vec<$crate::schema::Property> {
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

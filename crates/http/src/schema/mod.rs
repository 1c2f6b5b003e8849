//! Building blocks of the schemas in the OpenAPI document. The schemas themselves come from the declarations of fields and
//! bodies; `openapi` collects them.

use utoipa::openapi::{RefOr, Schema};

pub(crate) mod examples;
mod fields;
mod object;
mod patterns;
mod shown;

pub(crate) use examples::BulkOperation;
pub(crate) use fields::{
    created_at, external_id, id, kept_name, revision, sent_name, target_url_shown, timestamp, updated_at,
    web_url, web_url_shown,
};
pub(crate) use object::{
    AnySchema, PASSED_ON, Property, always, boolean, closed_object, count, integer, keyword, kind, list,
    matching, maybe, named, named_as, one_of_known, only, open_object, or_null, string, with_default,
};
pub(crate) use patterns::{
    COLOR, CURSOR, KEPT_COLOR, LANGUAGE_TAG, LINES, PHONE_NUMBER, PIXEL_CODE, SLUG, TIME_OF_DAY,
    WITHOUT_CONTROLS, WITHOUT_NUL, country as country_pattern, email as email_pattern,
    hostname as hostname_pattern, id as id_pattern, none_of, one_line as one_line_pattern,
    tag_name as tag_name_pattern, target_url as target_url_pattern, trimmed as trimmed_pattern,
};
pub(crate) use shown::{FieldType, property, shown};

/// Named schemas of the document, under `#/components/schemas`.
pub(crate) type Components = Vec<(&'static str, RefOr<Schema>)>;

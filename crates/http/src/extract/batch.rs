//! The one field of a bulk request (contract "Size and format bounds").

use signpost_domain::Violations;
use signpost_domain::batch::{self, Batch};
use signpost_strict_json::Json;
use utoipa::openapi::schema::{ArrayBuilder, ArrayItems};

use super::field::{Field, field};
use super::input::OnlyBody;
use super::value_readers::{texts, values};
use crate::schema::{list, string};

/// A field with ids as sent. An id that matches nothing fails only its item. An element that is not a string is a
/// violation of the whole request (D31).
pub(crate) fn ids(
    name: &'static str,
    description: &'static str,
    example: &'static str,
) -> impl Field<Vec<String>> {
    field(name, texts(batch::ITEMS, |text| Ok(text.to_owned())), move || {
        let one = string(
            "An id. A malformed, unknown or repeated id, or one of another kind, fails only its own item.",
        )
        .examples([example]);
        batch_of(description, one)
    })
}

/// A field with items of any type (D29); [`batch_of_anything`] returns them.
pub(crate) fn anything<S: Into<ArrayItems>>(
    name: &'static str,
    description: &'static str,
    item: impl Fn() -> S,
) -> impl Field<()> {
    field(name, values(batch::ITEMS), move || batch_of(description, item()))
}

fn batch_of(description: &str, item: impl Into<ArrayItems>) -> ArrayBuilder {
    list(description, item).min_items(Some(*batch::ITEMS.start())).max_items(Some(*batch::ITEMS.end()))
}

/// The items of a request whose body has one field.
pub(crate) fn batch<T>(body: OnlyBody, items: impl Field<Vec<T>>) -> Result<Batch<T>, Violations> {
    let name = items.name();
    let (mut body, mut violations) = body.reader()?;
    let items = body.required(items);
    violations.append(body.finish());
    match items {
        Some(items) => violations.into_result(of_items(items, name))?,
        None => Err(violations),
    }
}

/// The items of a request whose body has one field, with items of any type.
pub(crate) fn batch_of_anything(body: OnlyBody, items: impl Field<()>) -> Result<Batch<Json>, Violations> {
    let name = items.name();
    let (mut body, mut violations) = body.reader()?;
    body.required(items);
    violations.append(body.finish());
    violations.into_result(())?;
    of_items(body.into_items(name), name)
}

fn of_items<T>(items: Vec<T>, field: &'static str) -> Result<Batch<T>, Violations> {
    Batch::new(items).map_err(|error| Violations::from(error.at(field)))
}

//! The one field of a bulk request: 1 to 100 items (contract "Size and format bounds").

use std::ops::RangeInclusive;

use signpost_domain::Violations;

use super::input::OnlyBody;
use super::object_reader::{ObjectReader, texts, values};
use crate::json::Json;

/// How many items a bulk request may have.
const ITEMS: RangeInclusive<usize> = 1..=100;

/// The ids that `field` holds, as they were sent: one that nothing has is a matter of its item alone, but an element
/// that is no string is a violation of the whole request (D31).
pub(crate) fn batch_ids(body: OnlyBody, field: &str) -> Result<Vec<String>, Violations> {
    read(body, |body| body.required(field, texts(ITEMS, |text| Ok(text.to_owned()))))
}

/// The items that `field` holds, whatever they are (D29).
pub(crate) fn batch_items(body: OnlyBody, field: &str) -> Result<Vec<Json>, Violations> {
    read(body, |body| body.required(field, values(ITEMS)))
}

fn read<T>(body: OnlyBody, items: impl FnOnce(&mut ObjectReader) -> Option<T>) -> Result<T, Violations> {
    let (mut body, mut violations) = body.reader()?;
    let items = items(&mut body);
    violations.append(body.finish());
    match items {
        Some(items) => violations.into_result(items),
        None => Err(violations),
    }
}

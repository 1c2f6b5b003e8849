//! The one field of a bulk request (contract "Size and format bounds").

use signpost_domain::Violations;
use signpost_domain::batch::{self, Batch};

use super::input::OnlyBody;
use super::object_reader::{ObjectReader, texts, values};
use signpost_strict_json::Json;

/// The ids that `field` holds, as they were sent: one that nothing has is a matter of its item alone, but an element
/// that is no string is a violation of the whole request (D31).
pub(crate) fn batch_ids(body: OnlyBody, field: &str) -> Result<Batch<String>, Violations> {
    read(body, field, |body| body.required(field, texts(batch::ITEMS, |text| Ok(text.to_owned()))))
}

/// The items that `field` holds, whatever they are (D29).
pub(crate) fn batch_items(body: OnlyBody, field: &str) -> Result<Batch<Json>, Violations> {
    read(body, field, |body| body.required(field, values(batch::ITEMS)))
}

fn read<T>(
    body: OnlyBody,
    field: &str,
    items: impl FnOnce(&mut ObjectReader) -> Option<Vec<T>>,
) -> Result<Batch<T>, Violations> {
    let (mut body, mut violations) = body.reader()?;
    let items = items(&mut body);
    violations.append(body.finish());
    match items {
        Some(items) => {
            let batch = Batch::new(items).map_err(|error| Violations::from(error.at(field)));
            violations.into_result(batch)?
        }
        None => Err(violations),
    }
}

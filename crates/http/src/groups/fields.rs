//! The one field of a group that callers set.

use signpost_domain::{Name, Violations};

use crate::extract::{OnlyBody, text};

/// `name`, which creation and renaming require alike (contract "PATCH /v1/groups/{id}").
pub(crate) fn name(body: OnlyBody) -> Result<Name, Violations> {
    let (mut body, mut violations) = body.reader()?;
    let name = body.required("name", text(Name::parse));
    violations.append(body.finish());
    match name {
        Some(name) => violations.into_result(name),
        None => Err(violations),
    }
}

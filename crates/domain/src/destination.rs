//! The rules of the addresses that visitors of a link are sent to (D24).

use crate::host_blocklist::HostBlocklist;
use crate::link::Content;
use crate::link_request::Judgement;
use crate::public_address::{PublicPart, SystemDomain};
use crate::routing::Rules;
use crate::target_url::TargetUrl;
use crate::violation::{FieldError, ViolationCode, Violations};

impl<C: Content> Judgement<'_, C> {
    /// Judges the address in `field`: the requested one by all rules, or else the current one, `kept`, only if the link moves.
    /// An address that was allowed when it was written may stay.
    pub(crate) fn judge_destination(
        &mut self,
        field: &str,
        requested: Option<&TargetUrl>,
        kept: Option<&TargetUrl>,
    ) {
        let Self { before, placement, moved_by, unreadable, context, found } = self;
        if let Some(url) = requested {
            found.append(violations_of_every_link(field, url, context.system, context.blocklist));
        }
        let is_new = requested.is_some();
        if let (Some(url), Some(placement)) = (requested.or(kept), *placement)
            && !unreadable.are_about(field)
            && (is_new || before.is_none_or(|link| link.placement != *placement))
        {
            // The violation names the field that closed the loop.
            let blamed = if is_new { field } else { *moved_by };
            for error in [
                placement.is_addressed_by(url, context.system).then(|| leads_to_itself(is_new, field)),
                placement.has_part_at(url).then(leads_to_part),
            ]
            .into_iter()
            .flatten()
            {
                let violation = error.at(blamed);
                found.push(if is_new { violation.of_value(url.as_str()) } else { violation });
            }
        }
    }
}

/// The violations of an address in the field at `path` that no link may lead to (D24): its host is on the operator's list, or it is
/// a part of a link on the system domain.
pub(crate) fn violations_of_every_link(
    path: &str,
    url: &TargetUrl,
    system: &SystemDomain,
    blocklist: &HostBlocklist,
) -> Violations {
    let mut violations = Violations::new();
    if blocklist.contains(url.host()) {
        let error = FieldError::new(ViolationCode::InvalidValue, "points at a host that may not be a target");
        violations.push(error.at(path).of_value(url.as_str()));
    }
    if system.own_path_of(url).is_some_and(|path| path.part != PublicPart::Link) {
        violations.push(leads_to_part().at(path).of_value(url.as_str()));
    }
    violations
}

/// A widget of a landing page may lead back to the link, and a QR code is a picture (D24).
fn leads_to_part() -> FieldError {
    FieldError::new(
        ViolationCode::InvalidValue,
        "must not be the address of a widget or a QR code of this service",
    )
}

/// A link must not point at its own public address (D24). Someone who moves a link may not see its rules, so the message names them.
fn leads_to_itself(is_new: bool, field: &str) -> FieldError {
    let message = if !is_new && field == Rules::FIELD {
        "would make a rule of the link point at its own public address"
    } else {
        "would make the link point at its own public address"
    };
    FieldError::new(ViolationCode::InvalidValue, message)
}

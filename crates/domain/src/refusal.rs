//! Refusals of an operation as a whole, as opposed to violations of single fields.

use std::fmt;

use crate::error_code::ErrorCode;
use crate::link_id::LinkId;
use crate::permission::Permission;
use crate::plan::Feature;
use crate::plan_resource::PlanResource;
use crate::revision::Unmet;
use crate::verification_token::VerificationRecord;
use crate::violation::{FieldError, Violation, ViolationCode, Violations};

/// A rule or the store refused the operation. Each refusal has a code of the contract and a message for
/// people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The caller has no such redirect (D2).
    RedirectNotFound,
    /// The caller has no such landing page (D2).
    LandingNotFound,
    /// The caller has no such group. This includes a group that a body names (D6).
    GroupNotFound,
    /// The caller has nothing of this kind with this id, and the kind has no code of its own, as `pixel` (D6).
    NotFound(&'static str),
    /// The caller has no such domain. This includes a domain that a body names (D23).
    DomainNotFound,
    /// The domain is the caller's, but it is not active (D23).
    DomainNotActive,
    /// Another account holds the hostname (D41).
    HostnameTaken {
        /// The caller's own record, which would prove the hostname.
        record: Box<VerificationRecord>,
    },
    /// The hostname is one of the installation's own names, or is under one (D37).
    HostnameIsSystemDomain,
    /// DNS gave no answer, so nothing was decided or changed (D41, D42).
    DomainProviderUnavailable,
    /// The operator has not configured where custom domains have to point, and public DNS cannot have the
    /// system domain (D61).
    DomainsNotOffered,
    /// The link would be on the system domain without a slug (D22).
    SlugRequiredForSystemDomain,
    /// No link on the system domain can have the slug (D21).
    SlugReserved,
    /// Another link has the address (D20).
    AddressTaken {
        /// The id of that link, if it is the caller's own and still exists.
        existing: Option<LinkId>,
    },
    /// The plan's limit on this resource has been reached (D15).
    PlanLimitReached {
        /// The resource.
        resource: PlanResource,
        /// The limit of the plan.
        limit: u64,
    },
    /// The caller lacks a permission that the operation needs.
    NotPermitted(Permission),
    /// The account is suspended, so its members change nothing (D76).
    AccountSuspended,
    /// The plan lacks a feature that the request would start to use (D15).
    FeatureNotAvailable(Feature),
    /// The link was created without analytics, which cannot be changed later (D50).
    AnalyticsNotConfigured,
    /// The period is longer than the plan allows (D49).
    AnalyticsRangeTooLong {
        /// The maximum number of days in a period.
        days: u32,
    },
    /// An earlier item of the batch has the same id (D31).
    DuplicateIdInBatch,
    /// An earlier item of the batch has the address (D29).
    DuplicateSlugInBatch,
    /// The resource does not meet the precondition of the request (D120).
    PreconditionFailed(Unmet),
}

impl Refusal {
    /// The code of the contract.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::RedirectNotFound => ErrorCode::RedirectNotFound,
            Self::LandingNotFound => ErrorCode::LandingNotFound,
            Self::GroupNotFound => ErrorCode::GroupNotFound,
            Self::NotFound(_) | Self::PreconditionFailed(_) => ErrorCode::InvalidRequest,
            Self::DomainNotFound => ErrorCode::DomainNotFound,
            Self::DomainNotActive => ErrorCode::DomainNotActive,
            Self::HostnameTaken { .. } => ErrorCode::HostnameAlreadyTaken,
            Self::HostnameIsSystemDomain => ErrorCode::HostnameIsSystemDomain,
            Self::DomainProviderUnavailable | Self::DomainsNotOffered => ErrorCode::DomainProviderUnavailable,
            Self::SlugRequiredForSystemDomain => ErrorCode::SlugRequiredForSystemDomain,
            Self::SlugReserved | Self::AddressTaken { .. } => ErrorCode::SlugAlreadyTaken,
            Self::PlanLimitReached { .. } => ErrorCode::PlanLimitReached,
            Self::AccountSuspended => ErrorCode::AccountSuspended,
            // The closed list of codes has no better one.
            Self::NotPermitted(_) | Self::FeatureNotAvailable(_) => {
                ErrorCode::FeatureNotAvailableOnCurrentPlan
            }
            Self::AnalyticsNotConfigured => ErrorCode::AnalyticsNotConfigured,
            Self::AnalyticsRangeTooLong { .. } => ErrorCode::AnalyticsRangeExceedsPlanLimit,
            Self::DuplicateIdInBatch => ErrorCode::DuplicateIdInBatch,
            Self::DuplicateSlugInBatch => ErrorCode::DuplicateSlugInBatch,
        }
    }

    /// The violation of a single field, if the refusal is about one (D20). The field is always `slug`, even if the taken
    /// address is a domain's root, or the PATCH changed only `domain`.
    #[must_use]
    pub fn violation(&self) -> Option<Violation> {
        const FIELD: &str = "slug";
        match self {
            Self::SlugReserved => {
                let error = FieldError::new(ViolationCode::Reserved, "is reserved on the system domain");
                Some(error.at(FIELD))
            }
            Self::AddressTaken { existing: None } => Some(
                FieldError::new(ViolationCode::AlreadyTaken, "is already taken on this domain").at(FIELD),
            ),
            Self::AddressTaken { existing: Some(id) } => {
                let message = format!("is already taken on this domain by your link `{id}`");
                Some(FieldError::new(ViolationCode::AlreadyTaken, message).at(FIELD).by_existing(*id))
            }
            Self::PreconditionFailed(unmet) => {
                let (header, message) = match unmet {
                    Unmet::Revision(_) => ("If-Match", "does not name the stored revision"),
                    Unmet::Missing => ("If-Match", "holds only for an existing resource"),
                    Unmet::Exists => ("If-None-Match", "allows only a creation"),
                };
                Some(FieldError::new(ViolationCode::InvalidValue, message).at(header))
            }
            Self::RedirectNotFound
            | Self::LandingNotFound
            | Self::GroupNotFound
            | Self::NotFound(_)
            | Self::DomainNotFound
            | Self::DomainNotActive
            | Self::HostnameTaken { .. }
            | Self::HostnameIsSystemDomain
            | Self::DomainsNotOffered
            | Self::DomainProviderUnavailable
            | Self::SlugRequiredForSystemDomain
            | Self::PlanLimitReached { .. }
            | Self::NotPermitted(_)
            | Self::AccountSuspended
            | Self::FeatureNotAvailable(_)
            | Self::AnalyticsNotConfigured
            | Self::AnalyticsRangeTooLong { .. }
            | Self::DuplicateIdInBatch
            | Self::DuplicateSlugInBatch => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RedirectNotFound => f.write_str("No such redirect."),
            Self::LandingNotFound => f.write_str("No such landing page."),
            Self::GroupNotFound => f.write_str("No such group."),
            Self::NotFound(kind) => write!(f, "No such {kind}."),
            Self::DomainNotFound => f.write_str("No such domain."),
            Self::DomainNotActive => f.write_str("The domain is not active: its records are not verified, or it has failed since. Verify it first."),
            Self::HostnameTaken { record } => write!(
                f,
                "Another account has connected this hostname. If the hostname is yours, add a TXT record at `{}` with \
                 the value `{}` and connect it again: that outdoes a claim that was never proven.",
                record.name(),
                record.value()
            ),
            Self::HostnameIsSystemDomain => {
                f.write_str("This hostname belongs to the service and cannot be connected.")
            }
            Self::DomainProviderUnavailable => f.write_str(
                "DNS gave no answer about this hostname, and nothing was changed; try again later.",
            ),
            Self::DomainsNotOffered => f.write_str(
                "This installation does not take custom domains, and only its operator can change that: by the setting \
                 `edge-hostname`, the name that custom domains point at.",
            ),
            Self::SlugRequiredForSystemDomain => f.write_str("A link on the system domain needs a slug."),
            Self::SlugReserved => f.write_str("This slug is reserved on the system domain; choose another one."),
            Self::AddressTaken { existing: None } => f.write_str("This address is taken; choose another slug."),
            Self::AddressTaken { existing: Some(id) } => {
                write!(f, "Your link `{id}` has this address; choose another slug, or change that link.")
            }
            Self::PlanLimitReached { resource, limit } => {
                let resources = resource.as_str();
                let name = if *limit == 1 { resources.trim_end_matches('s') } else { resources };
                write!(f, "The plan allows at most {limit} {name}.")
            }
            Self::NotPermitted(permission) => {
                write!(f, "This needs the scope `{}`, which the key does not have.", permission.as_str())
            }
            Self::AccountSuspended => f.write_str("The account is suspended, so nothing can be changed."),
            Self::FeatureNotAvailable(feature) => {
                write!(f, "The feature `{}` is not part of the current plan.", feature.as_str())
            }
            Self::AnalyticsNotConfigured => f.write_str(
                "This link was created with `analytics_enabled: false`: its visits are not recorded.",
            ),
            Self::AnalyticsRangeTooLong { days } => {
                write!(f, "The plan allows analytics of at most {days} {} at once; ask for a shorter period.",
                    if *days == 1 { "day" } else { "days" })
            }
            Self::DuplicateIdInBatch => f.write_str("An earlier item of this batch has the same id."),
            Self::DuplicateSlugInBatch => f.write_str("An earlier item of this batch has the same address."),
            Self::PreconditionFailed(Unmet::Revision(current)) => write!(
                f,
                "The stored revision is `{current}`, which `If-Match` does not name, so nothing was changed. Read it again, \
                 then repeat the change with the new `ETag`."
            ),
            Self::PreconditionFailed(Unmet::Missing) => f.write_str(
                "`If-Match` allows only a change, but the resource does not exist, so nothing was changed. To create the \
                 resource, leave out `If-Match`.",
            ),
            Self::PreconditionFailed(Unmet::Exists) => {
                f.write_str("`If-None-Match` allows only a creation, and the resource exists, so nothing was changed.")
            }
        }
    }
}

/// Why a request creates or changes no link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// Fields break their rules. All violations are listed.
    Invalid(Violations),
    /// The operation as a whole is refused.
    Refused(Refusal),
}

impl Rejection {
    /// The code of the contract.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid(_) => ErrorCode::InvalidRequest,
            Self::Refused(refusal) => refusal.code(),
        }
    }

    /// The rejection of one item of a batch, which lists fewer violations.
    #[must_use]
    pub fn of_item(self) -> Self {
        match self {
            Self::Invalid(violations) => Self::Invalid(violations.of_item()),
            Self::Refused(refusal) => Self::Refused(refusal),
        }
    }
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d20_a_taken_address_names_the_callers_own_link_and_no_other() {
        let own = LinkId::Redirect("rdr_019b5a3c6e2d7f4880112233445566aa".parse().unwrap());
        for (refusal, code, existing) in [
            (Refusal::SlugReserved, ViolationCode::Reserved, None),
            (Refusal::AddressTaken { existing: None }, ViolationCode::AlreadyTaken, None),
            (Refusal::AddressTaken { existing: Some(own) }, ViolationCode::AlreadyTaken, Some(own)),
        ] {
            assert_eq!(refusal.code(), ErrorCode::SlugAlreadyTaken);
            let violation = refusal.violation().unwrap();
            assert_eq!((violation.field(), violation.code()), ("slug", code));
            assert_eq!(violation.existing(), existing);
            for text in [refusal.to_string(), violation.message().to_owned()] {
                assert_eq!(text.contains(&own.to_string()), existing.is_some(), "{text}");
            }
        }
    }

    #[test]
    fn d61_only_the_operator_can_offer_domains_by_a_setting() {
        let message = Refusal::DomainsNotOffered.to_string();
        assert!(message.contains("only its operator can change that"), "{message}");
        assert!(message.contains("`edge-hostname`"), "{message}");
    }

    #[test]
    fn d15_the_message_for_a_limit_of_one_is_singular() {
        let message = |limit| Refusal::PlanLimitReached { resource: PlanResource::Links, limit }.to_string();
        assert_eq!(
            [message(1), message(2)],
            ["The plan allows at most 1 link.", "The plan allows at most 2 links."]
        );
    }

    #[test]
    fn d20_refusals_of_the_whole_operation_have_no_violation() {
        assert_eq!(Refusal::DuplicateSlugInBatch.violation(), None);
        assert_eq!(Refusal::RedirectNotFound.violation(), None);
    }
}

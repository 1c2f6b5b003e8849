//! Why an operation as a whole is refused, apart from what is wrong with single fields.

use std::fmt;

use crate::error_code::ErrorCode;
use crate::plan::{Feature, PlanResource};
use crate::verification_token::VerificationRecord;
use crate::violation::Violations;

/// A rule or the store said no. Each refusal has one code of the contract and a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The caller has no such redirect (D2).
    RedirectNotFound,
    /// The caller has no such landing page (D2).
    LandingNotFound,
    /// The caller has no such group, also where a body names it (D6).
    GroupNotFound,
    /// The caller has no such pixel. Pixels have no code of their own (D6).
    PixelNotFound,
    /// The caller has no such domain, also where a body names it (D23).
    DomainNotFound,
    /// The domain is the caller's, but does not serve links yet or any more (D23).
    DomainNotActive,
    /// Another account holds the hostname (D41).
    HostnameTaken {
        /// The caller's own record, which would prove the hostname to be theirs.
        record: Box<VerificationRecord>,
    },
    /// The hostname is the installation's own, or lies under one that is (D37).
    HostnameIsSystemDomain,
    /// DNS gave no answer, so nothing was decided and nothing changed (D41, D42).
    DomainProviderUnavailable,
    /// The operator has not said what custom domains point at, and public DNS cannot know the system domain (D61).
    DomainsNotOffered,
    /// The link would end on the system domain without a slug (D22).
    SlugRequiredForSystemDomain,
    /// Another link has the address, or it is reserved (D20, D21).
    AddressTaken,
    /// The plan's limit on this resource has been reached (D15).
    PlanLimitReached {
        /// What there would be one too many of.
        resource: PlanResource,
        /// How many the plan allows.
        limit: u64,
    },
    /// The plan lacks a feature that the request would begin to use (D15).
    FeatureNotAvailable(Feature),
    /// An earlier item of the batch has the same id (D31).
    DuplicateIdInBatch,
    /// An earlier item of the batch has the address (D29).
    DuplicateSlugInBatch,
}

impl Refusal {
    /// The contract's code.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::RedirectNotFound => ErrorCode::RedirectNotFound,
            Self::LandingNotFound => ErrorCode::LandingNotFound,
            Self::GroupNotFound => ErrorCode::GroupNotFound,
            Self::PixelNotFound => ErrorCode::InvalidRequest,
            Self::DomainNotFound => ErrorCode::DomainNotFound,
            Self::DomainNotActive => ErrorCode::DomainNotActive,
            Self::HostnameTaken { .. } => ErrorCode::HostnameAlreadyTaken,
            Self::HostnameIsSystemDomain => ErrorCode::HostnameIsSystemDomain,
            Self::DomainProviderUnavailable | Self::DomainsNotOffered => ErrorCode::DomainProviderUnavailable,
            Self::SlugRequiredForSystemDomain => ErrorCode::SlugRequiredForSystemDomain,
            Self::AddressTaken => ErrorCode::SlugAlreadyTaken,
            Self::PlanLimitReached { .. } => ErrorCode::PlanLimitReached,
            Self::FeatureNotAvailable(_) => ErrorCode::FeatureNotAvailableOnCurrentPlan,
            Self::DuplicateIdInBatch => ErrorCode::DuplicateIdInBatch,
            Self::DuplicateSlugInBatch => ErrorCode::DuplicateSlugInBatch,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RedirectNotFound => f.write_str("No such redirect."),
            Self::LandingNotFound => f.write_str("No such landing page."),
            Self::GroupNotFound => f.write_str("No such group."),
            Self::PixelNotFound => f.write_str("No such pixel."),
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
                "This installation cannot take custom domains yet: its operator has to set `edge-hostname`, the name that they point at.",
            ),
            Self::SlugRequiredForSystemDomain => f.write_str("A link on the system domain needs a slug."),
            Self::AddressTaken => f.write_str("This address is taken or reserved; choose another slug."),
            Self::PlanLimitReached { resource, limit } => {
                write!(f, "The plan allows at most {limit} {}.", resource.as_str())
            }
            Self::FeatureNotAvailable(feature) => {
                write!(f, "The feature `{}` is not part of the current plan.", feature.as_str())
            }
            Self::DuplicateIdInBatch => f.write_str("The same id stands earlier in this batch."),
            Self::DuplicateSlugInBatch => f.write_str("An earlier item of this batch has the same address."),
        }
    }
}

/// Why a draft or a patch was not turned into a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// Fields break their rules: all of them.
    Invalid(Violations),
    /// The operation as a whole is refused.
    Refused(Refusal),
}

impl Rejection {
    /// The contract's code.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid(_) => ErrorCode::InvalidRequest,
            Self::Refused(refusal) => refusal.code(),
        }
    }
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

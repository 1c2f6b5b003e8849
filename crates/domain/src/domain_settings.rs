//! What the owner of a custom domain sets for its visitors (D127).

use std::fmt;
use std::sync::Arc;

use crate::change::Change;
use crate::custom_domain::CustomDomain;
use crate::host_blocklist::HostBlocklist;
use crate::hostname::Hostname;
use crate::public_address::{PublicPart, SystemDomain};
use crate::target_url::TargetUrl;
use crate::timestamp::Timestamp;
use crate::violation::{FieldError, Violation, ViolationCode, Violations};

/// Where a domain sends visitors for whom no link opens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DomainUrls {
    /// For its root, if no link is there.
    pub root_url: Option<TargetUrl>,
    /// For addresses at which no link opens.
    pub not_found_url: Option<TargetUrl>,
    /// For links that have ended and have no `fallback_url` (D128).
    pub expired_url: Option<TargetUrl>,
}

/// The text of a JSON document that a domain serves. It is kept as it was sent, with its white space and the order of its
/// names, because programs check such files byte for byte. Clones share the text.
#[derive(Clone, PartialEq, Eq)]
pub struct AppFile(Arc<str>);

impl AppFile {
    /// The largest file in bytes.
    pub const MAX_BYTES: usize = 64 * 1024;

    /// The file with this text, which the caller has read as JSON.
    ///
    /// ```
    /// # use signpost_domain::AppFile;
    /// assert_eq!(AppFile::parse("[ ]").unwrap().as_str(), "[ ]");
    /// assert!(AppFile::parse(&" ".repeat(AppFile::MAX_BYTES + 1)).is_err());
    /// ```
    ///
    /// # Errors
    /// If it is too long.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        if text.len() > Self::MAX_BYTES {
            let message =
                format!("must be at most {} bytes as JSON text, white space included", Self::MAX_BYTES);
            return Err(FieldError::new(ViolationCode::TooLong, message));
        }
        Ok(Self(text.into()))
    }

    /// The file in a row of a store.
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        Self(text.into())
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Files may be long, so the log has only their length.
impl fmt::Debug for AppFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AppFile({} bytes)", self.0.len())
    }
}

/// One of the two files with which apps claim the links of a domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AppFileKind {
    /// `apple_app_site_association`, for apps on Apple's systems.
    AppleAppSiteAssociation,
    /// `asset_links`, for apps on Android.
    AssetLinks,
}

impl AppFileKind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::AppleAppSiteAssociation, Self::AssetLinks];

    /// The path at which a domain serves the file.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::AppleAppSiteAssociation => "/.well-known/apple-app-site-association",
            Self::AssetLinks => "/.well-known/assetlinks.json",
        }
    }

    /// The file at a path.
    #[must_use]
    pub fn at(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.path() == path)
    }
}

/// The files with which apps claim the links of a domain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DomainFiles {
    /// `apple_app_site_association`
    pub apple_app_site_association: Option<AppFile>,
    /// `asset_links`
    pub asset_links: Option<AppFile>,
}

impl DomainFiles {
    /// The file of a kind.
    #[must_use]
    pub const fn of(&self, kind: AppFileKind) -> Option<&AppFile> {
        match kind {
            AppFileKind::AppleAppSiteAssociation => self.apple_app_site_association.as_ref(),
            AppFileKind::AssetLinks => self.asset_links.as_ref(),
        }
    }
}

/// A change of a domain's settings. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DomainRequest {
    /// `root_url`
    pub root_url: Change<TargetUrl>,
    /// `not_found_url`
    pub not_found_url: Change<TargetUrl>,
    /// `expired_url`
    pub expired_url: Change<TargetUrl>,
    /// `apple_app_site_association`
    pub apple_app_site_association: Change<AppFile>,
    /// `asset_links`
    pub asset_links: Change<AppFile>,
}

impl DomainRequest {
    /// The violations that do not depend on the domain: the rules of a redirect's target (D24).
    #[must_use]
    pub fn violations(&self, system: &SystemDomain, blocklist: &HostBlocklist) -> Violations {
        self.refused(|url| {
            if blocklist.contains(url.host()) {
                Some("points at a host that may not be a target")
            } else {
                let is_part = system.own_path_of(url).is_some_and(|path| path.part != PublicPart::Link);
                is_part.then_some("must not be the address of a widget or a QR code of this service")
            }
        })
    }

    /// The violations on the domain with this hostname. Each address there may be one at which no link opens, so that a
    /// visitor would be sent there again and again.
    #[must_use]
    pub fn violations_on(&self, hostname: &Hostname) -> Violations {
        self.refused(|url| {
            let host = Hostname::parse(url.host()).ok();
            (host.as_ref() == Some(hostname)).then_some("must not be an address of the domain itself")
        })
    }

    fn refused(&self, reason: impl Fn(&TargetUrl) -> Option<&'static str>) -> Violations {
        let urls = [
            ("root_url", &self.root_url),
            ("not_found_url", &self.not_found_url),
            ("expired_url", &self.expired_url),
        ];
        let mut violations = Violations::new();
        for (field, change) in urls {
            if let Change::Set(url) = change
                && let Some(message) = reason(url)
            {
                let error: Violation = FieldError::new(ViolationCode::InvalidValue, message).at(field);
                violations.push(error.of_value(url.as_str()));
            }
        }
        violations
    }
}

impl CustomDomain {
    /// The domain and its files after a request without violations at `now`. A request that changes nothing leaves
    /// `updated_at` and the revision alone (D33).
    #[must_use]
    pub fn configured(
        &self,
        files: &DomainFiles,
        request: &DomainRequest,
        now: Timestamp,
    ) -> (Self, DomainFiles) {
        let DomainRequest { root_url, not_found_url, expired_url, apple_app_site_association, asset_links } =
            request.clone();
        let urls = DomainUrls {
            root_url: root_url.applied_to(self.urls.root_url.clone()),
            not_found_url: not_found_url.applied_to(self.urls.not_found_url.clone()),
            expired_url: expired_url.applied_to(self.urls.expired_url.clone()),
        };
        let after = DomainFiles {
            apple_app_site_association: apple_app_site_association
                .applied_to(files.apple_app_site_association.clone()),
            asset_links: asset_links.applied_to(files.asset_links.clone()),
        };
        if urls == self.urls && after == *files {
            return (self.clone(), after);
        }
        let (updated_at, revision) = (now.max(self.updated_at), self.revision.next());
        (Self { updated_at, revision, urls, ..self.clone() }, after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis).unwrap()
    }

    fn url(text: &str) -> TargetUrl {
        TargetUrl::parse(text).unwrap()
    }

    fn domain() -> CustomDomain {
        let hostname = Hostname::parse("go.example.com").unwrap();
        CustomDomain::connect(Id::from_bytes([1; 16]), Id::from_bytes([2; 16]), hostname, at(0))
    }

    fn fields(violations: &Violations) -> Vec<(String, &'static str)> {
        violations.iter().map(|each| (each.field().to_owned(), each.code().as_str())).collect()
    }

    #[test]
    fn d127_a_change_moves_the_revision_once_and_a_repetition_does_not() {
        let (before, files) = (domain(), DomainFiles::default());
        let request = DomainRequest {
            root_url: Change::Set(url("https://example.org")),
            asset_links: Change::Set(AppFile::parse("[]").unwrap()),
            ..DomainRequest::default()
        };
        let (after, changed) = before.configured(&files, &request, at(5));
        assert_eq!(after.urls.root_url, Some(url("https://example.org")));
        assert_eq!(changed.asset_links, Some(AppFile::parse("[]").unwrap()));
        assert_eq!((after.updated_at, after.revision), (at(5), before.revision.next()));
        assert_eq!(after.configured(&changed, &request, at(6)), (after.clone(), changed.clone()));
        // White space is part of a file.
        let other = DomainRequest {
            asset_links: Change::Set(AppFile::parse("[ ]").unwrap()),
            ..DomainRequest::default()
        };
        assert_eq!(after.configured(&changed, &other, at(6)).0.revision, after.revision.next());
        let cleared =
            DomainRequest { root_url: Change::Clear, asset_links: Change::Clear, ..DomainRequest::default() };
        let (cleared, gone) = after.configured(&changed, &cleared, at(1));
        assert_eq!((cleared.urls, gone), (DomainUrls::default(), DomainFiles::default()));
        assert_eq!(cleared.updated_at, at(5), "an earlier clock does not move it back");
    }

    #[test]
    fn d127_urls_on_the_domain_itself_and_on_blocked_hosts_are_refused() {
        let request = DomainRequest {
            root_url: Change::Set(url("https://GO.example.com:8443/a/b")),
            not_found_url: Change::Set(url("https://bad.example/x")),
            expired_url: Change::Set(url("https://www.go.example.com/")),
            ..DomainRequest::default()
        };
        let invalid = |field: &str| vec![(field.to_owned(), "invalid_value")];
        let own = Hostname::parse("go.example.com").unwrap();
        assert_eq!(fields(&request.violations_on(&own)), invalid("root_url"));
        let system = SystemDomain::new("https://sign.example", vec![]).unwrap();
        let list = HostBlocklist::parse("bad.example").unwrap();
        assert_eq!(fields(&request.violations(&system, &list)), invalid("not_found_url"));
        let code = DomainRequest {
            expired_url: Change::Set(url("https://sign.example/a/qr.svg")),
            ..DomainRequest::default()
        };
        let none = HostBlocklist::default();
        assert_eq!(fields(&code.violations(&system, &none)), invalid("expired_url"));
        assert!(request.violations(&system, &none).is_empty());
    }

    #[test]
    fn d127_each_file_has_its_path() {
        for kind in AppFileKind::ALL {
            assert_eq!(AppFileKind::at(kind.path()), Some(kind));
        }
        for path in
            ["/apple-app-site-association", "/.well-known/assetlinks", "/.well-known/assetlinks.json/"]
        {
            assert_eq!(AppFileKind::at(path), None, "{path}");
        }
    }
}

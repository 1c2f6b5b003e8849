//! The paths of the link listener, as data.

use percent_encoding::percent_decode_str;
use signpost_domain::Slug;

/// What is found at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resource {
    /// A link.
    Link,
}

/// One shape of path.
#[derive(Debug)]
pub(crate) struct Route {
    /// The path; `{slug}` stands for a link's slug.
    pub(crate) path: &'static str,
    /// What is found there.
    pub(crate) resource: Resource,
}

/// Every path that leads anywhere. One trailing slash makes no difference (D53).
pub(crate) const ROUTES: [Route; 2] = [
    // The root of a hostname.
    Route { path: "/", resource: Resource::Link },
    Route { path: "/{slug}", resource: Resource::Link },
];

/// What a path names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) resource: Resource,
    /// The slug in the path, if its route has one.
    pub(crate) slug: Option<Slug>,
}

/// The slug in a path as most visitors send it, with nothing encoded: `Some(None)` is the root. `None` for every other path,
/// which [`find`] reads.
#[expect(
    clippy::option_option,
    reason = "the root has no slug, and that is not the same as a path that is not plain"
)]
pub(crate) fn plain_slug(path: &str) -> Option<Option<&str>> {
    let inner = path.strip_prefix('/')?;
    if inner.is_empty() {
        return Some(None);
    }
    let slug = inner.strip_suffix('/').unwrap_or(inner);
    let is_plain = (1..=Slug::MAX_CHARS).contains(&slug.len())
        && slug.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    is_plain.then_some(Some(slug))
}

/// What `path`, as it stands in the request, names. `None` for a path that no route has, and for one whose slug
/// is none.
pub(crate) fn find(path: &str) -> Option<Found> {
    let segments = segments(path)?;
    ROUTES.iter().find_map(|route| {
        let pattern = self::segments(route.path)?;
        match_segments(&pattern, &segments, Found { resource: route.resource, slug: None })
    })
}

/// Whether browsers, crawlers and certificate authorities ask for `path` on every host by themselves. No link can be there,
/// and whoever asks has not guessed at links (D54).
pub(crate) fn is_asked_for_by_browsers(path: &str) -> bool {
    let Some(name) = path.strip_prefix('/') else { return false };
    let is_touch_icon = name
        .strip_prefix("apple-touch-icon")
        .and_then(|rest| rest.strip_suffix(".png"))
        .is_some_and(|variant| !variant.contains('/'));
    matches!(name, "favicon.ico" | "robots.txt") || is_touch_icon || name.starts_with(".well-known/")
}

fn segments(path: &str) -> Option<Vec<&str>> {
    match path.strip_prefix('/')? {
        "" => Some(Vec::new()),
        inner => Some(inner.strip_suffix('/').unwrap_or(inner).split('/').collect()),
    }
}

/// `found` with the slug that `pattern` finds in `segments`, or `None` if they do not fit it.
fn match_segments(pattern: &[&str], segments: &[&str], mut found: Found) -> Option<Found> {
    if pattern.len() != segments.len() {
        return None;
    }
    for (expected, segment) in pattern.iter().zip(segments) {
        let decoded = percent_decode_str(segment).decode_utf8().ok()?;
        if *expected == "{slug}" {
            found.slug = Some(Slug::parse(&decoded).ok()?);
        } else if *expected != decoded {
            return None;
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn leads_to(path: &str, slug: Option<&str>) {
        if let Some(plain) = plain_slug(path) {
            assert_eq!(plain, slug, "{path}");
        }
        let slug = slug.map(|slug| Slug::parse(slug).unwrap());
        assert_eq!(find(path), Some(Found { resource: Resource::Link, slug }), "{path}");
    }

    #[test]
    fn d53_a_trailing_slash_is_the_same_address() {
        leads_to("/", None);
        leads_to("/Sale-1_a", Some("Sale-1_a"));
        leads_to("/Sale-1_a/", Some("Sale-1_a"));
    }

    #[test]
    fn percent_encoding_makes_no_difference() {
        leads_to("/%61", Some("a"));
        leads_to("/s%61le/", Some("sale"));
        leads_to("/%2d%5F", Some("-_"));
    }

    #[test]
    fn anything_else_leads_nowhere() {
        let too_long = format!("/{}", "a".repeat(65));
        for path in [
            "", "*", "a", "//", "//a", "/a//", "/a/b", "/a%2F", "/a%2Fb", "/%", "/%6", "/%zz", "/%ff",
            "/%00", "/a%20", "/a.txt", "/.", "/..", "/a;b", "/a+b", "/%C3%A4", &too_long,
        ] {
            assert_eq!((find(path), plain_slug(path)), (None, None), "{path}");
        }
    }

    #[test]
    fn d54_what_browsers_ask_for_by_themselves_is_known() {
        let asked_for = [
            "/favicon.ico",
            "/robots.txt",
            "/apple-touch-icon.png",
            "/apple-touch-icon-precomposed.png",
            "/apple-touch-icon-120x120.png",
            "/.well-known/security.txt",
            "/.well-known/acme-challenge/x",
        ];
        for path in asked_for {
            assert!(is_asked_for_by_browsers(path), "{path}");
            assert_eq!(find(path), None, "no link can be at {path}");
        }
        for path in [
            "/",
            "/a",
            "/favicon",
            "/favicon.ico/a",
            "/a/robots.txt",
            "/.well-known",
            "/apple-touch-icon/a.png",
        ] {
            assert!(!is_asked_for_by_browsers(path), "{path}");
        }
    }

    #[test]
    fn every_route_finds_itself() {
        for route in &ROUTES {
            let path = route.path.replace("{slug}", "a");
            assert_eq!(find(&path).map(|found| found.resource), Some(route.resource), "{path}");
        }
    }
}

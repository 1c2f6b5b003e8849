//! The paths of the link listener, as data.

use percent_encoding::percent_decode_str;
use signpost_domain::{Slug, WidgetId};

use crate::files::is_touch_icon;
use crate::qr_codes::QrFormat;

/// What is found at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resource {
    /// A link.
    Link,
    /// The QR code of a link (D59).
    Qr(QrFormat),
    /// Where a widget of a landing page leads (D59).
    Widget(WidgetId),
}

/// What is found at the paths of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Link,
    Qr(QrFormat),
    Widget,
}

/// One shape of path.
#[derive(Debug)]
pub(crate) struct Route {
    /// The path; `{slug}` stands for a link's slug, `{widget}` for a widget's id.
    pub(crate) path: &'static str,
    /// What is found there.
    pub(crate) kind: Kind,
}

/// Every path that leads anywhere. One trailing slash makes no difference (D53).
pub(crate) const ROUTES: [Route; 8] = [
    // The root of a hostname.
    Route { path: "/", kind: Kind::Link },
    Route { path: "/{slug}", kind: Kind::Link },
    Route { path: "/qr.svg", kind: Kind::Qr(QrFormat::Svg) },
    Route { path: "/qr.png", kind: Kind::Qr(QrFormat::Png) },
    Route { path: "/{slug}/qr.svg", kind: Kind::Qr(QrFormat::Svg) },
    Route { path: "/{slug}/qr.png", kind: Kind::Qr(QrFormat::Png) },
    Route { path: "/w/{widget}", kind: Kind::Widget },
    Route { path: "/{slug}/w/{widget}", kind: Kind::Widget },
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
        match_segments(&pattern, &segments, route.kind)
    })
}

/// Whether browsers, crawlers and certificate authorities ask for `path` on every host by themselves. No link can be there,
/// and whoever asks has not guessed at links (D54).
pub(crate) fn is_asked_for_by_browsers(path: &str) -> bool {
    matches!(path, "/favicon.ico" | "/robots.txt") || is_touch_icon(path) || path.starts_with("/.well-known/")
}

fn segments(path: &str) -> Option<Vec<&str>> {
    match path.strip_prefix('/')? {
        "" => Some(Vec::new()),
        inner => Some(inner.strip_suffix('/').unwrap_or(inner).split('/').collect()),
    }
}

/// What a route of this kind finds where `pattern` fits `segments`.
fn match_segments(pattern: &[&str], segments: &[&str], kind: Kind) -> Option<Found> {
    if pattern.len() != segments.len() {
        return None;
    }
    let mut slug = None;
    let mut widget = None;
    for (expected, segment) in pattern.iter().zip(segments) {
        let decoded = percent_decode_str(segment).decode_utf8().ok()?;
        match *expected {
            "{slug}" => slug = Some(Slug::parse(&decoded).ok()?),
            "{widget}" => widget = Some(decoded.parse().ok()?),
            expected => (decoded == expected).then_some(())?,
        }
    }
    let resource = match kind {
        Kind::Link => Resource::Link,
        Kind::Qr(format) => Resource::Qr(format),
        Kind::Widget => Resource::Widget(widget?),
    };
    Some(Found { resource, slug })
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
        let widget: WidgetId = WIDGET.parse().unwrap();
        for Route { path, kind } in &ROUTES {
            let path = path.replace("{slug}", "a").replace("{widget}", WIDGET);
            let resource = match kind {
                Kind::Link => Resource::Link,
                Kind::Qr(format) => Resource::Qr(*format),
                Kind::Widget => Resource::Widget(widget),
            };
            let slug = path.starts_with("/a").then(|| Slug::parse("a").unwrap());
            assert_eq!(find(&path), Some(Found { resource, slug }), "{path}");
            assert_eq!(find(&format!("{}/", path.trim_end_matches('/'))), find(&path), "{path}");
        }
    }

    const WIDGET: &str = "wgt_00000000000000000000000000000001";

    #[test]
    fn d59_links_whose_slug_is_w_or_qr_keep_their_addresses() {
        leads_to("/w", Some("w"));
        leads_to("/qr", Some("qr"));
        let slug = Some(Slug::parse("w").unwrap());
        assert_eq!(
            find("/w/qr.svg"),
            Some(Found { resource: Resource::Qr(QrFormat::Svg), slug: slug.clone() })
        );
        let widget = find(&format!("/w/w/{WIDGET}")).unwrap();
        assert_eq!((widget.resource, widget.slug), (Resource::Widget(WIDGET.parse().unwrap()), slug));
    }

    #[test]
    fn d59_what_is_no_widget_leads_nowhere() {
        for path in [
            "/w/",
            "/w/a",
            "/a/w",
            "/a/w/",
            "/a/w/lnd_00000000000000000000000000000001",
            "/a/W/x",
            "/a/qr.gif",
        ] {
            let is_slug = path == "/w/";
            assert_eq!(find(path).is_some(), is_slug, "{path}");
        }
        assert_eq!(find(&format!("/a/x/{WIDGET}")), None);
        assert_eq!(find(&format!("/a/w/{}", WIDGET.to_uppercase())), None);
    }
}

//! The paths of the link listener, as a table.

use percent_encoding::percent_decode_str;
use signpost_domain::{Slug, WidgetId};

use crate::files::is_touch_icon;
use crate::qr_codes::QrFormat;

/// What a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resource {
    /// A link.
    Link,
    /// The QR code of a link (D59).
    Qr(QrFormat),
    /// The target of a landing page's widget (D59).
    Widget(WidgetId),
}

/// What the paths of a route name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RouteKind {
    Link,
    Qr(QrFormat),
    Widget,
}

/// One shape of path.
#[derive(Debug)]
pub(crate) struct Route {
    /// The path, with the placeholders `{slug}` for a link's slug and `{widget}` for a widget's id.
    pub(crate) path: &'static str,
    pub(crate) kind: RouteKind,
}

/// Every path that the listener serves. A trailing slash makes no difference (D53).
pub(crate) const ROUTES: [Route; 8] = [
    // The root of a hostname.
    Route { path: "/", kind: RouteKind::Link },
    Route { path: "/{slug}", kind: RouteKind::Link },
    Route { path: "/qr.svg", kind: RouteKind::Qr(QrFormat::Svg) },
    Route { path: "/qr.png", kind: RouteKind::Qr(QrFormat::Png) },
    Route { path: "/{slug}/qr.svg", kind: RouteKind::Qr(QrFormat::Svg) },
    Route { path: "/{slug}/qr.png", kind: RouteKind::Qr(QrFormat::Png) },
    Route { path: "/w/{widget}", kind: RouteKind::Widget },
    Route { path: "/{slug}/w/{widget}", kind: RouteKind::Widget },
];

/// A path matched against the routes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RouteMatch {
    pub(crate) resource: Resource,
    /// The slug in the path, if its route has one.
    pub(crate) slug: Option<Slug>,
}

/// Reads the slug of a path without percent-encoding, as most visitors send it: `Some(None)` is the root.
/// `None` for any other path, which [`find`] reads.
#[expect(clippy::option_option, reason = "the root has no slug, which differs from a path that is not plain")]
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

/// Whether a link may be at `path`, which takes a form if it has a password (D131).
pub(crate) fn is_of_a_link(path: &str) -> bool {
    plain_slug(path).is_some()
        || find(path)
            .or_else(|| without_additions(path))
            .is_some_and(|found| found.resource == Resource::Link)
}

/// Matches the raw `path` of a request. `None` if no route has it, or if its slug is invalid.
pub(crate) fn find(path: &str) -> Option<RouteMatch> {
    let segments = segments(path)?;
    ROUTES.iter().find_map(|route| {
        let pattern = self::segments(route.path)?;
        match_segments(&pattern, &segments, route.kind)
    })
}

/// The link at a path that [`find`] did not match, without what messages add to addresses: closing brackets, quotation marks,
/// full stops, spaces, or parameters behind `&` or an encoded `?` (D53).
pub(crate) fn without_additions(path: &str) -> Option<RouteMatch> {
    let [segment] = *segments(path)? else { return None };
    let decoded = percent_decode_str(segment).decode_utf8_lossy();
    let end = decoded.find(['&', '?']).unwrap_or(decoded.len());
    let is_addition = |character: char| {
        let is_of_a_path = character.is_ascii_alphanumeric()
            || matches!(character, '-' | '_' | '/' | '\\' | '%' | char::REPLACEMENT_CHARACTER);
        !(is_of_a_path || character.is_control())
    };
    let slug = decoded.get(..end)?.trim_end_matches(is_addition);
    Some(RouteMatch { resource: Resource::Link, slug: Some(Slug::parse(slug).ok()?) })
}

/// Whether browsers, crawlers and certificate authorities request `path` from every host. No link can be
/// there, and such a request is no guess at links (D54).
pub(crate) fn is_automatic_request(path: &str) -> bool {
    matches!(path, "/favicon.ico" | "/robots.txt") || is_touch_icon(path) || path.starts_with("/.well-known/")
}

fn segments(path: &str) -> Option<Vec<&str>> {
    match path.strip_prefix('/')? {
        "" => Some(Vec::new()),
        inner => Some(inner.strip_suffix('/').unwrap_or(inner).split('/').collect()),
    }
}

/// Matches `segments` against the pattern of a route.
fn match_segments(pattern: &[&str], segments: &[&str], kind: RouteKind) -> Option<RouteMatch> {
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
        RouteKind::Link => Resource::Link,
        RouteKind::Qr(format) => Resource::Qr(format),
        RouteKind::Widget => Resource::Widget(widget?),
    };
    Some(RouteMatch { resource, slug })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is_link_at(path: &str, slug: Option<&str>) {
        if let Some(plain) = plain_slug(path) {
            assert_eq!(plain, slug, "{path}");
        }
        let slug = slug.map(|slug| Slug::parse(slug).unwrap());
        assert_eq!(find(path), Some(RouteMatch { resource: Resource::Link, slug }), "{path}");
    }

    #[test]
    fn d53_trailing_slash_makes_no_difference() {
        is_link_at("/", None);
        is_link_at("/Sale-1_a", Some("Sale-1_a"));
        is_link_at("/Sale-1_a/", Some("Sale-1_a"));
    }

    #[test]
    fn percent_encoding_makes_no_difference() {
        is_link_at("/%61", Some("a"));
        is_link_at("/s%61le/", Some("sale"));
        is_link_at("/%2d%5F", Some("-_"));
    }

    #[test]
    fn other_paths_match_nothing() {
        let too_long = format!("/{}", "a".repeat(65));
        for path in [
            "", "*", "a", "//", "//a", "/a//", "/a/b", "/a%2F", "/a%2Fb", "/%", "/%6", "/%zz", "/%ff",
            "/%00", "/a%20", "/a.txt", "/.", "/..", "/a;b", "/a+b", "/%C3%A4", &too_long,
        ] {
            assert_eq!((find(path), plain_slug(path)), (None, None), "{path}");
        }
    }

    #[test]
    fn d53_what_messages_add_to_an_address_is_cut_off() {
        for addition in [
            ".",
            ",",
            ")",
            "!",
            ";",
            ":",
            "%20",
            "%E2%80%8B",
            "%E2%80%A6",
            "\u{2026}",
            "%22",
            "\"",
            "'",
            "%3E",
            "*",
            "&fbclid=x",
            "&amp;utm_source=a",
            "%3Fx=1",
            "%3Futm_source=a&b",
            ").",
            ",%20",
            ")/",
        ] {
            let path = format!("/Sale-1_a{addition}");
            assert_eq!(find(&path), None, "{path}");
            let slug = Some(Slug::parse("Sale-1_a").unwrap());
            assert_eq!(
                without_additions(&path),
                Some(RouteMatch { resource: Resource::Link, slug }),
                "{path}"
            );
        }
        for path in [
            "/.env",
            "/a.txt",
            "/wp-login.php",
            "/a%2Fb",
            "/.",
            "/%20",
            "/&a",
            "/a%00",
            "/a%0d%0a",
            "/a%2f",
            "/a%5c",
            "/a%ff",
            "/a%",
            "/a/b.",
            "/(a)",
            "/a b",
            "/%C3%A4a",
        ] {
            assert_eq!(without_additions(path), None, "{path}");
        }
    }

    #[test]
    fn d54_automatic_browser_requests_are_recognized() {
        let automatic = [
            "/favicon.ico",
            "/robots.txt",
            "/apple-touch-icon.png",
            "/apple-touch-icon-precomposed.png",
            "/apple-touch-icon-120x120.png",
            "/.well-known/security.txt",
            "/.well-known/acme-challenge/x",
        ];
        for path in automatic {
            assert!(is_automatic_request(path), "{path}");
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
            assert!(!is_automatic_request(path), "{path}");
        }
    }

    #[test]
    fn every_route_matches_its_own_path() {
        let widget: WidgetId = WIDGET.parse().unwrap();
        for Route { path, kind } in &ROUTES {
            let path = path.replace("{slug}", "a").replace("{widget}", WIDGET);
            let resource = match kind {
                RouteKind::Link => Resource::Link,
                RouteKind::Qr(format) => Resource::Qr(*format),
                RouteKind::Widget => Resource::Widget(widget),
            };
            let slug = path.starts_with("/a").then(|| Slug::parse("a").unwrap());
            assert_eq!(find(&path), Some(RouteMatch { resource, slug }), "{path}");
            assert_eq!(find(&format!("{}/", path.trim_end_matches('/'))), find(&path), "{path}");
        }
    }

    const WIDGET: &str = "wgt_00000000000000000000000000000001";

    #[test]
    fn d59_slugs_w_and_qr_keep_their_addresses() {
        is_link_at("/w", Some("w"));
        is_link_at("/qr", Some("qr"));
        let slug = Some(Slug::parse("w").unwrap());
        assert_eq!(
            find("/w/qr.svg"),
            Some(RouteMatch { resource: Resource::Qr(QrFormat::Svg), slug: slug.clone() })
        );
        let widget = find(&format!("/w/w/{WIDGET}")).unwrap();
        assert_eq!((widget.resource, widget.slug), (Resource::Widget(WIDGET.parse().unwrap()), slug));
    }

    #[test]
    fn d59_paths_without_a_valid_widget_match_nothing() {
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

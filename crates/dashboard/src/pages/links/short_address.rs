//! Short addresses that people paste into the search.

use signpost_app::Application;
use signpost_domain::public_address::slug_addressed_on;
use signpost_domain::{HostReference, Hostname, Slug, TargetUrl};

/// The host and the slug of a link, if the text is the short address of one: with a scheme, or without as browsers show it. The
/// link need not exist, and a host of others may be anything.
pub(super) fn parse(app: &Application, text: &str) -> Option<(HostReference, Slug)> {
    let has_scheme = text.contains("://");
    let schemes: &[&str] = if has_scheme { &[""] } else { &["https://", "http://"] };
    schemes.iter().find_map(|scheme| {
        let target = TargetUrl::parse(&format!("{scheme}{text}")).ok()?;
        if let Some(slug) = app.system.own_address_of(&target) {
            return Some((HostReference::Hostname(app.system.hostname().clone()), slug));
        }
        let hostname = Hostname::parse(target.host()).ok()?;
        let slug = slug_addressed_on(&target, &hostname)??;
        Some((HostReference::Hostname(hostname), slug))
    })
}

#[cfg(test)]
mod tests {
    use signpost_memory::InMemory;

    use super::*;

    #[test]
    fn short_addresses_are_read_with_and_without_a_scheme() {
        let app = InMemory::default().application();
        let host = app.system.hostname().as_str();
        let (short, origin) = (app.system.origin(), app.system.origin());
        let short = short.split_once("://").unwrap().1.to_owned();
        let slug = Slug::parse("Flyer").unwrap();
        for text in [format!("{short}/Flyer"), format!("{origin}/Flyer"), format!("{short}/Flyer/?a=b")] {
            assert_eq!(parse(&app, &text), Some((HostReference::parse(host), slug.clone())), "{text}");
        }
        for text in ["go.example.com/Flyer", "http://GO.example.com/Flyer", "https://go.example.com/Flyer"] {
            assert_eq!(
                parse(&app, text),
                Some((HostReference::parse("go.example.com"), slug.clone())),
                "{text}"
            );
        }
        for text in
            ["", "flyer", "/flyer", "go.example.com", "go.example.com/a/b/c", "a flyer", "autumn sale/x"]
        {
            assert_eq!(parse(&app, text), None, "{text}");
        }
    }
}

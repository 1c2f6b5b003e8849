//! The request of a visit that is explained (D136), as a browser would send it.

use actix_http::header::{self, HeaderName, HeaderValue};
use actix_http::{Method, Request, Uri};
use signpost_app::explain::{VisitFacts, VisitHeader, VisitQuery, VisitedUrl};
use signpost_app::ports::OpenedUrl;
use signpost_domain::{Address, Hostname, Site, Slug, SystemDomain};
use url::Url;

use crate::routes::{self, Resource};

/// The address of a link that a browser asks for which opens `url`.
pub(crate) fn opened(url: &VisitedUrl, system: &SystemDomain) -> Option<OpenedUrl> {
    let url = Url::parse(url.as_str()).ok()?;
    let hostname = Hostname::from_authority(url.host_str()?).ok()?;
    let path = url.path();
    let slug = if let Some(slug) = routes::plain_slug(path) {
        slug.map(Slug::parse).transpose().ok()?
    } else {
        let found = routes::find(path).or_else(|| routes::without_additions(path))?;
        (found.resource == Resource::Link).then_some(found.slug)?
    };
    let site = if system.answers_to(&hostname) { Site::System } else { Site::Custom(hostname) };
    if site == Site::System && slug.is_none() {
        return None;
    }
    let query = url.query().filter(|query| !query.is_empty()).map(VisitQuery::of_url);
    Some(OpenedUrl { address: Address { site, slug }, query })
}

/// A GET for the slug with what the caller says about the visitor.
pub(crate) fn request(slug: Option<&Slug>, facts: &VisitFacts) -> Request {
    let mut request = Request::new();
    let head = request.head_mut();
    head.method = Method::GET;
    head.uri = uri(slug.map_or("", Slug::as_str), facts.query.as_ref());
    let text = |header: &Option<VisitHeader>| {
        header.as_ref().map(VisitHeader::as_str).unwrap_or_default().to_owned()
    };
    let headers: [(HeaderName, String); 3] = [
        (header::USER_AGENT, facts.agent().to_owned()),
        (header::ACCEPT_LANGUAGE, text(&facts.language)),
        (header::REFERER, text(&facts.referrer)),
    ];
    for (name, value) in headers {
        // Texts of visits have no control characters, which is all that no header can have.
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes())
            && !value.is_empty()
        {
            head.headers.insert(name, value);
        }
    }
    request
}

/// The target of the request, with the query in the form in which browsers send it.
fn uri(slug: &str, query: Option<&VisitQuery>) -> Uri {
    let path = format!("/{slug}");
    let with_query = || {
        let mut url = Url::parse("http://localhost/").ok()?;
        url.set_query(query.map(VisitQuery::as_str).filter(|query| !query.is_empty()));
        Uri::try_from(format!("{path}?{}", url.query()?)).ok()
    };
    // A slug is a path, and what browsers send is a query.
    with_query().or_else(|| Uri::try_from(path.as_str()).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use actix_http::HttpMessage as _;
    use signpost_port_contracts::samples;

    use super::*;

    fn system() -> SystemDomain {
        SystemDomain::new("https://go.example.com", vec![samples::hostname("old.example.com")]).unwrap()
    }

    #[test]
    fn d136_a_url_names_the_address_that_browsers_ask_for() {
        let opened = |url: &str| opened(&VisitedUrl::parse(url).unwrap(), &system());
        let address = |url: &str| opened(url).map(|opened| opened.address);
        let on_system = samples::on_system("sale").address();
        for url in [
            "https://go.example.com/sale",
            "http://go.example.com/sale/",
            "HTTPS://GO.EXAMPLE.COM:8443/sale#top",
            "https://old.example.com./s%61le",
            "https://user:secret@go.example.com/sale",
            "https://go.example.com/./x/../sale).",
        ] {
            assert_eq!(address(url), on_system, "{url}");
        }
        let custom = |slug| samples::on_custom("shop.example.net", slug).address();
        assert_eq!(address("https://shop.example.net"), custom(None));
        assert_eq!(address("https://shop.example.net/a?x"), custom(Some("a")));
        let query = opened("https://go.example.com/sale?a=ü b").unwrap().query.unwrap();
        assert_eq!(query.as_str(), "a=%C3%BC%20b");
        assert_eq!(opened("https://go.example.com/sale?").unwrap().query, None);
    }

    #[test]
    fn d136_no_link_is_at_other_urls() {
        for url in [
            "https://",
            "https://[::1/sale",
            "https://go_example/sale",
            "https://go.example.com/",
            "https://go.example.com?x",
            "https://old.example.com/",
            "https://go.example.com/sale/qr.svg",
            "https://go.example.com/sale/w/wgt_00000000000000000000000000000001",
            "https://go.example.com/a/b",
            "https://go.example.com/robots.txt",
            "https://go.example.com/%00",
            "https://go.example.com:99999/sale",
        ] {
            assert_eq!(opened(&VisitedUrl::parse(url).unwrap(), &system()), None, "{url}");
        }
    }

    #[test]
    fn d136_a_request_has_what_is_given() {
        let facts = VisitFacts {
            user_agent: VisitHeader::parse("").ok(),
            referrer: VisitHeader::parse("https://bücher.example/").ok(),
            query: VisitQuery::parse("?a=\u{1F600} <b>\"'#`{|}\\").ok(),
            ..VisitFacts::default()
        };
        let request = super::request(Slug::parse("sale").ok().as_ref(), &facts);
        assert_eq!((request.method(), request.uri().path()), (&Method::GET, "/sale"));
        assert_eq!(request.uri().query(), Some("a=%F0%9F%98%80%20%3Cb%3E%22%27%23`{|}\\"));
        assert_eq!(request.headers().get(header::USER_AGENT), None, "an empty agent is not sent");
        assert_eq!(
            request.headers().get(header::REFERER).unwrap().as_bytes(),
            "https://bücher.example/".as_bytes()
        );
        let usual = super::request(None, &VisitFacts::default());
        assert_eq!((usual.uri().path(), usual.uri().query()), ("/", None));
        assert_eq!(usual.headers().get(header::USER_AGENT).unwrap(), VisitFacts::USUAL_AGENT);
        assert_eq!(usual.headers().len(), 1);
    }

    #[test]
    fn d136_the_longest_query_is_sent_whole() {
        let query = VisitQuery::parse(&"\u{1F600}".repeat(VisitQuery::MAX_CHARS)).unwrap();
        let request = super::request(None, &VisitFacts { query: Some(query), ..VisitFacts::default() });
        assert_eq!(request.uri().query().unwrap().len(), 12 * VisitQuery::MAX_CHARS);
    }
}

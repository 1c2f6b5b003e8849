//! The hosts of pictures that a landing page may load: only those that it names.

use std::collections::BTreeSet;
use std::fmt::Write;

use signpost_domain::WebUrl;

/// The hosts of a page's pictures, as source expressions of a content security policy.
#[derive(Debug, Default)]
pub(crate) struct ImageSources {
    hosts: BTreeSet<String>,
    has_drawn_icon: bool,
}

impl ImageSources {
    /// Limit of all hosts in the header, in bytes. Proxies refuse answers whose headers exceed 4 to 8 KiB.
    const MAX_HEADER_BYTES: usize = 2_048;

    /// Allows the picture at `url`, and returns the address for its `src`. `None` if no policy can name its
    /// host, such as an IPv6 address: the page then omits the picture.
    pub(crate) fn allow(&mut self, url: &WebUrl) -> Option<String> {
        let target = url.as_target();
        let is_host_character = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        if !target.host().bytes().all(is_host_character) {
            return None;
        }
        let mut source = format!("{}://{}", target.scheme().as_str(), target.host());
        if let Some(port) = target.port() {
            // Writing to a `String` cannot fail.
            let _ = write!(source, ":{port}");
        }
        self.hosts.insert(source);
        Some(target.location())
    }

    /// Allows an icon embedded in the page.
    pub(crate) const fn allow_drawn_icon(&mut self) {
        self.has_drawn_icon = true;
    }

    /// The sources for the header.
    pub(crate) fn in_header(&self) -> String {
        if self.fit_header() { self.all() } else { self.with_data("http: https:") }
    }

    /// The sources for a `meta` element, if a header cannot hold them. A browser enforces both policies.
    pub(crate) fn in_page(&self) -> Option<String> {
        (!self.fit_header()).then(|| format!("img-src {}", self.all()))
    }

    fn fit_header(&self) -> bool {
        self.hosts.iter().map(|host| host.len() + 1).sum::<usize>() <= Self::MAX_HEADER_BYTES
    }

    fn all(&self) -> String {
        let hosts: Vec<&str> = self.hosts.iter().map(String::as_str).collect();
        self.with_data(&hosts.join(" "))
    }

    fn with_data(&self, sources: &str) -> String {
        match (self.has_drawn_icon, sources) {
            (false, sources) => sources.to_owned(),
            (true, "") => "data:".to_owned(),
            (true, sources) => format!("data: {sources}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(urls: &[&str]) -> ImageSources {
        let mut sources = ImageSources::default();
        for url in urls {
            sources.allow(&WebUrl::from_stored((*url).to_owned()).unwrap());
        }
        sources
    }

    #[test]
    fn r23_policy_allows_only_hosts_that_the_page_names() {
        let sources = of(&[
            "https://img.example.com/a.png",
            "https://img.example.com/b.png?x=;script-src%20*",
            "http://plain.example.com:8080/c.png",
            "https://Bücher.example/d.png",
        ]);
        let expected = "http://plain.example.com:8080 https://img.example.com https://xn--bcher-kva.example";
        assert_eq!(sources.in_header(), expected);
        assert_eq!(sources.in_page(), None);
        assert_eq!(of(&[]).in_header(), "");
    }

    #[test]
    fn picture_whose_host_no_policy_can_name_is_omitted() {
        let mut sources = ImageSources::default();
        let url = WebUrl::from_stored("https://[2606:4700::1111]/a.png".to_owned()).unwrap();
        assert_eq!(sources.allow(&url), None);
        sources.allow_drawn_icon();
        assert_eq!(sources.in_header(), "data:");
    }

    #[test]
    fn r23_hosts_that_exceed_the_header_are_in_a_meta_element() {
        let urls: Vec<String> =
            (0..100).map(|n| format!("https://{}{n}.example.com/a", "x".repeat(40))).collect();
        let sources = of(&urls.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(sources.in_header(), "http: https:");
        let in_page = sources.in_page().unwrap();
        assert_eq!(in_page.matches("https://").count(), 100);
        assert!(in_page.starts_with("img-src https://"));
    }
}

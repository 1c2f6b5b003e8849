//! The social networks that have an icon. The icons are Signpost's own simple drawings, not the networks'
//! logos.

use crate::network_names::{is_nameless, name_in, plain};

/// A network with an icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Network {
    /// The name that visitors see.
    pub(crate) name: &'static str,
    /// Other accepted names, in lower case, letters and digits only.
    aliases: &'static [&'static str],
    /// The content of an SVG of 24 by 24, drawn in lines.
    pub(crate) icon: &'static str,
}

const fn network(name: &'static str, aliases: &'static [&'static str], icon: &'static str) -> Network {
    Network { name, aliases, icon }
}

const GLOBE: &str =
    r#"<circle cx="12" cy="12" r="9"/><path d="M3 12h18M12 3c4.5 5 4.5 13 0 18-4.5-5-4.5-13 0-18z"/>"#;
const BRANCH: &str = r#"<circle cx="7" cy="5.5" r="2"/><circle cx="7" cy="18.5" r="2"/><circle cx="17" cy="8" r="2"/><path d="M7 7.500v9M17 10c0 4-5 3-10 6"/>"#;

/// An envelope.
pub(crate) const LETTER: &str =
    r#"<rect x="3" y="5" width="18" height="14" rx="3"/><path d="m4 7 8 6 8-6"/>"#;
const MICROPHONE: &str =
    r#"<rect x="9" y="3" width="6" height="11" rx="3"/><path d="M5 11a7 7 0 0 0 14 0M12 18v3"/>"#;

/// A receiver in a bubble of speech.
pub(crate) const WHATSAPP: &str = r#"<path d="m3.5 20.5 1.300-4.500A8.5 8.5 0 1 1 8 19.200zM9 8.500c-.5 3.5 3 7 6.5 6.500l.5-1.700-2.200-1-1 .9c-1-.4-1.700-1-2-2l.9-1-1-2.200z"/>"#;

const NETWORKS: [Network; 28] = [
    network(
        "Instagram",
        &["ig", "insta"],
        r#"<rect x="3.5" y="3.5" width="17" height="17" rx="5"/><circle cx="12" cy="12" r="4"/><path d="M17 7h.01"/>"#,
    ),
    network(
        "YouTube",
        &["yt"],
        r#"<rect x="2.5" y="5" width="19" height="14" rx="4"/><path d="m10 9 5 3-5 3z"/>"#,
    ),
    network("TikTok", &[], r#"<path d="M13.5 3.500v12a4 4 0 1 1-4-4M13.5 3.500c.3 3 2.200 5 5 5.300"/>"#),
    network("X", &["twitter", "xtwitter", "twitterx"], r#"<path d="m5 4.5 14 15M19 4.500l-14 15"/>"#),
    network("Facebook", &["fb", "meta"], r#"<path d="M16 4h-1.500A3.5 3.5 0 0 0 11 7.500V21M7.5 12H15"/>"#),
    network(
        "LinkedIn",
        &[],
        r#"<path d="M5 10.500V19M5 5.500h.01M10 19v-8.500M10 14.500c0-2.5 1.700-4 4-4s4 1.5 4 4V19"/>"#,
    ),
    network(
        "Threads",
        &[],
        r#"<circle cx="12" cy="12" r="3.5"/><path d="M15.5 8.500V13c0 3 5 2.5 5-1A8.5 8.5 0 1 0 17 18.900"/>"#,
    ),
    network(
        "Bluesky",
        &["bsky"],
        r#"<path d="M12 11c-1.5-3-5-6-8-7-1 3-.5 8 4 8.5-4 1-3.5 5 0 6.5 2 .5 3.5-2 4-4 .5 2 2 4.5 4 4 3.5-1.5 4-5.5 0-6.5 4.5-.5 5-5.5 4-8.5-3 1-6.5 4-8 7z"/>"#,
    ),
    network(
        "Mastodon",
        &["fediverse"],
        r#"<path d="M15 20c-4 1-9 0-10.5-3.500S3 4 12 4s10 7 8 10.500S12 18 8 16M8 13V9.500c0-2.5 4-2.5 4 0V12M12 9.500c0-2.5 4-2.5 4 0V13"/>"#,
    ),
    network("WhatsApp", &["wa"], WHATSAPP),
    network("Telegram", &["tg"], r#"<path d="M21 4 3 11.500l6 2.200L11.5 20l3-4 4 3zM9 13.700 21 4"/>"#),
    network(
        "Discord",
        &[],
        r#"<path d="M8.5 6C5.5 6.5 4 8 3 15c1 2 3 3 5 3l1.5-2.500h5L16 18c2 0 4-1 5-3-1-7-2.5-8.5-5.5-9l-1 1.500h-5zM9 11.500h.01M15 11.500h.01"/>"#,
    ),
    network("Twitch", &[], r#"<path d="M6 3.500h14V13l-4.5 4.500H12L8.5 21v-3.500H4V7zM11 8v4M15.5 8v4"/>"#),
    network(
        "Snapchat",
        &["snap"],
        r#"<path d="M12 3.500c-3 0-4.5 2-4.5 4.500v3L5 12c.3 1.300 2 1.5 2 2.5-.5 1.700-2 2.5-3.5 3 1.5 1 3 .5 3.5 1.5 2-.3 3 1.5 5 1.500s3-1.800 5-1.500c.5-1 2-.5 3.5-1.5-1.5-.5-3-1.300-3.5-3 0-1 1.700-1.200 2-2.500l-2.5-1V8c0-2.5-1.5-4.5-4.5-4.500z"/>"#,
    ),
    network(
        "Pinterest",
        &[],
        r#"<path d="m9.5 21 2.800-11M8 13.500C5.5 9 8 4.5 12.300 4.500S19 8 17.5 11.800s-5.300 4-6 1.700"/>"#,
    ),
    network(
        "Reddit",
        &[],
        r#"<ellipse cx="12" cy="14.5" rx="8.5" ry="6"/><path d="M9 13.500h.01M15 13.500h.01M9 17c2 1.200 4 1.200 6 0M12 8.500l1-5 4 1"/>"#,
    ),
    network(
        "Spotify",
        &[],
        r#"<circle cx="12" cy="12" r="9"/><path d="M7.5 9.500c3-1 6.5-.6 9.5.8M8 12.900c2.5-.8 5.5-.5 8 .8M8.5 16c2-.6 4-.4 6 .6"/>"#,
    ),
    network(
        "SoundCloud",
        &[],
        r#"<path d="M11 17.500V7.500c4-2 7 .5 7 4 4.5 0 4.5 6 0 6zM8 17.500v-7M5 17.500V13M2 16.500V15"/>"#,
    ),
    network(
        "GitHub",
        &[],
        r#"<path d="M5 4.500c1.400.2 2.700.8 3.800 1.700a11 11 0 0 1 6.400 0c1.100-.9 2.400-1.500 3.800-1.700.6 1.500.5 2.900.2 4 .8 1.100 1.300 2.400 1.300 3.900 0 4.700-3.600 7.100-8.500 7.100s-8.500-2.400-8.500-7.100c0-1.500.5-2.800 1.300-3.900-.3-1.100-.4-2.500.2-4zM9 12.800v1.700M15 12.800v1.700"/>"#,
    ),
    network(
        "GitLab",
        &[],
        r#"<path d="m12 20.500-9-7L6 4l2.700 7h6.600L18 4l3 9.500zM8.700 11l3.300 9.500 3.300-9.500M3 13.500 8.700 11M21 13.500 15.300 11"/>"#,
    ),
    network("Codeberg", &[], BRANCH),
    network("Website", &["web", "homepage", "site", "blog"], GLOBE),
    network("Podcast", &[], MICROPHONE),
    network("Apple Podcasts", &["applepodcasts"], MICROPHONE),
    network("RSS", &["feed"], r#"<path d="M5 19h.01M5 12a7 7 0 0 1 7 7M5 5a14 14 0 0 1 14 14"/>"#),
    network("Newsletter", &[], LETTER),
    network("Substack", &[], LETTER),
    network("E-mail", &["email", "mail"], LETTER),
];

/// Finds the network that people call `name`, and its index, which identifies its icon.
fn find(name: &str) -> Option<(usize, Network)> {
    let plain = plain(name);
    NETWORKS.into_iter().enumerate().find(|(_, network)| {
        network.name.eq_ignore_ascii_case(&plain) || network.aliases.contains(&plain.as_str())
    })
}

/// The network of an account: the one that its owner named, or else the one at this host.
pub(crate) fn network_of(name: &str, host: &str) -> Option<(usize, Network)> {
    find(name).or_else(|| is_nameless(name).then(|| find(name_in(host)?)).flatten())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn networks_are_found_by_their_common_names() {
        for (name, expected) in [
            ("instagram", "Instagram"),
            ("You Tube", "YouTube"),
            ("X (Twitter)", "X"),
            ("x", "X"),
            ("TWITTER", "X"),
            ("git-hub", "GitHub"),
        ] {
            assert_eq!(find(name).map(|(_, network)| network.name), Some(expected), "{name}");
        }
        assert_eq!(find("Vkontakte"), None);
        assert_eq!(find("!!"), None);
    }

    #[test]
    fn d35_github_and_gitlab_have_icons_of_their_own() {
        let icon = |name: &str| find(name).unwrap().1.icon;
        let others = NETWORKS.iter().filter(|network| !["GitHub", "GitLab"].contains(&network.name));
        let others: Vec<&str> = others.map(|network| network.icon).collect();
        assert_ne!(icon("github"), icon("gitlab"));
        assert!(!others.contains(&icon("github")) && !others.contains(&icon("gitlab")));
    }

    #[test]
    fn d35_networks_that_share_an_icon_keep_their_names() {
        for (name, expected) in [
            ("codeberg", "Codeberg"),
            ("substack", "Substack"),
            ("apple-podcasts", "Apple Podcasts"),
            ("mail", "E-mail"),
        ] {
            assert_eq!(find(name).map(|(_, network)| network.name), Some(expected), "{name}");
        }
    }

    #[test]
    fn d35_an_account_without_a_network_takes_that_of_its_address() {
        let name = |network, host| network_of(network, host).map(|(_, network)| network.name);
        assert_eq!(name("other", "www.github.com"), Some("GitHub"));
        assert_eq!(name("other", "ada.github.io"), None);
        assert_eq!(name("forum", "github.com"), None);
        assert_eq!(name("gitlab", "github.com"), Some("GitLab"));
    }

    #[test]
    fn each_name_means_one_network() {
        let names: Vec<String> = NETWORKS
            .iter()
            .flat_map(|network| {
                network.aliases.iter().map(|alias| (*alias).to_owned()).chain([network.name.to_lowercase()])
            })
            .collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }
}

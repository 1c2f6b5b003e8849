//! The names of networks without an icon, as the networks write them.

use std::borrow::Cow;

/// Names whose spelling does not follow from the common rule: a capital at the start of each word. In brackets, other
/// common names of the same network, in lower case, letters and digits only.
const NAMES: &[(&str, &[&str])] = &[
    ("500px", &[]),
    ("AliExpress", &[]),
    ("AngelList", &["wellfound"]),
    ("ArtStation", &[]),
    ("BeReal", &[]),
    ("bilibili", &[]),
    ("BookBub", &[]),
    ("Buy Me a Coffee", &["bmc"]),
    ("Cal.com", &["cal"]),
    ("Cash App", &[]),
    ("CodePen", &[]),
    ("DeviantArt", &[]),
    ("DLive", &[]),
    ("eBay", &[]),
    ("FaceTime", &[]),
    ("GitBook", &[]),
    ("GoFundMe", &[]),
    ("Google Maps", &["gmaps"]),
    ("Google Play", &[]),
    ("Google Scholar", &["scholar"]),
    ("HackerRank", &[]),
    ("iMessage", &[]),
    ("IMDb", &[]),
    ("itch.io", &["itch"]),
    ("KakaoTalk", &["kakao"]),
    ("Ko-fi", &[]),
    ("Last.fm", &[]),
    ("LeetCode", &[]),
    ("LINE", &[]),
    ("LiveJournal", &["lj"]),
    ("MeWe", &[]),
    ("MySpace", &[]),
    ("npm", &["npmjs"]),
    ("OK", &["odnoklassniki"]),
    ("OnlyFans", &[]),
    ("OpenStreetMap", &["osm"]),
    ("ORCID", &[]),
    ("PayPal", &[]),
    ("PeerTube", &[]),
    ("PlayStation", &["psn"]),
    ("Product Hunt", &[]),
    ("PyPI", &[]),
    ("QQ", &[]),
    ("RedNote", &["xiaohongshu", "xhs"]),
    ("ResearchGate", &[]),
    ("ReverbNation", &[]),
    ("RuTube", &[]),
    ("SlideShare", &[]),
    ("SourceForge", &[]),
    ("Stack Overflow", &[]),
    ("StackExchange", &[]),
    ("StoryGraph", &["thestorygraph"]),
    ("TED", &[]),
    ("TikTok Shop", &[]),
    ("TripAdvisor", &[]),
    ("Truth Social", &["truth"]),
    ("VK", &["vkontakte", "vkcom"]),
    ("VSCO", &[]),
    ("WeChat", &["weixin"]),
    ("WordPress", &["wp"]),
    ("XING", &[]),
    ("YouTube Music", &["ytmusic"]),
];

/// Values that name no network.
const NAMELESS: &[&str] = &[
    "", "custom", "default", "generic", "link", "links", "none", "other", "others", "profile", "social",
    "unknown", "url",
];

/// Letters and digits in lower case, by which names are compared.
pub(crate) fn plain(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a widget's `network` names no network, so that only its address says where it leads.
pub(crate) fn is_nameless(network: &str) -> bool {
    NAMELESS.contains(&plain(network).as_str())
}

/// The second-level name of a host that has no further labels: `github` of `www.github.com`.
pub(crate) fn name_in(host: &str) -> Option<&str> {
    let (name, suffix) = without_www(host).split_once('.')?;
    (!suffix.contains('.')).then_some(name)
}

fn without_www(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

/// The name of a network that has no icon, at an address on `host`.
pub(crate) fn name_of<'a>(network: &'a str, host: &'a str) -> Cow<'a, str> {
    if is_nameless(network) {
        return name_in(host).and_then(known).unwrap_or(without_www(host)).into();
    }
    if let Some(name) = known(network) {
        return name.into();
    }
    let is_written_with_care = network.contains('.') || network.chars().any(char::is_uppercase);
    if is_written_with_care {
        return network.into();
    }
    let words = network.split(['-', '_', ' ']).filter(|word| !word.is_empty());
    words.map(capitalised).collect::<Vec<_>>().join(" ").into()
}

fn known(name: &str) -> Option<&'static str> {
    let wanted = plain(name);
    NAMES
        .iter()
        .find(|(name, aliases)| plain(name) == wanted || aliases.contains(&wanted.as_str()))
        .map(|(name, _)| *name)
}

fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    let first: String = characters.next().into_iter().flat_map(char::to_uppercase).collect();
    first + characters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d35_networks_without_an_icon_have_proper_names() {
        for (network, host, expected) in [
            ("vk", "vk.com", "VK"),
            ("VKontakte", "vk.com", "VK"),
            ("ko-fi", "ko-fi.com", "Ko-fi"),
            ("stackoverflow", "stackoverflow.com", "Stack Overflow"),
            ("deviantart", "deviantart.com", "DeviantArt"),
            ("BEREAL", "bere.al", "BeReal"),
            ("friendica", "friendica.example", "Friendica"),
            ("pixel_fed", "pixel.example", "Pixel Fed"),
            ("hackerspace-leipzig", "hsl.example", "Hackerspace Leipzig"),
            ("myOwnNet", "own.example", "myOwnNet"),
            ("mastodon.social", "mastodon.social", "mastodon.social"),
            ("éclair", "eclair.example", "Éclair"),
            ("微博", "weibo.com", "微博"),
            ("other", "www.livejournal.com", "LiveJournal"),
            ("Other", "www.some-forum.example", "some-forum.example"),
            ("!!", "www.some-forum.example", "some-forum.example"),
            ("custom", "ada.livejournal.com", "ada.livejournal.com"),
        ] {
            assert_eq!(name_of(network, host), expected, "{network}");
        }
    }

    #[test]
    fn each_name_means_one_network() {
        let mut all: Vec<String> = NAMES
            .iter()
            .flat_map(|(name, aliases)| aliases.iter().map(|alias| (*alias).to_owned()).chain([plain(name)]))
            .collect();
        all.sort();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}

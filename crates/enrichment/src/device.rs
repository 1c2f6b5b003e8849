//! The kind of device, by words in its user agent.
//!
//! uap-core's device rules name brands and models, not kinds. In practice the words below tell the kind:
//! makers of televisions name them, and since 2011 Android browsers say `Mobile` only on phones. Two cases
//! look like others. An iPad that requests the desktop site looks like a Mac, and an Android tablet that does
//! so looks like Linux.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Televisions, and their boxes and sticks. Chromecast is `CrKey`.
#[rustfmt::skip]
const TELEVISIONS: &[&str] = &[
    "smarttv", "smart-tv", "smart_tv", "smart tv", "googletv", "google tv", "android tv", "androidtv",
    "appletv", "apple tv", "tvos", "hbbtv", "netcast", "web0s", "webos tv", "webos.tv", "sec_tv", "bravia",
    "roku", "crkey", "viera", "nettv", "philipstv", "opera tv", "inettvbrowser", "dtv", "mibox", "mitv",
    "vidaa", "aquos-tv", "aquosbrowser", "shield android tv", "tv safari", "firetv", "fire tv", "ce-html",
    "chromecast", "tizen tv", "boxee", "pov_tv", "kylo",
];

/// Other devices: consoles, glasses, cars, watches.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "playstation", "xbox", "nintendo", "oculusbrowser", "; quest", "qtcarbrowser", "tesla/", "watchos",
    "apple watch", "wear os",
];

/// Tablets, including those whose browsers say `Mobile` beside `Android`.
#[rustfmt::skip]
const TABLETS: &[&str] = &[
    "ipad", "playbook", "kindle", "tablet;", "tablet ", "; tablet", "(tablet", "nexus 7", "nexus 9",
    "nexus 10", "pixel c", "pixel tablet", "mediapad", "matepad", "xiaomi pad", "redmi pad", "lenovo tb",
    "; tb-", "sm-t", "sm-x", "gt-p", "xoom", "transformer", "galaxy tab", "touchpad", "; pad", "onepluspad",
    "honor pad",
];

/// Phones, and browsers that exist only on phones.
#[rustfmt::skip]
const PHONES: &[&str] = &[
    "iphone", "ipod", "windows phone", "iemobile", "blackberry", "bb10", "opera mini", "opera mobi",
    "symbian", "symbos", "series60", "series40", "kaios", "nokia", "j2me", "midp", "ucweb", "dalvik",
    "mobile", "phone", "webos/", "palmos", "android", "harmonyos", "sailfish", "bada/", "maemo", "meego",
    "docomo", "windows ce", "up.browser",
];

/// Computers.
#[rustfmt::skip]
const COMPUTERS: &[&str] = &[
    "windows", "macintosh", "mac os x", "mac_powerpc", "x11", "cros ", "linux", "ubuntu", "freebsd",
    "openbsd", "netbsd", "sunos", "haiku", "os/2", "amiga",
];

/// Words that decide only in combination, and their bits. `; aft` with a letter is a model of Fire TV.
const COMBINED: [(&str, u32); 10] = [
    ("tizen", TIZEN),
    ("tv", TV),
    ("android", ANDROID),
    ("; aft", FIRE_TV),
    ("windows nt", WINDOWS),
    ("mozilla/", BROWSER),
    ("opera/", BROWSER),
    ("mobi", SMALL),
    ("phone", SMALL),
    ("opera mini", SMALL),
];

/// All words in one automaton, which reads an agent once, however many words there are.
struct Words {
    automaton: AhoCorasick,
    /// The bit of each pattern.
    groups: Vec<u32>,
}

/// The bits of the lists; those of [`COMBINED`] follow.
const OTHER: u32 = 1;
const TELEVISION: u32 = 1 << 1;
const TABLET: u32 = 1 << 2;
const PHONE: u32 = 1 << 3;
const COMPUTER: u32 = 1 << 4;
const TIZEN: u32 = 1 << 5;
const TV: u32 = 1 << 6;
const ANDROID: u32 = 1 << 7;
const FIRE_TV: u32 = 1 << 8;
const WINDOWS: u32 = 1 << 9;
/// The prefix of browsers' agents, including those within apps.
const BROWSER: u32 = 1 << 10;
/// Words that Android browsers omit on tablets.
const SMALL: u32 = 1 << 11;

impl Words {
    fn new() -> Option<Self> {
        let lists: [(&[&str], u32); 5] = [
            (OTHERS, OTHER),
            (TELEVISIONS, TELEVISION),
            (TABLETS, TABLET),
            (PHONES, PHONE),
            (COMPUTERS, COMPUTER),
        ];
        let words = lists
            .iter()
            .flat_map(|(words, group)| words.iter().map(move |word| (*word, *group)))
            .chain(COMBINED);
        let (words, groups): (Vec<_>, Vec<_>) = words.unzip();
        let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()?;
        Some(Self { automaton, groups })
    }

    /// The groups with a word in `agent`.
    fn groups_in(&self, agent: &str) -> u32 {
        self.automaton
            .find_overlapping_iter(agent)
            .filter_map(|found| self.groups.get(found.pattern().as_usize()))
            .fold(0, |groups, group| groups | group)
    }
}

/// The kind of device that `agent` names; `os` is the family of its system. Empty for an empty agent.
pub(crate) fn device(agent: &str, os: &str) -> &'static str {
    // The words are built in, and few enough for any automaton.
    static WORDS: LazyLock<Option<Words>> = LazyLock::new(Words::new);
    if agent.trim().is_empty() {
        return "";
    }
    let found = WORDS.as_ref().map_or(0, |words| words.groups_in(agent));
    let has = |groups: u32| found & groups == groups;
    if has(OTHER) {
        "other"
    } else if has(TELEVISION) || has(TIZEN | TV) || has(ANDROID | FIRE_TV) || os == "ATV OS X" {
        "tv"
    } else if has(WINDOWS) {
        // `Tablet PC` is a part of the system here, which computers have too.
        "desktop"
    } else if has(TABLET) || (has(ANDROID | BROWSER) && !has(SMALL)) {
        "tablet"
    } else if has(PHONE) || os == "iOS" || os == "Android" {
        "mobile"
    } else if has(COMPUTER) || os == "Mac OS X" {
        "desktop"
    } else {
        "other"
    }
}

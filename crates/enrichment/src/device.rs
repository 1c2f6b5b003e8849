//! The kind of device, by words in its user agent.
//!
//! uap-core's device rules name brands and models, not kinds, and take most of its memory. The words below say the kind in
//! practice: makers of televisions name them, and since 2011 Android's browsers say `Mobile` on phones only.
//! What cannot be told: an iPad that asks for the desktop site calls itself a Mac, and an Android tablet that does so Linux.

/// Televisions, and the boxes and sticks for them. Chromecast is `CrKey`, Fire TV is `AFT` and two letters at least.
const TELEVISIONS: &[&str] = &[
    "smarttv",
    "smart-tv",
    "smart_tv",
    "smart tv",
    "googletv",
    "google tv",
    "android tv",
    "androidtv",
    "appletv",
    "apple tv",
    "tvos",
    "hbbtv",
    "netcast",
    "web0s",
    "webos tv",
    "webos.tv",
    "sec_tv",
    "bravia",
    "roku",
    "crkey",
    "viera",
    "nettv",
    "philipstv",
    "opera tv",
    "inettvbrowser",
    "dtv",
    "mibox",
    "mitv",
    "vidaa",
    "aquos-tv",
    "aquosbrowser",
    "shield android tv",
    "tv safari",
    "firetv",
    "fire tv",
    "ce-html",
    "chromecast",
    "tizen tv",
    "boxee",
    "pov_tv",
    "kylo",
];

/// Devices of people that are none of the kinds: consoles, glasses, cars, watches.
const OTHERS: &[&str] = &[
    "playstation",
    "xbox",
    "nintendo",
    "oculusbrowser",
    "; quest",
    "qtcarbrowser",
    "tesla/",
    "watchos",
    "apple watch",
    "wear os",
];

/// Tablets that say so, and those that say `Mobile` beside `Android` although they are none.
const TABLETS: &[&str] = &[
    "ipad",
    "playbook",
    "kindle",
    "tablet;",
    "tablet ",
    "; tablet",
    "(tablet",
    "nexus 7",
    "nexus 9",
    "nexus 10",
    "pixel c",
    "pixel tablet",
    "mediapad",
    "matepad",
    "xiaomi pad",
    "redmi pad",
    "lenovo tb",
    "; tb-",
    "sm-t",
    "sm-x",
    "gt-p",
    "xoom",
    "transformer",
    "galaxy tab",
    "touchpad",
    "; pad",
    "onepluspad",
    "honor pad",
];

/// Phones, and browsers that only phones have.
const PHONES: &[&str] = &[
    "iphone",
    "ipod",
    "windows phone",
    "iemobile",
    "blackberry",
    "bb10",
    "opera mini",
    "opera mobi",
    "symbian",
    "symbos",
    "series60",
    "series40",
    "kaios",
    "nokia",
    "j2me",
    "midp",
    "ucweb",
    "dalvik",
    "mobile",
    "phone",
    "webos/",
    "palmos",
    "android",
    "harmonyos",
    "sailfish",
    "bada/",
    "maemo",
    "meego",
    "docomo",
    "windows ce",
    "up.browser",
];

/// Computers.
const COMPUTERS: &[&str] = &[
    "windows",
    "macintosh",
    "mac os x",
    "mac_powerpc",
    "x11",
    "cros ",
    "linux",
    "ubuntu",
    "freebsd",
    "openbsd",
    "netbsd",
    "sunos",
    "haiku",
    "os/2",
    "amiga",
];

/// The kind of device that `agent` names, with `os` the family of its system. Empty for an empty agent.
pub(crate) fn device(agent: &str, os: &str) -> &'static str {
    let agent = agent.to_ascii_lowercase();
    if agent.trim().is_empty() {
        return "";
    }
    let has = |words: &[&str]| words.iter().any(|word| agent.contains(word));
    // Windows says `Tablet PC` and Firefox for Android `Tablet`: the first is a system, the second a device.
    let is_windows = agent.contains("windows nt");
    if has(OTHERS) {
        "other"
    } else if has(TELEVISIONS)
        || (has(&["tizen"]) && has(&["tv"]))
        || (has(&["android"]) && has(&["; aft"]))
        || os == "ATV OS X"
    {
        "tv"
    } else if is_windows {
        "desktop"
    } else if has(TABLETS) || (agent.contains("android") && is_large_android(&agent)) {
        "tablet"
    } else if has(PHONES) || os == "iOS" || os == "Android" {
        "mobile"
    } else if has(COMPUTERS) || os == "Mac OS X" {
        "desktop"
    } else {
        "other"
    }
}

/// Whether a browser for Android leaves out `Mobile`, as it does on tablets. What is no browser does not say it either way.
fn is_large_android(agent: &str) -> bool {
    let is_browser = agent.starts_with("mozilla/") || agent.starts_with("opera/");
    is_browser && !["mobi", "phone", "opera mini"].iter().any(|word| agent.contains(word))
}

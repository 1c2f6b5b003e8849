//! The documented code of each pixel vendor: the script, the picture for browsers without scripts, and the
//! hosts of both (D57).
//!
//! The calls are those of the vendors' own snippets: the queue that collects calls until the script has
//! loaded, `init`, and the page view event. The script is a separate element, so the page knows when it has
//! loaded. Two codes of one vendor share its queue and its script where the vendor allows it.

use signpost_domain::PixelType;

/// The parts of a vendor's snippet. `{code}` is replaced with the pixel's code.
#[derive(Debug)]
pub(crate) struct Vendor {
    /// Runs once, before the scripts.
    pub(crate) queue: &'static str,
    /// Runs for each code.
    pub(crate) each: &'static str,
    /// Runs once, after that.
    pub(crate) fire: &'static str,
    /// The address of the script.
    pub(crate) script: &'static str,
    /// Whether each code has its own script; otherwise the first code's script serves all.
    pub(crate) script_each: bool,
    /// The picture that fires without scripts, if the vendor has one.
    pub(crate) picture: Option<&'static str>,
    /// The frame that fires without scripts, if the vendor has one.
    pub(crate) frame: Option<&'static str>,
    /// Hosts of scripts that the vendor's script loads.
    pub(crate) scripts: &'static [&'static str],
    /// Hosts that the script contacts by pictures and requests.
    pub(crate) beacons: &'static [&'static str],
    /// Hosts of frames.
    pub(crate) frames: &'static [&'static str],
}

/// A queue that stores calls as `arguments` until the script drains it. Several vendors use this form.
macro_rules! queue {
    ($name:literal, $drain:literal, $held:literal) => {
        concat!(
            "w.",
            $name,
            "=function(){var q=w.",
            $name,
            ";q.",
            $drain,
            "?q.",
            $drain,
            ".apply(q,arguments):q.",
            $held,
            ".push(arguments)};w.",
            $name,
            ".",
            $held,
            "=[];"
        )
    };
}

const GOOGLE_SCRIPTS: &[&str] = &[
    "https://www.googletagmanager.com",
    "https://www.googleadservices.com",
    "https://googleads.g.doubleclick.net",
    "https://pagead2.googlesyndication.com",
];
const GOOGLE_BEACONS: &[&str] = &[
    "https://www.googletagmanager.com",
    "https://*.google-analytics.com",
    "https://*.analytics.google.com",
    "https://analytics.google.com",
    "https://www.google.com",
    "https://google.com",
    "https://www.googleadservices.com",
    "https://pagead2.googlesyndication.com",
    "https://*.g.doubleclick.net",
    "https://ad.doubleclick.net",
];
const GOOGLE_FRAMES: &[&str] =
    &["https://www.googletagmanager.com", "https://td.doubleclick.net", "https://*.fls.doubleclick.net"];

const GOOGLE_TAG: Vendor = Vendor {
    queue: "w.dataLayer=w.dataLayer||[];w.gtag=function(){w.dataLayer.push(arguments)};w.gtag('js',new Date());",
    each: "w.gtag('config','{code}');",
    fire: "",
    script: "https://www.googletagmanager.com/gtag/js?id={code}",
    script_each: false,
    picture: None,
    frame: None,
    scripts: GOOGLE_SCRIPTS,
    beacons: GOOGLE_BEACONS,
    frames: GOOGLE_FRAMES,
};

const GOOGLE_TAG_MANAGER: Vendor = Vendor {
    queue: "w.dataLayer=w.dataLayer||[];w.dataLayer.push({'gtm.start':Date.now(),event:'gtm.js'});",
    each: "",
    fire: "",
    script: "https://www.googletagmanager.com/gtm.js?id={code}",
    script_each: true,
    picture: None,
    frame: Some("https://www.googletagmanager.com/ns.html?id={code}"),
    scripts: GOOGLE_SCRIPTS,
    beacons: GOOGLE_BEACONS,
    frames: GOOGLE_FRAMES,
};

const META: Vendor = Vendor {
    queue: concat!(
        queue!("fbq", "callMethod", "queue"),
        "w._fbq=w.fbq;w.fbq.push=w.fbq;w.fbq.loaded=true;w.fbq.version='2.0';"
    ),
    each: "w.fbq('init','{code}');",
    fire: "w.fbq('track','PageView');",
    script: "https://connect.facebook.net/en_US/fbevents.js",
    script_each: false,
    picture: Some("https://www.facebook.com/tr?id={code}&ev=PageView&noscript=1"),
    frame: None,
    scripts: &["https://connect.facebook.net"],
    beacons: &["https://www.facebook.com", "https://connect.facebook.net"],
    frames: &[],
};

const TIKTOK: Vendor = Vendor {
    queue: "w.TiktokAnalyticsObject='ttq';var t=w.ttq=w.ttq||[];t.methods=['page','track','identify','instances','debug',\
            'on','off','once','ready','alias','group','enableCookie','disableCookie','holdConsent','revokeConsent',\
            'grantConsent'];t.setAndDefer=function(o,m){o[m]=function(){o.push([m].concat([].slice.call(arguments)))}};\
            t.methods.forEach(function(m){t.setAndDefer(t,m)});t.instance=function(i){var e=t._i[i]||[];\
            t.methods.forEach(function(m){t.setAndDefer(e,m)});return e};t._i={};t._t={};t._o={};",
    each: "w.ttq._i['{code}']=[];w.ttq._i['{code}']._u='https://analytics.tiktok.com/i18n/pixel/events.js';\
           w.ttq._t['{code}']=Date.now();w.ttq._o['{code}']={};",
    fire: "w.ttq.page();",
    script: "https://analytics.tiktok.com/i18n/pixel/events.js?sdkid={code}&lib=ttq",
    script_each: true,
    picture: None,
    frame: None,
    scripts: &["https://analytics.tiktok.com"],
    beacons: &["https://analytics.tiktok.com", "https://analytics-ipv6.tiktokw.us"],
    frames: &[],
};

const LINKEDIN: Vendor = Vendor {
    queue: "w._linkedin_data_partner_ids=w._linkedin_data_partner_ids||[];\
            w.lintrk=function(a,b){w.lintrk.q.push([a,b])};w.lintrk.q=[];",
    each: "w._linkedin_partner_id='{code}';w._linkedin_data_partner_ids.push('{code}');",
    fire: "",
    script: "https://snap.licdn.com/li.lms-analytics/insight.min.js",
    script_each: false,
    picture: Some("https://px.ads.linkedin.com/collect/?pid={code}&fmt=gif"),
    frame: None,
    scripts: &["https://snap.licdn.com"],
    beacons: &["https://px.ads.linkedin.com", "https://px4.ads.linkedin.com", "https://www.linkedin.com"],
    frames: &[],
};

const X: Vendor = Vendor {
    queue: concat!(queue!("twq", "exe", "queue"), "w.twq.version='1.1';"),
    each: "w.twq('config','{code}');",
    fire: "",
    script: "https://static.ads-twitter.com/uwt.js",
    script_each: false,
    picture: None,
    frame: None,
    scripts: &["https://static.ads-twitter.com"],
    beacons: &[
        "https://t.co",
        "https://analytics.twitter.com",
        "https://ads-api.twitter.com",
        "https://ads-twitter.com",
        "https://analytics.x.com",
    ],
    frames: &[],
};

const PINTEREST: Vendor = Vendor {
    queue: "w.pintrk=function(){w.pintrk.queue.push([].slice.call(arguments))};w.pintrk.queue=[];w.pintrk.version='3.0';",
    each: "w.pintrk('load','{code}');",
    fire: "w.pintrk('page');",
    script: "https://s.pinimg.com/ct/core.js",
    script_each: false,
    picture: Some("https://ct.pinterest.com/v3/?event=init&tid={code}&noscript=1"),
    frame: None,
    scripts: &["https://s.pinimg.com", "https://ct.pinterest.com"],
    beacons: &["https://ct.pinterest.com"],
    frames: &["https://ct.pinterest.com"],
};

const SNAPCHAT: Vendor = Vendor {
    queue: queue!("snaptr", "handleRequest", "queue"),
    each: "w.snaptr('init','{code}',{});",
    fire: "w.snaptr('track','PAGE_VIEW');",
    script: "https://sc-static.net/scevent.min.js",
    script_each: false,
    picture: None,
    frame: None,
    scripts: &["https://sc-static.net", "https://tr.snapchat.com"],
    beacons: &["https://tr.snapchat.com", "https://tr6.snapchat.com"],
    frames: &["https://tr.snapchat.com"],
};

const REDDIT: Vendor = Vendor {
    queue: queue!("rdt", "sendEvent", "callQueue"),
    each: "w.rdt('init','{code}');",
    fire: "w.rdt('track','PageVisit');",
    script: "https://www.redditstatic.com/ads/pixel.js",
    script_each: false,
    picture: None,
    frame: None,
    scripts: &["https://www.redditstatic.com"],
    beacons: &[
        "https://alb.reddit.com",
        "https://pixel-config.reddit.com",
        "https://conversions-config.reddit.com",
        "https://www.redditstatic.com",
    ],
    frames: &[],
};

/// Its script has no queue. The page creates one for each code after it has loaded.
const MICROSOFT_ADS: Vendor = Vendor {
    queue: "w.uetq=w.uetq||[];w.uets=[];w.uetLoaded=function(){w.uets.forEach(function(i){var o={ti:i,\
            enableAutoSpaTracking:true};o.q=[];(w.uetq=new w.UET(o)).push('pageLoad')})};",
    each: "w.uets.push('{code}');",
    fire: "",
    script: "https://bat.bing.com/bat.js",
    script_each: false,
    picture: Some("https://bat.bing.com/action/0?ti={code}&Ver=2"),
    frame: None,
    scripts: &["https://bat.bing.com"],
    beacons: &["https://bat.bing.com", "https://bat.bing.net"],
    frames: &[],
};

/// The snippet of a vendor.
pub(crate) const fn vendor(pixel_type: PixelType) -> &'static Vendor {
    match pixel_type {
        PixelType::GoogleTag => &GOOGLE_TAG,
        PixelType::GoogleTagManager => &GOOGLE_TAG_MANAGER,
        PixelType::Meta => &META,
        PixelType::Tiktok => &TIKTOK,
        PixelType::Linkedin => &LINKEDIN,
        PixelType::X => &X,
        PixelType::Pinterest => &PINTEREST,
        PixelType::Snapchat => &SNAPCHAT,
        PixelType::Reddit => &REDDIT,
        PixelType::MicrosoftAds => &MICROSOFT_ADS,
    }
}

/// Replaces `{code}` in `text`.
pub(crate) fn with_code(text: &str, code: &str) -> String {
    text.replace("{code}", code)
}

//! The names of known programs.
//!
//! Compiled on 2026-11-22 from facts in these sources:
//!
//! - crawler-user-agents 1.67.0 of 2026-10 (github.com/monperrus/crawler-user-agents, MIT), which lists 1,504 agents. Its
//!   entries for people's software are omitted: in-app browsers (`MetaIAB Facebook`), editors (`Code/1.`), and products whose
//!   names a person's agent may contain (`Fluid`, `Adventurer`, `Charlotte`).
//! - The agents of 2026 in `tests/agents/current.txt`.
//! - isbot 5.2.3 (github.com/omrilotan/isbot, Unlicense), for the idea of common endings.
//! - The pages of Google, Microsoft, Apple, Meta, OpenAI, Anthropic, Slack, Discord and Telegram about their own agents.
//!
//! A name belongs here if the common endings in `patterns.rs` do not match it, or give it another category. A name that
//! many operators will look for in the log also belongs here. Names are in lower case, and the longest match wins.

/// The kind of program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// Acts on its own: search engines, archives, feed readers, monitors, scanners, collectors for AI.
    Bot,
    /// Fetches a link that a person sent, to show a card with its title and a picture (D135).
    Previewer,
    /// Fetches a page or a picture so that people see it elsewhere as it is: pictures of pages in lists of results, and proxies of
    /// pictures in messages and mails.
    Viewer,
    /// An HTTP library or a command-line client.
    Script,
    /// A browser that a program drives.
    Automation,
    /// The agent is empty.
    Empty,
}

/// Where in an agent a name counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// At the start of any word.
    Anywhere,
    /// Only at the very start: elsewhere people's browsers may contain it.
    Start,
}

/// Names with the same category and position.
pub(crate) struct Group {
    pub(crate) category: Category,
    pub(crate) place: Position,
    pub(crate) names: &'static [&'static str],
}

/// Every name.
#[rustfmt::skip]
pub(crate) const NAMES: &[Group] = &[
    Group { category: Category::Previewer, place: Position::Anywhere, names: &[
        // iMessage also sends "Facebot" and "Twitterbot".
        // Pinterest's crawler fills the cards of pins (D135), so it is not in the group of search engines.
        "bitlybot", "bluesky cardyb", "blueskypreview", "chatwork linkpreview", "clickuplinkunfurler", "developers.google.com/+/web/snippet",
        "dingtalkbot-linkservice", "discordbot", "discourse forum onebox", "embedly", "evernoterichlinkbot", "facebookexternalhit", "facebot",
        "flipboardproxy",
        "google-pagerenderer", "groupmebot", "iframely", "january/", "kakaotalk-scrap", "keybasebot", "linkedinbot", "mastodon", "mattermost-bot", "mediumbot",
        "meta-externalfetcher", "meta-externalhit", "notionbot", "odklbot", "opengraph.io",
        "pinterestbot", "redditbot", "rocket.chat", "skypeuripreview", "slackbot",
        "snap url preview", "snapurlpreview", "steamchaturllookup", "summalybot", "synapse", "telegrambot", "twitterbot",
        "viberbot", "vkrobot", "vkshare", "xing bot", "xing-contenttabreceiver", "yahoo link preview", "zoombot",
    ] },
    Group { category: Category::Previewer, place: Position::Start, names: &[
        // The apps themselves open links with agents that contain these names further on.
        "akkoma", "bluesky", "foundkey/", "friendica", "googlemessages", "gotosocial", "iceshrimp", "lemmy", "mbin/", "pleroma", "misskey", "notion/",
        "piefed/", "pinterest/0", "sharkey/", "tumblr", "valve/steam", "viber", "whatsapp",
    ] },
    Group { category: Category::Viewer, place: Position::Anywhere, names: &[
        "bingpreview", "google web preview", "microsoftpreview", "slack-imgproxy",
    ] },
    Group { category: Category::Viewer, place: Position::Start, names: &["fastmailua"] },
    Group { category: Category::Script, place: Position::Anywhere, names: &[
        "aiohttp", "anyevent-http", "apache-httpclient", "commons-httpclient", "go-http-client", "google-http-java-client", "guzzlehttp",
        "http_request2", "httpclient/", "powershell", "httpurlconnection", "indy library", "libcurl", "libwww-perl", "lwp-trivial",
        "lwp::simple", "mechanize", "node-fetch", "node-superagent", "phpcrawl", "pycurl", "python-httpx",
        "python-requests", "python-urllib", "reactornetty", "restsharp", "typhoeus", "unirest", "windowspowershell",
        "winhttprequest", "wp_http", "zend_http_client",
    ] },
    Group { category: Category::Script, place: Position::Start, names: &[
        "ahc/", "akka-http", "android-async-http", "apachebench", "aria2", "asynchttpclient", "axel", "axios", "boto3",
        "botocore", "bun/", "colly", "curb", "curl", "dart/", "deno/", "dio/", "elinks-script", "excon", "faraday", "fasthttp",
        "fetch/", "gentoo-portage", "git/", "got", "grequests", "gvfs", "hackney", "http.rb", "http_get", "http_requester",
        "httpie", "httping", "httpunit", "httpx", "hyper/", "insomnia", "isahc", "jakarta", "java", "jersey", "jetty",
        "k6/", "ktor", "libsoup", "libwww", "lua-resty-http", "luasocket", "mint/", "mojolicious",
        "needle", "node", "netty", "nsurlsession", "okhttp", "oha/", "pcore-http", "pear http", "peco http", "perl", "php/",
        "php-curl-class", "php-soap", "postmanruntime", "puffinhttp", "python", "rapidapi", "reqwest", "rest-client",
        "ruby", "rust", "scrapy", "snoopy", "spring", "superagent", "swift-nio", "symfony", "tornado", "trafilatura",
        "undici", "ureq", "urlgrabber", "urllib", "vegeta", "wget", "wget2", "winhttp", "wrk", "xh/",
    ] },
    Group { category: Category::Automation, place: Position::Anywhere, names: &[
        "agent-novaact", "amazon-bedrock-agentcore", "amazonbuyforme", "browserless", "casperjs", "cypress", "devin/", "ghost inspector",
        "google-agent", "googleagent-mariner", "headlesschrome", "headlessshell", "htmlunit", "jsdom", "manus-user",
        "nightmare", "phantomjs", "playwright", "puppeteer", "selenium", "slimerjs", "splash version", "testcafe",
        "webdriver", "wkhtmltoimage", "wkhtmltopdf", "zombie.js",
    ] },
    Group { category: Category::Bot, place: Position::Anywhere, names: &[
        // Search engines.
        "360spider", "adsbot-google", "ahrefsbot", "amazonbot", "apis-google", "applebot", "aspiegelbot", "baiduspider", "bingbot", "coccocbot",
        "daumoa", "duckduckbot", "duplexweb-google", "duckduckgo-favicons-bot", "exabot", "feedfetcher-google", "gigablast", "google favicon",
        "google-ads-conversions", "google-ads-overview", "google-adwords", "google-certificates-bridge", "google-cloudvertexbot",
        "google-inspectiontool", "google-physicalweb", "google-read-aloud", "google-safety", "google-site-verification",
        "google-structured-data", "google-trust-services", "google-xrawler", "googlebot", "googleassociationservice",
        "googleimageproxy", "googleother", "haosouspider", "ichiro", "mail.ru_bot", "mediapartners-google", "mojeekbot", "msnbot",
        "naverbot", "petalbot", "playstore-google", "qwantify", "seznambot", "slurp", "sogou web spider", "storebot-google",
        "swisscows", "y!j", "yacybot", "yahoo ad monitoring", "yahoocachesystem", "yahoomailproxy", "yandexaccessibilitybot",
        "yandexblogs", "yandexbot", "yandexcalendar", "yandexdirect", "yandexfavicons", "yandeximages", "yandeximageresizer",
        "yandexmarket", "yandexmedia", "yandexmetrika", "yandexmobilebot", "yandexnews", "yandexpagechecker",
        "yandexrenderresourcesbot", "yandexscreenshotbot", "yandexverticals", "yandexvideo", "yandexwebmaster", "yeti/",
        // Collectors for AI.
        "ai2bot", "amzn-user", "anthropic-ai", "bytespider", "ccbot", "chatgpt-user", "claude-searchbot", "claude-user",
        "claude-web", "claudebot", "cohere-ai", "crawl4ai", "deepseekbot", "diffbot", "duckassistbot", "facebookbot",
        "firecrawlagent", "gemini-deep-research", "google-cloudvertex", "google-notebooklm", "gptbot", "imagemind",
        "img2dataset", "meta-externalads", "meta-externalagent", "meta-webindexer", "mistralai-user", "newsai/",
        "oai-searchbot", "omgili", "opencode-smartfetch", "perplexity-user", "perplexitybot", "perplexityuser",
        "semantic-visions", "spawning-ai", "tavilybot", "tiktokspider", "timpibot", "youbot",
        // Search engine optimisation, advertising, market research.
        "a6-indexer", "adbeat.com", "adscanner", "blexbot", "brandverity", "brandwatch", "brokenlinkcheck", "bw/1",
        "centurybot", "dataforseobot", "datanyze", "dataprovider", "dead link checker", "deadlinkchecker", "dotbot",
        "evc-batch", "genieo", "hubspot", "ips-agent", "linkdex", "laserlikebot", "linktiger", "lipperhey", "magpie-crawler",
        "meltwaternews", "mj12bot", "moatbot", "netshelter contentscan", "panscient", "pixalate", "proximic", "rogerbot",
        "rsiteauditor", "outbrain", "scope3", "screaming frog", "semrushbot", "seo4ajax", "seokicks", "seositecheckup", "serpstatbot",
        "siteauditbot", "siteimprove", "sitesucker", "trendsmapresolver", "twingly", "um-fc", "um-ic", "wheregoes",
        "xenu link sleuth", "xml sitemaps generator", "xml-sitemaps",
        // Monitors and measurements.
        "appinsights", "bitsightbot", "blackbox exporter", "blackbox-exporter", "catchpoint", "check_http", "checkhost",
        "checkly", "chrome-lighthouse", "cloudflare-healthchecks", "cookiehubscan", "cookiehubverify", "criticalcss",
        "cron-job.org", "dareboost", "debugbear", "datadog", "datadogsynthetics", "dotcom-monitor", "downnotifier", "easycron", "elastic-heartbeat", "elb-healthchecker", "elmah.io",
        "freshping", "gomezagent", "googlestackdrivermonitoring", "gotsitemonitor", "gtmetrix", "hetrixtools", "hexometer",
        "hydrozen", "jetmon", "kube-probe", "mxtoolbox", "newrelicsynthetics", "nodeping", "oh dear", "page speed insights",
        "panopta", "pingadmin", "pingdom", "pingdompagespeed", "pingdomtms", "prtg network monitor", "ptst", "rackspace monitoring", "rigor)", "ruxitsynthetic",
        "silktide", "site24x7", "solarwinds", "sqwatcher", "statuscake", "sucuri", "testlocally", "thousandeyes",
        "uptime-kuma", "uptime/", "uptimerobot", "uptimia", "uptrends", "watchmouse", "websitepulse", "wedos online",
        "wheresitup", "wpmudev uptime", "wpumbrella", "ylt chrome", "zabbix",
        // Feed readers.
        "blogtrottr", "bloglines", "commafeed", "feedbin", "feedbot", "feedburner", "feeder.co", "feedparser",
        "feedvalidator", "freshrss", "inoreader.com", "magpierss", "miniflux", "monitorss", "newsblur feed", "newsblur page",
        "newsgator", "nextcloud-news", "openrss", "rss-parser", "rssowl", "simplepie", "theoldreader", "tiny tiny rss",
        "universalfeedparser",
        // Archives and copies of sites.
        "archive-it", "archive.org_bot", "heritrix", "httrack", "ia_archiver", "library of congress web archiving",
        "larbin", "linkace", "nutch", "offline explorer", "teleport pro", "webcapture", "webcopier", "webcopy", "webreaper", "webstripper",
        "webzip", "wayback",
        // Scanners.
        "acunetix", "arachni", "burpcollaborator", "censysinspect", "dirbuster", "expanse", "feroxbuster", "fuzz faster u fool",
        "gobuster", "l9explore", "l9tcpid", "leakix", "masscan", "nessus", "netcraft", "netsystemsresearch", "nikto",
        "nmap scripting engine", "nuclei", "odin;", "openvas", "qualys", "riddler", "securityheaders", "shodan", "sqlmap",
        "ssl labs", "unshorten.it", "watchtowr", "wfuzz", "whatweb", "wpscan", "zgrab", "zmeu",
        // The W3C's tools.
        "jigsaw/", "validator.nu", "w3c-checklink", "w3c-mobileok", "w3c_css_validator", "w3c_i18n-checker", "w3c_unicorn",
        "w3c_validator",
        // Academic and other.
        "citoid", "printfriendly", "turnitin", "ugaresearchagent", "web measure",
    ] },
    Group { category: Category::Bot, place: Position::Start, names: &[
        "008/", "amazon cloudfront", "asana/", "bitbucket-webhooks", "cirrusexplorer", "coccoc", "cloudflare", "digg deeper",
        "disqus", "fedilist", "feeder", "fever/", "gatus/", "github-camo", "github-hookshot", "grammarly", "hatena", "ifttt",
        "imgproxy", "instapaper", "integromat", "kagi-fetcher", "ltx71", "make/", 
        "netnewswire", "newspaper/", "openstatus/", "php-imagecache", "pocketparser", "postrank", "salesforce.com",
        "sendgrid", "sentry", "sfdc-callout", "textrazor", "traackr", "trustly", "twilioproxy", "updown.io",
        "wordpress", "workona-favicon", "zapier", "zendesk",
    ] },
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_lower_case_and_unique() {
        let mut seen = HashSet::new();
        for Group { place, names, .. } in NAMES {
            for name in *names {
                assert!(name.len() >= 3 && *name == name.to_ascii_lowercase() && name.is_ascii(), "{name}");
                assert!(name.starts_with(|first: char| first.is_ascii_alphanumeric()), "{name}");
                assert!(seen.insert((*name, *place == Position::Start)), "{name} occurs twice");
            }
        }
    }
}

//! Link previewers, which get the cards of links (D135), and those who do not: browsers, search engines and proxies of pictures.

use std::collections::BTreeSet;

use signpost_enrichment::{MAX_EXAMINED_BYTES, is_previewer};

/// Who shows the card, and the agent that fetches it.
const PREVIEWERS: &[(&str, &str)] = &[
    ("Facebook", "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"),
    ("Facebook", "Facebot/1.0"),
    (
        "Facebook",
        "Mozilla/5.0 (compatible; Meta-ExternalHit/1.1; +http://www.facebook.com/externalhit_uatext.php)",
    ),
    ("X", "Twitterbot/1.0"),
    (
        "iMessage",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 \
         Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0",
    ),
    ("WhatsApp", "WhatsApp/2.25.31.76 A"),
    ("WhatsApp", "WhatsApp/2.23.20.0"),
    ("Signal", "WhatsApp/2"),
    ("Telegram", "TelegramBot (like TwitterBot)"),
    ("Slack", "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"),
    ("Slack", "Slackbot 1.0 (+https://api.slack.com/robots)"),
    ("Discord", "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)"),
    ("LinkedIn", "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)"),
    (
        "Teams",
        "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com",
    ),
    ("Teams", "Mozilla/5.0 (compatible; SkypeUriPreview; +https://www.skype.com)"),
    ("Viber", "Viber"),
    ("Viber", "Viber/13.3.0.5 CFNetwork/978.0.7 Darwin/18.7.0"),
    ("LINE", "facebookexternalhit/1.1;line-poker/1.0"),
    ("KakaoTalk", "facebookexternalhit/1.1; kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/scrap/33984"),
    ("Google Messages", "GoogleMessages"),
    (
        "Google Chat",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/56.0.2924.87 Safari/537.36 \
         Google-PageRenderer Google (+https://developers.google.com/+/web/snippet/)",
    ),
    (
        "Google",
        "Mozilla/5.0 (Windows NT 6.1; rv:6.0) Gecko/20110814 Firefox/6.0 Google \
         (+https://developers.google.com/+/web/snippet/)",
    ),
    ("Snapchat", "Snap URL Preview Service; bot; snapchat; https://developers.snap.com/robots"),
    ("Mastodon", "Mastodon/4.5.0 (http.rb/5.3.1; +https://mastodon.social/)"),
    ("Bluesky", "Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; +mailto:support@bsky.app)"),
    ("Reddit", "Mozilla/5.0 (compatible; redditbot/1.0; +http://www.reddit.com/feedback)"),
    ("VK", "Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)"),
    ("Pinterest", "Mozilla/5.0 (compatible; Pinterestbot/1.0; +http://www.pinterest.com/bot.html)"),
    ("Element", "Synapse/1.141.0 (bot; +https://github.com/element-hq/synapse)"),
    ("Zulip", "Mozilla/5.0 (compatible; ZulipURLPreview/11.4; +https://zulip.example)"),
    (
        "Yahoo Mail",
        "Mozilla/5.0 (compatible; Yahoo Link Preview; https://help.yahoo.com/kb/mail/yahoo-link-preview-SLN23615.html)",
    ),
    ("DingTalk", "DingTalkBot-LinkService/1.0 (+https://open-doc.dingtalk.com/microapp/faquestions/ftpfeu)"),
    ("Atlassian", "Iframely/1.3.1 (+https://iframely.com/docs/about) Atlassian"),
    ("sites with Embedly", "Mozilla/5.0 (compatible; Embedly/0.2; +http://support.embed.ly/)"),
];

/// Programs that get the redirect.
const OTHER_PROGRAMS: &[&str] = &[
    // Search engines.
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.7444.59 Mobile \
     Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Googlebot-Image/1.0",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)",
    "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Safari/605.1.15 \
     (Applebot/0.1; +http://www.apple.com/go/applebot)",
    "Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)",
    "Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)",
    // Viewers: pictures of pages in lists of results.
    "Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b",
    "Mozilla/5.0 (compatible; MicrosoftPreview/2.0; +https://aka.ms/MicrosoftPreview)",
    // And proxies of pictures.
    "Slack-ImgProxy (+https://api.slack.com/robots)",
    "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/118.0.5993.117 Safari/537.36 FastmailUA/1.0",
    // Collectors for AI, libraries, monitors, nothing.
    "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)",
    "curl/8.16.0",
    "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)",
    "",
];

/// Browsers within apps whose previewers have similar names.
const BROWSERS_IN_APPS: &[&str] = &[
    "Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 \
     [FBAN/FBIOS;FBAV/537.0.0.41.98;FBBV/822334455;FBDV/iPhone17,1;FBMD/iPhone;FBSN/iOS;FBSV/26.1;FBSS/3]",
    "Mozilla/5.0 (Linux; Android 15; moto g84 5G Build/V1TCS35H.83-20; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 \
     Chrome/143.0.7499.52 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/535.0.0.49.72;IABMV/1;]",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram \
     412.0.0.29.74 (iPhone16,1; iOS 26_1; fr_FR; fr; scale=3.00; 1179x2556; 821345678)",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Safari Line/15.15.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 \
     KAKAOTALK/25.8.2 (INAPP)",
    "Mozilla/5.0 (Linux; Android 14; 2311DRK48G Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 \
     Chrome/142.0.7444.102 Mobile Safari/537.36 Viber/26.4.0.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 \
     [LinkedInApp]/9.31.4512",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [Pinterest/iOS]",
    "Mozilla/5.0 (Linux; Android 15; SM-S918B; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/142.0.7444.102 Mobile \
     Safari/537.36 Telegram-Android/12.2.3 (Samsung SM-S918B; Android 15; SDK 35; HIGH)",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) discord/1.0.9212 Chrome/138.0.7204.251 \
     Electron/37.6.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Slack/4.47.59 Chrome/142.0.7444.59 \
     Electron/39.0.0 Safari/537.36 AppleSilicon Sonic Slack_SSB/4.47.59",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0 \
     Teams/25290.205.4069.4894/49",
];

#[test]
fn d135_the_previewers_of_messengers_are_known() {
    let missed: Vec<_> = PREVIEWERS.iter().filter(|(_, agent)| !is_previewer(agent.as_bytes())).collect();
    assert_eq!(missed, Vec::<&(&str, &str)>::new());
    let who: BTreeSet<&str> = PREVIEWERS.iter().map(|(who, _)| *who).collect();
    assert!(who.len() >= 24, "{who:?}");
}

/// A person who got a card could not go on.
#[test]
fn d135_no_browser_and_no_search_engine_is_a_previewer() {
    let people = include_str!("agents/browsers.txt").lines().filter(|line| !line.starts_with('#'));
    let current = include_str!("agents/current.txt").lines();
    let people = people.chain(current.filter_map(|line| line.strip_prefix("person\t")));
    let all = people.chain(OTHER_PROGRAMS.iter().copied()).chain(BROWSERS_IN_APPS.iter().copied());
    let taken: Vec<_> = all.filter(|agent| is_previewer(agent.as_bytes())).collect();
    assert_eq!(taken, Vec::<&str>::new());
}

#[test]
fn d135_only_the_beginning_of_an_agent_counts() {
    let behind = format!("{}Twitterbot/1.0", "x ".repeat(MAX_EXAMINED_BYTES / 2));
    assert!(!is_previewer(behind.as_bytes()));
    assert!(!is_previewer(b"\xff\xfe\0") && is_previewer(b"\xff WhatsApp Twitterbot"));
}

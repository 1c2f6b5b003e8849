use super::*;

const NONCE: [u8; 16] = [7; 16];

fn code(pixel_type: PixelType, code: &str) -> PixelCode {
    PixelCode::parse(pixel_type, code).unwrap()
}

/// A code of each vendor.
fn one_of_each() -> Vec<PixelCode> {
    vec![
        code(PixelType::GoogleTag, "G-1A2BCD345E"),
        code(PixelType::GoogleTagManager, "GTM-AB12CDE"),
        code(PixelType::Meta, "123456789012345"),
        code(PixelType::Tiktok, "C4A1B2C3D4E5F6G7H8I9"),
        code(PixelType::Linkedin, "1234567"),
        code(PixelType::X, "o1abc"),
        code(PixelType::Pinterest, "2612345678901"),
        code(PixelType::Snapchat, "1a2b3c4d-1234-5678-9abc-1a2b3c4d5e6f"),
        code(PixelType::Reddit, "t2_1ab2cd3e"),
        code(PixelType::MicrosoftAds, "12345678"),
    ]
}

fn page_to(target: &str, pixels: &[PixelCode]) -> HtmlPage {
    let target = TargetUrl::parse(target).unwrap();
    PixelPage { pixels, target: &target, language: Language::English, nonce: NONCE }.render().unwrap()
}

fn page(pixels: &[PixelCode]) -> HtmlPage {
    page_to("https://example.com/sale", pixels)
}

/// The directive of a policy, without its name.
fn directive<'a>(policy: &'a str, name: &str) -> Option<&'a str> {
    policy.split("; ").find_map(|directive| directive.strip_prefix(name)?.strip_prefix(' '))
}

#[test]
fn d57_each_vendor_gets_its_documented_calls() {
    let expected: [(&[&str], &str); 10] = [
        (
            &["gtag('js',new Date())", "gtag('config','G-1A2BCD345E')"],
            "https://www.googletagmanager.com/gtag/js?id=G-1A2BCD345E",
        ),
        (
            &["'gtm.start':Date.now(),event:'gtm.js'"],
            "https://www.googletagmanager.com/gtm.js?id=GTM-AB12CDE",
        ),
        (
            &["fbq('init','123456789012345')", "fbq('track','PageView')"],
            "https://connect.facebook.net/en_US/fbevents.js",
        ),
        (
            &["ttq._i['C4A1B2C3D4E5F6G7H8I9']=[]", "ttq.page()"],
            "https://analytics.tiktok.com/i18n/pixel/events.js?sdkid=C4A1B2C3D4E5F6G7H8I9&#38;lib=ttq",
        ),
        (
            &["_linkedin_data_partner_ids.push('1234567')"],
            "https://snap.licdn.com/li.lms-analytics/insight.min.js",
        ),
        (&["twq('config','o1abc')"], "https://static.ads-twitter.com/uwt.js"),
        (&["pintrk('load','2612345678901')", "pintrk('page')"], "https://s.pinimg.com/ct/core.js"),
        (
            &["snaptr('init','1a2b3c4d-1234-5678-9abc-1a2b3c4d5e6f',{})", "snaptr('track','PAGE_VIEW')"],
            "https://sc-static.net/scevent.min.js",
        ),
        (
            &["rdt('init','t2_1ab2cd3e')", "rdt('track','PageVisit')"],
            "https://www.redditstatic.com/ads/pixel.js",
        ),
        (&["uets.push('12345678')", "new w.UET(o)).push('pageLoad')"], "https://bat.bing.com/bat.js"),
    ];
    for (pixel, (calls, script)) in one_of_each().into_iter().zip(expected) {
        let HtmlPage { html, content_security_policy } = page(std::slice::from_ref(&pixel));
        for call in calls {
            assert!(html.contains(call), "{pixel:?}: no {call} in {html}");
        }
        assert!(html.contains(&format!(" src=\"{script}\" async ")), "{pixel:?}: no {script} in {html}");
        let host = script.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
        assert!(directive(&content_security_policy, "script-src").unwrap().contains(&host), "{host}");
    }
}

#[test]
fn d57_vendors_get_their_pictures_without_scripts() {
    let HtmlPage { html, content_security_policy } = page(&one_of_each());
    let (_, noscript) = html.rsplit_once("<noscript>").unwrap();
    for picture in [
        "https://www.facebook.com/tr?id=123456789012345&#38;ev=PageView&#38;noscript=1",
        "https://px.ads.linkedin.com/collect/?pid=1234567&#38;fmt=gif",
        "https://ct.pinterest.com/v3/?event=init&#38;tid=2612345678901&#38;noscript=1",
        "https://bat.bing.com/action/0?ti=12345678&#38;Ver=2",
    ] {
        assert!(noscript.contains(&format!("<img src=\"{picture}\"")), "no {picture} in {noscript}");
        let host = picture.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
        assert!(directive(&content_security_policy, "img-src").unwrap().contains(&host), "{host}");
    }
    assert!(noscript.contains("<iframe src=\"https://www.googletagmanager.com/ns.html?id=GTM-AB12CDE\""));
    assert!(!page(&[code(PixelType::X, "o1abc")]).html.contains("<noscript><img"));
}

#[test]
fn d57_policy_allows_only_the_vendors_of_the_link() {
    for pixel in one_of_each() {
        let own = vendor(pixel.pixel_type());
        let HtmlPage { content_security_policy: policy, .. } = page(std::slice::from_ref(&pixel));
        let hosts: BTreeSet<&str> =
            policy.split([' ', ';']).filter(|source| source.starts_with("http")).collect();
        let expected: BTreeSet<&str> =
            own.scripts.iter().chain(own.beacons).chain(own.frames).copied().collect();
        assert_eq!(hosts, expected, "{pixel:?}");
        assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"), "{policy}");
        let script_src = directive(&policy, "script-src").unwrap();
        assert!(script_src.starts_with("'nonce-BwcHBwcHBwcHBwcHBwcHBw' https://"), "{script_src}");
        assert!(!script_src.contains('*') && !script_src.contains("strict-dynamic"), "{script_src}");
    }
}

#[test]
fn every_script_carries_the_nonce() {
    let html = page(&one_of_each()).html;
    assert_eq!(
        html.matches("<script").count(),
        html.matches("<script nonce=\"BwcHBwcHBwcHBwcHBwcHBw\"").count()
    );
}

#[test]
fn d57_codes_of_a_vendor_share_its_script() {
    let pixels = [
        code(PixelType::Meta, "11111"),
        code(PixelType::Tiktok, "AAAAAAAAAA"),
        code(PixelType::Meta, "22222"),
        code(PixelType::Tiktok, "BBBBBBBBBB"),
    ];
    let html = page(&pixels).html;
    assert_eq!(html.matches("fbevents.js\"").count(), 1);
    assert_eq!(html.matches("fbq('track','PageView')").count(), 1);
    assert!(html.contains("fbq('init','11111')") && html.contains("fbq('init','22222')"));
    assert!(html.contains("sdkid=AAAAAAAAAA&") && html.contains("sdkid=BBBBBBBBBB&"));
    assert!(html.contains("var left=3,"), "the page waits for three scripts");
}

#[test]
fn d57_page_redirects_with_and_without_scripts() {
    let html = page_to("https://example.com/?a=1&b='2\"", &one_of_each()).html;
    let location = "https://example.com/?a=1&#38;b=&#39;2&#34;";
    assert!(html.contains(&format!(
        "<noscript><meta http-equiv=\"refresh\" content=\"0; url={location}\"></noscript>"
    )));
    assert!(
        html.contains(&format!("<a id=\"on\" href=\"{location}\">Continue to <bdi>example.com</bdi></a>"))
    );
    assert!(html.contains("w.location.replace(on)"));
    assert!(html.contains(&format!("{}:0)", PixelPage::LONGEST_WAIT_MS)));
}

#[test]
fn r9_scripts_never_contain_the_target() {
    let scripts = |target: &str| -> Vec<String> {
        let html = page_to(target, &one_of_each()).html;
        html.split("<script").skip(1).map(|rest| rest.split_once("</script>").unwrap().0.to_owned()).collect()
    };
    let harmless = scripts("https://example.com/");
    for target in [
        "https://example.com/</script><script>alert(1)",
        "https://example.com/'-alert(1)-'",
        "https://example.com/%22",
    ] {
        assert_eq!(scripts(target), harmless, "{target}");
    }
}

#[test]
fn r10_non_ascii_target_is_written_as_its_location() {
    let html = page_to("https://Bücher.example/Über", &one_of_each()).html;
    assert!(html.contains("href=\"https://xn--bcher-kva.example/%C3%9Cber\""));
    assert!(!html.contains("Über"));
}

/// Replaces every code of the tests in each snippet.
#[test]
fn every_code_placeholder_is_filled() {
    let html = page(&one_of_each()).html;
    assert!(!html.contains("{code}"), "{html}");
}

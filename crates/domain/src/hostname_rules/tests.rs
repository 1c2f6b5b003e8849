use super::*;

const INVALID_FORMAT: Option<ViolationCode> = Some(ViolationCode::InvalidFormat);
const INVALID_VALUE: Option<ViolationCode> = Some(ViolationCode::InvalidValue);

fn rules_of(origin: &str, aliases: &[&str], edge: Option<&str>, allowed: &[SpecialUseName]) -> HostnameRules {
    let hostname = |name: &&str| Hostname::parse(name).unwrap();
    let system = SystemDomain::new(origin, aliases.iter().map(hostname).collect()).unwrap();
    HostnameRules::new(system, edge.as_ref().map(hostname), allowed.iter().copied().collect())
}

fn rules() -> HostnameRules {
    rules_of("https://go.signpost.net", &["old.signpost.org"], Some("edge.signpost.dev"), &[])
}

/// The code of the violation; `None` if the hostname passes. The test fails on a refusal, and on a violation
/// of another field.
fn violation(rules: &HostnameRules, text: &str) -> Option<ViolationCode> {
    match rules.check(text) {
        Ok(_) => None,
        Err(Rejection::Invalid(violations)) => {
            let all: Vec<_> = violations.iter().collect();
            let [only] = all[..] else { panic!("{text:?}: {violations}") };
            assert_eq!(only.field(), "hostname");
            Some(only.code())
        }
        Err(Rejection::Refused(refusal)) => panic!("{text:?}: {refusal}"),
    }
}

fn is_ours(rules: &HostnameRules, text: &str) -> bool {
    rules.check(text) == Err(Rejection::Refused(Refusal::HostnameIsSystemDomain))
}

/// A valid name of `length` characters: labels of the maximum length and one shorter label.
fn name_of(length: usize) -> String {
    let labels = vec!["a".repeat(63); (length - 4) / 64].join(".");
    let rest = length - 4 - labels.len();
    let first = if rest == 0 { String::new() } else { format!("{}.", "b".repeat(rest - 1)) };
    format!("{first}{labels}.com")
}

#[test]
fn d37_ordinary_hostnames_pass() {
    for good in [
        "go.shop.com",
        "shop.com",
        "a.b.c.d.e.shop.co.uk",
        "shop.co.uk",
        "my-shop.github.io",
        "1.shop.com",
        "0x7f.shop.com",
        "3com.com",
        "a--b.shop.com",
        // Similar to the installation's own names, but not under them.
        "signpost.net",
        "xgo.signpost.net",
        "go.signpost.net.shop.com",
    ] {
        assert_eq!(rules().check(good).map(|hostname| hostname.to_string()), Ok(good.to_owned()));
    }
}

#[test]
fn d37_case_surrounding_spaces_and_one_trailing_dot_make_no_difference() {
    for text in [" go.shop.com ", "GO.Shop.COM", "go.shop.com.", "\t Go.shop.com. \n"] {
        assert_eq!(rules().check(text).unwrap().as_str(), "go.shop.com", "{text:?}");
    }
    for text in ["go.shop.com..", ".go.shop.com", "go..shop.com", "go. shop.com", "go.shop.com ."] {
        assert_eq!(violation(&rules(), text), INVALID_FORMAT, "{text:?}");
    }
}

#[test]
fn d37_labels_are_letters_digits_and_inner_hyphens() {
    for bad in [
        "go_links.shop.com",
        "_signpost.shop.com",
        "-go.shop.com",
        "go-.shop.com",
        "go.shop-.com",
        "*.shop.com",
        "go+.shop.com",
        "go.shop.com/",
        "go.shop.com:443",
        "go.shop.com:",
        "https://go.shop.com",
        "user@shop.com",
        "go%2eshop.com",
        "go.shop.com\0",
        "go,shop.com",
    ] {
        assert_eq!(violation(&rules(), bad), INVALID_FORMAT, "{bad:?}");
    }
}

#[test]
fn d37_labels_have_1_to_63_characters() {
    assert_eq!(violation(&rules(), &format!("{}.shop.com", "a".repeat(63))), None);
    assert_eq!(violation(&rules(), &format!("{}.shop.com", "a".repeat(64))), INVALID_FORMAT);
    assert_eq!(violation(&rules(), &format!("go.{}.com", "a".repeat(63))), None);
    assert_eq!(violation(&rules(), &format!("go.{}.com", "a".repeat(64))), INVALID_FORMAT);
}

/// The longest valid hostname passes, also with spaces and a dot that do not count (contract "Limits", D37).
#[test]
fn d37_hostnames_have_at_most_253_characters() {
    for length in [252, 253] {
        let name = name_of(length);
        assert_eq!(name.len(), length);
        assert_eq!(rules().check(&format!(" {name}. ")).unwrap().as_str(), name);
    }
    // 127 labels, the maximum.
    let many = format!("{}.c.d", vec!["a"; 125].join("."));
    assert_eq!((many.len(), violation(&rules(), &many)), (253, None));
    for length in [254, 255, 1_000] {
        assert_eq!(violation(&rules(), &name_of(length)), Some(ViolationCode::TooLong), "{length}");
    }
    for nothing in ["", " ", "."] {
        assert_eq!(violation(&rules(), nothing), Some(ViolationCode::TooShort), "{nothing:?}");
    }
}

#[test]
fn d37_ip_addresses_are_refused() {
    for bad in [
        "192.0.2.1",
        "192.0.2.1.",
        "[2001:db8::1]",
        "2001:db8::1",
        "::1",
        "[::ffff:192.0.2.1]",
        "::ffff:192.0.2.1",
        "127.1",
        "010.0.0.1",
        "0x7f000001",
        "0x7f.1",
        "2130706433",
        "1.2.3.4.5",
        "256.256.256.256",
        "shop.123",
    ] {
        assert_eq!(violation(&rules(), bad), INVALID_FORMAT, "{bad}");
    }
}

#[test]
fn d37_single_labels_are_refused() {
    for bad in ["shop", "com", "localhost", "xn--p1ai", "shop."] {
        assert_eq!(violation(&rules(), bad), INVALID_FORMAT, "{bad}");
    }
}

#[test]
fn d37_internationalised_names_are_refused_in_both_forms() {
    for bad in ["bücher.com", "go.bücher.com", "go.shop.рф", "go。shop.com", "ｇo.shop.com"] {
        assert_eq!(violation(&rules(), bad), INVALID_FORMAT, "{bad}");
        assert!(rules().check(bad).is_err_and(|rejection| match rejection {
            Rejection::Invalid(violations) => violations.to_string().contains("ASCII"),
            Rejection::Refused(_) => false,
        }));
    }
    for bad in [
        "xn--bcher-kva.com",
        "XN--BCHER-KVA.com",
        "go.Xn--bcher-kva.com",
        "go.shop.xn--p1ai",
        "xn--a.shop.com",
    ] {
        assert_eq!(violation(&rules(), bad), INVALID_VALUE, "{bad}");
    }
    for good in ["axn--b.com", "xn-a.com"] {
        assert_eq!(violation(&rules(), good), None, "{good}");
    }
}

#[test]
fn d37_the_services_own_internationalised_name_is_recognised_in_both_forms() {
    let rules = rules_of("https://пример.рф", &[], None, &[]);
    for own in ["пример.рф", "ПРИМЕР.РФ.", "xn--e1afmkfd.xn--p1ai", "go.пример.рф"] {
        assert!(is_ours(&rules, own), "{own}");
    }
    assert_eq!(violation(&rules, "другой.рф"), INVALID_FORMAT);
}

#[test]
fn d37_special_use_names_are_refused_unless_they_are_allowed() {
    for name in SpecialUseName::ALL {
        let allowing = rules_of("https://go.signpost.net", &[], None, &[name]);
        for text in [
            format!("shop.{name}"),
            format!("go.shop.{name}"),
            format!("go.SHOP.{}.", name.as_str().to_uppercase()),
        ] {
            assert_eq!(violation(&rules(), &text), INVALID_VALUE, "{text}");
            assert_eq!(violation(&allowing, &text), None, "{text}");
            // Allowing one name allows no other.
            let other = SpecialUseName::ALL.into_iter().find(|other| *other != name).unwrap();
            let allowing_other = rules_of("https://go.signpost.net", &[], None, &[other]);
            assert_eq!(violation(&allowing_other, &text), INVALID_VALUE, "{text}");
        }
        // Only a whole label counts, and only the last one.
        assert_eq!(violation(&rules(), &format!("go.my{name}")), None);
        assert_eq!(violation(&rules(), &format!("{name}.shop.com")), None);
    }
    assert_eq!(violation(&rules(), "example.com"), None);
}

#[test]
fn d37_the_setting_names_special_use_names() {
    for name in SpecialUseName::ALL {
        for text in [name.to_string(), format!(".{name}"), format!(" .{} ", name.as_str().to_uppercase())] {
            assert_eq!(SpecialUseName::parse(&text), Ok(name));
        }
    }
    for bad in ["", ".", "..test", "com", "shop.test", "test."] {
        assert_eq!(
            SpecialUseName::parse(bad).map_err(|error| error.code()),
            Err(ViolationCode::InvalidValue),
            "{bad}"
        );
    }
}

/// Both sections of the list, with wildcards and exceptions (contract D37).
#[test]
fn d37_public_suffixes_are_refused() {
    for bad in ["co.uk", "CO.UK.", "github.io", "com.au", "shop.ck", "s3.amazonaws.com", "uk.com"] {
        assert_eq!(violation(&rules(), bad), INVALID_VALUE, "{bad}");
    }
    for good in
        ["shop.co.uk", "shop.github.io", "www.ck", "a.shop.ck", "amazonaws.com", "shop.zzzz", "go.shop.zzzz"]
    {
        assert_eq!(violation(&rules(), good), None, "{good}");
    }
}

#[test]
fn d37_own_names_and_all_names_under_them_are_refused() {
    for name in ["go.signpost.net", "old.signpost.org", "edge.signpost.dev"] {
        for text in [
            name.to_owned(),
            format!(" {}. ", name.to_uppercase()),
            format!("a.{name}"),
            format!("a.b.c.{name}"),
            format!("{}.{name}", vec!["a"; 100].join(".")),
        ] {
            assert!(is_ours(&rules(), &text), "{text}");
        }
        assert_eq!(violation(&rules(), &format!("x{name}")), None);
        assert_eq!(violation(&rules(), name.split_once('.').unwrap().1), None);
    }
}

/// The check for the installation's own names comes before all others, except that the text must be a host
/// (contract D37).
#[test]
fn d37_the_check_for_own_names_comes_first() {
    let development = rules_of("http://localhost:8081", &["127.0.0.1", "links.test"], Some("github.io"), &[]);
    for text in [
        "localhost",
        "a.localhost",
        "LOCALHOST.",
        "127.0.0.1",
        "links.test",
        "xn--a.links.test",
        "github.io",
        "shop.github.io",
        "ü.localhost",
    ] {
        assert!(is_ours(&development, text), "{text}");
    }
    for text in ["localhost:8081", "a_b.localhost", "ü_b.localhost", "1.127.0.0.1", "http://localhost"] {
        assert_eq!(violation(&development, text), INVALID_FORMAT, "{text}");
    }
    assert_eq!(violation(&development, &format!("{}.localhost", name_of(250))), Some(ViolationCode::TooLong));
}

use proptest::prelude::*;

use super::*;
use crate::dns_observation::ObservedText;
use crate::id::Id;

const EDGE: &str = "edge.example.com";

fn addresses(list: &[&str]) -> BTreeSet<IpAddr> {
    list.iter().map(|text| text.parse().unwrap()).collect()
}

fn shown(records: &[SeenRecord]) -> Vec<String> {
    let observed = |record: &SeenRecord| {
        let values: Vec<&str> = record.finding.observed.iter().map(ObservedText::as_str).collect();
        values.join(" ")
    };
    let text = |record: &SeenRecord| {
        format!("{} {} [{}]", record.record_type, record.finding.status.as_str(), observed(record))
    };
    records.iter().map(text).collect()
}

/// What is shown for a hostname with this resolution, and whether it points here. DNS has the address
/// 198.51.100.7 for the edge hostname.
fn pointing(edge: &[&str], hostname: &str, chain: &[&str], found: &[&str]) -> (Vec<String>, bool) {
    let edge = Edge { hostname: Hostname::parse(EDGE).ok(), addresses: addresses(edge) };
    let resolution = HostResolution {
        chain: chain.iter().map(|&name| name.to_owned()).collect(),
        addresses: addresses(found),
    };
    let (account, hostname) = (Id::from_bytes([1; 16]), Hostname::parse(hostname).unwrap());
    let by_dns = addresses(&["198.51.100.7"]);
    let seen = seen_pointing(&edge, account, &hostname, &resolution, &by_dns, None);
    let points_here = edge.points_here(&resolution, &by_dns);
    let has = |status| seen.iter().any(|record| record.finding.status == status);
    let all_found = seen.iter().all(|record| record.finding.status == RecordStatus::Found);
    if points_here {
        assert!(!has(RecordStatus::Wrong), "{seen:?}");
    } else {
        assert!(!all_found, "{seen:?}");
    }
    (shown(&seen), points_here)
}

/// The record that proves `hostname`.
fn proof_of(hostname: &str) -> VerificationRecord {
    VerificationRecord::of(Id::from_bytes([1; 16]), &Hostname::parse(hostname).unwrap())
}

/// What is shown where the name of `record` has these `TXT` values, and no alias.
fn proof_among(record: &VerificationRecord, texts: &[String], elsewhere: &Misplaced) -> SeenRecord {
    seen_proof(record, &TextResolution { chain: Vec::new(), texts: texts.to_vec() }, elsewhere)
}

#[test]
fn d65_an_alias_is_found_when_it_leads_to_the_edge() {
    for (chain, found, expected) in [
        (&[][..], &[][..], ("CNAME missing []", false)),
        (&[EDGE], &[], ("CNAME found [edge.example.com]", true)),
        (&["lb.shop.com", EDGE], &["198.51.100.7"], ("CNAME found [lb.shop.com]", true)),
        (&["shops.example.net"], &["203.0.113.9"], ("CNAME wrong [shops.example.net]", false)),
        (&["gone.example.net"], &[], ("CNAME wrong [gone.example.net]", false)),
        (&[], &["203.0.113.9"], ("CNAME wrong [203.0.113.9]", false)),
        (&[], &["198.51.100.7"], ("CNAME found [198.51.100.7]", true)),
        (&[], &["198.51.100.7", "203.0.113.9"], ("CNAME wrong [203.0.113.9 198.51.100.7]", false)),
    ] {
        let (records, points_here) = pointing(&[], "go.shop.com", chain, found);
        assert_eq!((records, points_here), (vec![expected.0.to_owned()], expected.1));
    }
    let (records, _) = pointing(&[], "shop.com", &[], &["203.0.113.9"]);
    assert_eq!(records, ["ALIAS wrong [203.0.113.9]"]);
}

#[test]
fn d65_each_address_record_shows_what_is_in_its_place() {
    const BOTH: &[&str] = &["192.0.2.1", "192.0.2.2", "2001:db8::1"];
    for (chain, found, expected) in [
        (&[][..], &[][..], ["A missing []", "A missing []", "AAAA missing []"]),
        (
            &[],
            BOTH,
            ["A found [192.0.2.1 192.0.2.2]", "A found [192.0.2.1 192.0.2.2]", "AAAA found [2001:db8::1]"],
        ),
        (&[], &["192.0.2.2"], ["A missing [192.0.2.2]", "A found [192.0.2.2]", "AAAA missing []"]),
        (
            &[],
            &["192.0.2.2", "203.0.113.9", "2001:db8::1"],
            [
                "A wrong [203.0.113.9 192.0.2.2]",
                "A wrong [203.0.113.9 192.0.2.2]",
                "AAAA found [2001:db8::1]",
            ],
        ),
        (
            &["shops.example.net"],
            &[],
            ["A wrong [shops.example.net]", "A wrong [shops.example.net]", "AAAA wrong [shops.example.net]"],
        ),
        (
            &[EDGE],
            &[],
            ["A found [edge.example.com]", "A found [edge.example.com]", "AAAA found [edge.example.com]"],
        ),
    ] {
        assert_eq!(pointing(BOTH, "shop.com", chain, found).0, expected, "{chain:?} {found:?}");
    }
}

/// The edge has no IPv6 address, so no instruction has one. The foreign IPv6 address is why the hostname does
/// not point here.
#[test]
fn d65_a_foreign_address_without_an_instruction_is_shown() {
    let found = ["192.0.2.1", "2001:db8::bad"];
    let (records, points_here) = pointing(&["192.0.2.1"], "shop.com", &[], &found);
    assert_eq!((records, points_here), (vec!["A wrong [2001:db8::bad 192.0.2.1]".to_owned()], false));
}

#[test]
fn d65_a_foreign_address_is_not_hidden_by_many_others() {
    let ours: Vec<String> = (1..=9).map(|number| format!("192.0.2.{number}")).collect();
    let ours: Vec<&str> = ours.iter().map(String::as_str).collect();
    let found: Vec<&str> = ours.iter().copied().chain(["203.0.113.9"]).collect();
    let (records, _) = pointing(&ours, "shop.com", &[], &found);
    let expected = "A wrong [203.0.113.9 192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4]";
    assert_eq!(records, vec![expected; 9]);
}

#[test]
fn d65_the_proof_is_found_among_other_texts() {
    let record = proof_of("go.shop.com");
    let ours = record.value();
    let seen = |texts: &[&str]| {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        let seen = proof_among(&record, &texts, &Misplaced::default());
        assert_eq!((seen.record_type, &seen.value), (DnsRecordType::Txt, &ours));
        shown(&[seen]).remove(0)
    };
    assert_eq!(seen(&[]), "TXT missing []");
    assert_eq!(seen(&["b", "a", "b"]), "TXT wrong [a b]");
    assert_eq!(seen(&[&ours.to_uppercase()]), format!("TXT wrong [{}]", ours.to_uppercase()));
    let near_miss = ["1", "2", "3", "4", "5", "signpost-verification=x"];
    assert_eq!(seen(&near_miss), "TXT wrong [signpost-verification=x 1 2 3 4]");
    let many = ["1", "2", "3", "4", "5", "6", &ours];
    assert_eq!(seen(&many), format!("TXT found [{ours} 1 2 3 4]"));
}

#[test]
fn d65_quotation_marks_around_a_value_are_named() {
    let record = proof_of("go.shop.com");
    let ours = record.value();
    let mistake = |values: &[String]| proof_among(&record, values, &Misplaced::default()).finding.mistake;
    for quoted in
        [format!("\"{ours}\""), format!("\\\"{ours}\\\""), format!(" “{ours}” "), format!("'{ours}'")]
    {
        assert_eq!(mistake(std::slice::from_ref(&quoted)), Some(RecordMistake::QuotationMarks), "{quoted}");
        assert_eq!(mistake(&[quoted, ours.clone()]), None, "the right value is there too");
    }
    for other in ["\"v=spf1\"", ""] {
        assert_eq!(mistake(&[other.to_owned()]), None, "{other}");
    }
    let others = ["v=spf1", "signpost-verification=x"].map(str::to_owned);
    assert_eq!(mistake(&others), Some(RecordMistake::OtherToken));
    let edge = Edge { hostname: Hostname::parse(EDGE).ok(), addresses: BTreeSet::new() };
    let of_alias = |alias: &str| {
        let resolution = HostResolution { chain: vec![alias.to_owned()], addresses: BTreeSet::new() };
        let hostname = Hostname::parse("go.shop.com").unwrap();
        let none = BTreeSet::new();
        seen_pointing(&edge, Id::from_bytes([1; 16]), &hostname, &resolution, &none, None)[0].finding.mistake
    };
    assert_eq!(of_alias("\"edge.example.com\""), Some(RecordMistake::QuotationMarks));
    assert_eq!(of_alias("edge.example.net"), Some(RecordMistake::OtherAlias));
    assert_eq!(of_alias("edge.example.com"), None);
}

#[test]
fn d65_a_value_that_is_cut_off_or_in_capitals_is_named() {
    let record = proof_of("go.shop.com");
    let ours = record.value();
    let seen = |values: &[&str]| {
        let values: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
        proof_among(&record, &values, &Misplaced::default()).finding
    };
    let (cut, capitals) = (&ours[..ours.len() - 1], ours.to_uppercase());
    assert_eq!(seen(&[cut]).mistake, Some(RecordMistake::CutOff));
    assert_eq!(seen(&[&format!(" {cut} ")]).mistake, Some(RecordMistake::CutOff));
    assert_eq!(seen(&[&capitals]).mistake, Some(RecordMistake::LetterCase));
    assert_eq!(seen(&[&ours, cut, &capitals]).mistake, None, "the right value is there too");
    assert_eq!(seen(&[&capitals[..capitals.len() - 1]]).mistake, Some(RecordMistake::CutOff));
    for other in [&ours[1..], &format!("{ours}0")] {
        let mistake = seen(&[other]).mistake;
        assert!(matches!(mistake, None | Some(RecordMistake::OtherToken)), "{other}: {mistake:?}");
    }
    // The token of another account explains nothing while there is a value that is almost right, and hides no such value.
    let others = ["1", "2", "3", "4", "5"].map(|end| format!("signpost-verification=0{end}"));
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let finding = seen(&[&others[..], &[cut]].concat());
    assert_eq!(finding.mistake, Some(RecordMistake::CutOff));
    assert_eq!(finding.observed[0].as_str(), cut);
    assert_eq!(seen(&others).mistake, Some(RecordMistake::OtherToken));
}

#[test]
fn d65_an_alias_in_place_of_the_proof_is_named_and_shown() {
    let record = proof_of("go.shop.com");
    let ours = record.value();
    let seen = |texts: &[&str], elsewhere: &Misplaced| {
        let texts = texts.iter().map(|&text| text.to_owned()).collect();
        let seen = seen_proof(&record, &TextResolution { chain: vec![EDGE.to_owned()], texts }, elsewhere);
        (seen.finding.mistake, shown(&[seen]).remove(0))
    };
    let nowhere = Misplaced::default();
    let alias = Some(RecordMistake::AliasInstead);
    assert_eq!(seen(&[], &nowhere), (alias, "TXT wrong [edge.example.com]".to_owned()));
    // Beside the alias no other record can be added, whatever its target has.
    for text in ["v=spf1 -all", "signpost-verification=x"] {
        assert_eq!(seen(&[text], &nowhere), (alias, format!("TXT wrong [edge.example.com {text}]")));
    }
    let many = ["1", "2", "3", "4", "5"];
    assert_eq!(seen(&many, &nowhere).1, "TXT wrong [edge.example.com 1 2 3 4]");
    assert_eq!(seen(&[&ours], &nowhere), (None, format!("TXT found [{ours}]")), "it leads to the record");
    assert_eq!(seen(&[&ours.to_uppercase()], &nowhere).0, Some(RecordMistake::LetterCase));
    // An alias may be that of a wildcard, so the record at another name explains more.
    let misplaced = Misplaced { at_the_hostname: vec![ours], ..Misplaced::default() };
    assert_eq!(seen(&[], &misplaced).0, Some(RecordMistake::AtTheHostname));
    let hint = RecordMistake::AliasInstead.hint(&record.name());
    assert!(hint.contains("`_signpost.go.shop.com` is an alias") && hint.contains("CNAME"), "{hint}");
}

proptest! {
    /// A shorter beginning may be that of another account's value.
    #[test]
    fn d65_a_long_beginning_of_the_value_counts_as_cut_off(account in any::<[u8; 16]>(), length in 1_usize..54) {
        let record = VerificationRecord::of(Id::from_bytes(account), &Hostname::parse("go.shop.com").unwrap());
        let cut = record.value()[..length].to_owned();
        let mistake = proof_among(&record, &[cut], &Misplaced::default()).finding.mistake;
        let expected = match length {
            ..22 => None,
            22..30 => Some(RecordMistake::OtherToken),
            _ => Some(RecordMistake::CutOff),
        };
        prop_assert_eq!(mistake, expected);
    }

    #[test]
    fn d65_other_capitals_of_the_value_are_named(account in any::<[u8; 16]>(), upper in any::<[bool; 54]>()) {
        let record = VerificationRecord::of(Id::from_bytes(account), &Hostname::parse("go.shop.com").unwrap());
        let ours = record.value();
        let letters = ours.chars().zip(upper);
        let value: String =
            letters.map(|(letter, upper)| if upper { letter.to_ascii_uppercase() } else { letter }).collect();
        let is_ours = value == ours;
        let finding = proof_among(&record, &[value], &Misplaced::default()).finding;
        prop_assert_eq!(finding.status == RecordStatus::Found, is_ours);
        prop_assert_eq!(finding.mistake, (!is_ours).then_some(RecordMistake::LetterCase));
    }
}

#[test]
fn d65_a_name_with_the_zone_twice_is_named() {
    let hostname = Hostname::parse("go.shop.co.uk").unwrap();
    let record = VerificationRecord::of(Id::from_bytes([1; 16]), &hostname);
    let name = record.name();
    assert_eq!(with_the_zone_twice(&hostname, &name).unwrap(), "_signpost.go.shop.co.uk.shop.co.uk");
    let below = |value: String| Misplaced { below_the_zone_twice: vec![value], ..Misplaced::default() };
    let seen = proof_among(&record, &[], &below(record.value())).finding;
    assert_eq!((seen.status, seen.mistake), (RecordStatus::Missing, Some(RecordMistake::ZoneTwice)));
    assert_eq!(proof_among(&record, &[record.value()], &below(record.value())).finding.mistake, None);
    assert_eq!(proof_among(&record, &[], &below("other".to_owned())).finding.mistake, None);
    let long = Hostname::parse(&format!("{}.shop.com", vec!["a".repeat(60); 4].join("."))).ok();
    assert_eq!(long.and_then(|long| with_the_zone_twice(&long, long.as_str())), None);

    let edge = Edge { hostname: Hostname::parse(EDGE).ok(), addresses: addresses(&["192.0.2.1"]) };
    let here = HostResolution { chain: vec![EDGE.to_owned()], addresses: BTreeSet::new() };
    let elsewhere = HostResolution { chain: vec![], addresses: addresses(&["203.0.113.9"]) };
    let nothing = HostResolution { chain: vec![], addresses: BTreeSet::new() };
    for (hostname, enter) in [("go.shop.com", "enter `go`"), ("shop.com", "enter `@`")] {
        let parsed = Hostname::parse(hostname).unwrap();
        let mistake = |below: &HostResolution| {
            let account = Id::from_bytes([1; 16]);
            seen_pointing(&edge, account, &parsed, &nothing, &BTreeSet::new(), Some(below))[0].finding.mistake
        };
        assert_eq!(mistake(&here), Some(RecordMistake::ZoneTwice));
        assert_eq!(mistake(&elsewhere), None);
        let hint = RecordMistake::ZoneTwice.hint(hostname);
        assert!(hint.contains(enter) && hint.contains(&format!("`{hostname}.shop.com`")), "{hint}");
    }
}

#[test]
fn d65_a_proof_at_the_hostname_itself_is_named() {
    let record = proof_of("go.shop.co.uk");
    let at = |value: String| Misplaced { at_the_hostname: vec![value], ..Misplaced::default() };
    let seen = proof_among(&record, &[], &at(record.value())).finding;
    assert_eq!((seen.status, seen.mistake), (RecordStatus::Missing, Some(RecordMistake::AtTheHostname)));
    assert_eq!(proof_among(&record, &[], &at("v=spf1 -all".to_owned())).finding.mistake, None);
    let hint = RecordMistake::AtTheHostname.hint(&record.name());
    for part in
        ["is at `go.shop.co.uk`", "enter `_signpost.go`", "adds `shop.co.uk`", "`_signpost.go.shop.co.uk`"]
    {
        assert!(hint.contains(part), "{part}: {hint}");
    }
}

#[test]
fn d65_proxies_and_old_addresses_are_named() {
    let mistakes = |configured: &[&str], hostname: &str, chain: &[&str], found: &[&str]| {
        let edge = Edge { hostname: Hostname::parse(EDGE).ok(), addresses: addresses(configured) };
        let chain = chain.iter().map(|&name| name.to_owned()).collect();
        let resolution = HostResolution { chain, addresses: addresses(found) };
        let (account, hostname) = (Id::from_bytes([1; 16]), Hostname::parse(hostname).unwrap());
        let seen = seen_pointing(&edge, account, &hostname, &resolution, &addresses(&["192.0.2.1"]), None);
        seen.iter().map(|record| record.finding.mistake).collect::<Vec<_>>()
    };
    let (proxied, old) = (Some(RecordMistake::Proxied), Some(RecordMistake::OldAddresses));
    for (found, expected) in [
        (&["104.16.9.9", "2606:4700::6810:9"][..], proxied),
        (&["203.0.113.9"], old),
        (&["203.0.113.9", "104.16.9.9"], old),
        (&["192.0.2.1"], None),
        (&[], None),
    ] {
        assert_eq!(mistakes(&[], "go.shop.com", &[], found), [expected], "{found:?}");
    }
    // The address record itself is there, so another one in its way is named where it is wrong.
    assert_eq!(mistakes(&["192.0.2.1"], "shop.com", &[], &["192.0.2.1", "203.0.113.9"]), [old]);
    let other_alias = [Some(RecordMistake::OtherAlias)];
    assert_eq!(mistakes(&[], "go.shop.com", &["shops.example.net"], &["203.0.113.9"]), other_alias);
    assert_eq!(mistakes(&[], "go.shop.com", &["shops.example.net"], &["192.0.2.1"]), [None]);
    let hint = RecordMistake::OldAddresses.hint("shop.com");
    assert!(hint.contains("except those with an address that you were asked to add"), "{hint}");
}

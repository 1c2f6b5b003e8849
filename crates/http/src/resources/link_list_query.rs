//! The query of the lists of links (contract "List filters for links", D32).

use std::collections::BTreeSet;

use signpost_app::links::ListLinks;
use signpost_domain::id::GroupKind;
use signpost_domain::routing::Rules;
use signpost_domain::{
    ExternalId, FieldError, HostReference, IdReference, InstantRange, LinkPassword, LinkStates, SearchText,
    Slug, TagFilter, TagName, Tags, TargetHost, Timestamp, ViolationCode, Violations,
};

use crate::cursor::CursorScope;
use crate::extract::{PageQuery, QueryString, parse_boolean};

/// The parameters of a list of links.
pub(super) struct LinkListQuery {
    pub(super) links: ListLinks,
    /// `with=clicks` (D66).
    pub(super) with_clicks: bool,
    pub(super) scope: CursorScope,
}

/// Reads the query of the list with the cursor scope `list`.
pub(super) fn read(
    mut query: QueryString,
    mut violations: Violations,
    list: CursorScope,
) -> Result<LinkListQuery, Violations> {
    let filter = ListLinks {
        group: query.take("group_id").map(|text| group_of(&text)),
        domain: query.take("domain").map(|text| HostReference::parse(&text)),
        slug: query.read("slug", Slug::parse),
        is_active: query.read("is_active", parse_boolean),
        has_password: query.read(LinkPassword::SHOWN_FIELD, parse_boolean),
        states: query.read(LinkStates::FIELD, LinkStates::parse),
        external_id: query.read(ExternalId::FIELD, ExternalId::parse),
        tags: TagFilter {
            any: read_names(&mut query, TAG_PARAMETERS[0]),
            all: read_names(&mut query, TAG_PARAMETERS[1]),
            none: read_names(&mut query, TAG_PARAMETERS[2]),
        },
        target_host: query.read(TargetHost::FIELD, TargetHost::parse),
        has_rules: query.read(Rules::HAS_FIELD, parse_boolean),
        created: read_range(&mut query, ["created_after", "created_before"]),
        updated: read_range(&mut query, ["updated_after", "updated_before"]),
        search: query.read("q", SearchText::parse),
        ..ListLinks::default()
    };
    let with_clicks = query.read("with", parse_with).is_some();
    let scope = scope(list, &filter);
    let PageQuery { limit, after } = PageQuery::read(&mut query, &scope);
    violations.append(query.finish());
    violations.into_result(LinkListQuery { links: ListLinks { limit, after, ..filter }, with_clicks, scope })
}

/// The group that a filter names; `None` for links without a group.
pub(super) fn group_of(text: &str) -> Option<IdReference<GroupKind>> {
    (text != "none").then(|| IdReference::parse(text))
}

/// The instants between two parameters (D126).
fn read_range(query: &mut QueryString, [after, before]: [&str; 2]) -> InstantRange {
    InstantRange { from: query.read(after, Timestamp::parse), to: query.read(before, Timestamp::parse) }
}

/// The parameters that name tags: any of them, all of them, none of them (D126).
pub(super) const TAG_PARAMETERS: [&str; 3] = ["tag", "tag_all", "without_tag"];

/// The names of tags that a parameter separates by commas; empty without the parameter.
fn read_names(query: &mut QueryString, name: &str) -> Vec<TagName> {
    query.read(name, parse_names).unwrap_or_default()
}

fn parse_names(text: &str) -> Result<Vec<TagName>, FieldError> {
    let names: Vec<TagName> =
        text.split(',').take(Tags::MAX + 1).map(TagName::parse).collect::<Result<_, _>>()?;
    if names.len() > Tags::MAX {
        let message = format!("must have at most {} names", Tags::MAX);
        return Err(FieldError::new(ViolationCode::TooManyItems, message));
    }
    Ok(names)
}

/// The scope of a filter's cursors. Equivalent spellings, such as a hostname in another case, give the same scope.
pub(super) fn scope(list: CursorScope, filter: &ListLinks) -> CursorScope {
    let ListLinks {
        group,
        domain,
        slug,
        is_active,
        has_password,
        states,
        external_id,
        tags,
        target_host,
        has_rules,
        created,
        updated,
        search,
        ..
    } = filter;
    let instant = |instant: Option<Timestamp>| instant.map(|instant| instant.unix_millis().to_be_bytes());
    let instants = [
        ("created_after", instant(created.from)),
        ("created_before", instant(created.to)),
        ("updated_after", instant(updated.from)),
        ("updated_before", instant(updated.to)),
    ];
    let group = group.map(|group| match group {
        None => vec![],
        Some(IdReference::Malformed) => vec![0],
        Some(IdReference::Id(id)) => id.to_bytes().to_vec(),
    });
    let domain = domain.as_ref().map(|domain| match domain {
        HostReference::Hostname(hostname) => hostname.as_str().as_bytes(),
        HostReference::Malformed => b"",
    });
    let [is_active, has_password, has_rules] =
        [is_active, has_password, has_rules].map(|flag| flag.map(|flag| [u8::from(flag)]));
    let states = states.map(|states| [states.bits()]);
    let list = instants.iter().fold(list, |list, (name, instant)| {
        list.filtered_by(name, instant.as_ref().map(<[u8; 8]>::as_slice))
    });
    let TagFilter { any, all, none } = tags;
    let list = TAG_PARAMETERS
        .into_iter()
        .zip([any, all, none])
        .fold(list, |list, (name, names)| list.filtered_by(name, keys(names).as_deref().map(str::as_bytes)));
    list.filtered_by("group_id", group.as_deref())
        .filtered_by("domain", domain)
        .filtered_by("slug", slug.as_ref().map(|slug| slug.as_str().as_bytes()))
        .filtered_by("is_active", is_active.as_ref().map(<[u8; 1]>::as_slice))
        .filtered_by(LinkPassword::SHOWN_FIELD, has_password.as_ref().map(<[u8; 1]>::as_slice))
        .filtered_by(LinkStates::FIELD, states.as_ref().map(<[u8; 1]>::as_slice))
        .filtered_by(ExternalId::FIELD, external_id.as_ref().map(|id| id.as_str().as_bytes()))
        .filtered_by(TargetHost::FIELD, target_host.as_ref().map(|host| host.as_str().as_bytes()))
        .filtered_by(Rules::HAS_FIELD, has_rules.as_ref().map(<[u8; 1]>::as_slice))
        .filtered_by("q", search.as_ref().map(|search| search.folded().as_bytes()))
}

/// The same text for lists that name the same tags, in any case and order.
fn keys(names: &[TagName]) -> Option<String> {
    let keys: BTreeSet<&str> = names.iter().map(TagName::key).collect();
    // No name has a comma.
    (!keys.is_empty()).then(|| keys.into_iter().collect::<Vec<_>>().join(","))
}

fn parse_with(text: &str) -> Result<(), FieldError> {
    match text {
        "clicks" => Ok(()),
        _ => Err(FieldError::new(ViolationCode::InvalidValue, "must be clicks")),
    }
}

#[cfg(test)]
mod tests {
    use signpost_domain::{AccountId, LinkState, PagePosition};

    use super::*;

    fn redirects() -> CursorScope {
        CursorScope::new(AccountId::from_bytes([7; 16]), "redirects")
    }

    fn found(query: &str) -> Vec<(String, &'static str)> {
        match read(QueryString::parse(query), Violations::new(), redirects()) {
            Ok(_) => vec![],
            Err(violations) => {
                violations.iter().map(|each| (each.field().to_owned(), each.code().as_str())).collect()
            }
        }
    }

    #[test]
    fn d32_every_filter_is_read() {
        let query = "group_id=none&domain=Go.Example.COM.&is_active=false&has_password=true&q=Sale&slug=Sale&external_id=A%201&limit=7&with=clicks\
                     &tag=%20Sale,mail&tag_all=a&without_tag=b&target_host=B%C3%BCcher.Example&state=lost&has_rules=true";
        let read = read(QueryString::parse(query), Violations::new(), redirects()).unwrap();
        let query = read.links;
        assert!(read.with_clicks);
        assert_eq!(query.group, Some(None));
        assert_eq!(query.domain, Some(HostReference::parse("go.example.com")));
        assert_eq!(query.slug, Some(Slug::parse("Sale").unwrap()));
        assert_eq!((query.is_active, query.has_password), (Some(false), Some(true)));
        assert_eq!(query.external_id, Some(ExternalId::parse("A 1").unwrap()));
        assert_eq!(query.search, Some(SearchText::parse("sale").unwrap()));
        let names = |names: &[&str]| names.iter().map(|name| TagName::parse(name).unwrap()).collect();
        let tags = TagFilter { any: names(&["Sale", "mail"]), all: names(&["a"]), none: names(&["b"]) };
        assert_eq!(query.tags, tags);
        assert_eq!(query.target_host, Some(TargetHost::parse("xn--bcher-kva.example").unwrap()));
        assert_eq!(query.states, Some(LinkState::Lost.into()));
        assert_eq!(query.has_rules, Some(true));
        assert_eq!(query.limit.get(), 7);
    }

    #[test]
    fn d126_instants_are_read_with_any_offset() {
        let query = "created_after=2026-01-31T09:05:07.042Z&created_before=2026-01-31T10:05:07.5%2B01:00\
                     &updated_after=2026-02-01T00:00:00Z&updated_before=2026-02-01T00:00:00Z";
        let links = read(QueryString::parse(query), Violations::new(), redirects()).unwrap().links;
        let at = |text| Some(Timestamp::parse(text).unwrap());
        let [from, to] = ["2026-01-31T09:05:07.042Z", "2026-01-31T09:05:07.500Z"].map(at);
        assert_eq!(links.created, InstantRange { from, to });
        let day = at("2026-02-01T00:00:00Z");
        assert_eq!(links.updated, InstantRange { from: day, to: day });
        for name in ["created_after", "created_before", "updated_after", "updated_before"] {
            for (text, code) in [
                ("", "invalid_format"),
                ("2026-01-31", "invalid_format"),
                // A plus sign that is not encoded means a space.
                ("2026-01-31T10:05:07+01:00", "invalid_format"),
                ("1969-12-31T23:59:59Z", "out_of_range"),
            ] {
                assert_eq!(found(&format!("{name}={text}")), [(name.to_owned(), code)], "{text}");
            }
        }
    }

    #[test]
    fn d126_up_to_twenty_tags_are_named_by_each_filter() {
        for name in TAG_PARAMETERS {
            let list = |count: usize| format!("{name}={}", vec!["a"; count].join(","));
            assert_eq!(found(&list(20)), []);
            for (query, code) in [
                (list(21), "too_many_items"),
                (format!("{name}="), "too_short"),
                (format!("{name}=a,,b"), "too_short"),
                (format!("{name}=a,"), "too_short"),
                (format!("{name}=a,{}", "b".repeat(51)), "too_long"),
                (format!("{name}=a%00"), "invalid_format"),
            ] {
                assert_eq!(found(&query), [(name.to_owned(), code)], "{query}");
            }
        }
    }

    #[test]
    fn d11_a_cursor_serves_other_spellings_of_the_same_tags() {
        let scope =
            |query: &str| read(QueryString::parse(query), Violations::new(), redirects()).unwrap().scope;
        let cursor = scope("tag=Sale,mail").seal(PagePosition::behind([1; 16]));
        assert_eq!(found(&format!("tag=mail,%20SALE,Mail&cursor={cursor}")), []);
        assert_eq!(found(&format!("tag=mail&cursor={cursor}")), [("cursor".to_owned(), "invalid_format")]);
    }

    #[test]
    fn d126_a_host_has_no_scheme_port_or_path() {
        for text in
            ["", "https://example.com", "example.com:443", "example.com/", "*.example.com", "a%20b", "127.1"]
        {
            let expected = [("target_host".to_owned(), "invalid_value")];
            assert_eq!(found(&format!("target_host={text}")), expected, "{text}");
        }
    }

    #[test]
    fn d11_a_cursor_serves_other_spellings_of_the_same_host() {
        let scope =
            |query: &str| read(QueryString::parse(query), Violations::new(), redirects()).unwrap().scope;
        let cursor = scope("target_host=b%C3%BCcher.example").seal(PagePosition::behind([1; 16]));
        assert_eq!(found(&format!("target_host=XN--BCHER-KVA.example.&cursor={cursor}")), []);
        let other = found(&format!("target_host=shop.b%C3%BCcher.example&cursor={cursor}"));
        assert_eq!(other, [("cursor".to_owned(), "invalid_format")]);
    }

    #[test]
    fn d126_states_are_named_with_commas_between_them() {
        let states = LinkState::ALL.map(LinkState::as_str).join(",");
        for good in ["active", "expired,exhausted,expired", &states] {
            assert_eq!(found(&format!("state={good}")), [], "{good}");
        }
        for bad in ["", "Active", "active,", "%20active", "true", "active%00", "paused,active"] {
            let expected = [("state".to_owned(), "invalid_value")];
            assert_eq!(found(&format!("state={bad}")), expected, "{bad}");
        }
    }

    #[test]
    fn d11_a_cursor_serves_other_spellings_of_the_same_states() {
        let scope =
            |query: &str| read(QueryString::parse(query), Violations::new(), redirects()).unwrap().scope;
        let cursor = scope("state=lost,expired").seal(PagePosition::behind([1; 16]));
        assert_eq!(found(&format!("state=expired,lost,expired&cursor={cursor}")), []);
        assert_eq!(found(&format!("state=lost&cursor={cursor}")), [("cursor".to_owned(), "invalid_format")]);
    }

    #[test]
    fn an_unknown_or_malformed_group_is_no_violation() {
        for id in ["grp_00000000000000000000000000000000", "grp_1", "", "None"] {
            assert_eq!(found(&format!("group_id={id}")), [], "{id}");
        }
    }

    #[test]
    fn d8_every_violation_of_a_query_is_listed() {
        let mut found = found(
            "is_active=yes&has_password=1&has_rules=1&q=&external_id=&slug=a%20b&with=visits&limit=0&cursor=x&sort=asc&domain=a&domain=b",
        );
        found.sort();
        let expected = [
            ("cursor", "invalid_format"),
            ("domain", "invalid_value"),
            ("external_id", "too_short"),
            ("has_password", "invalid_value"),
            ("has_rules", "invalid_value"),
            ("is_active", "invalid_value"),
            ("limit", "out_of_range"),
            ("q", "too_short"),
            ("slug", "invalid_format"),
            ("sort", "unknown_field"),
            ("with", "invalid_value"),
        ];
        assert_eq!(found, expected.map(|(field, code)| (field.to_owned(), code)));
    }

    #[test]
    fn d32_q_has_1_to_100_characters() {
        assert_eq!(found(&format!("q={}", "%C3%A9".repeat(100))), []);
        assert_eq!(found(&format!("q={}", "%C3%A9".repeat(101))), [("q".to_owned(), "too_long")]);
    }

    #[test]
    fn d11_a_cursor_of_one_filter_is_refused_by_every_other() {
        let id = "grp_019b5a3c6e2d7f4880112233445566aa";
        let filters = [
            String::new(),
            "group_id=none".to_owned(),
            format!("group_id={id}"),
            "group_id=malformed".to_owned(),
            "domain=localhost".to_owned(),
            "domain=..".to_owned(),
            "is_active=true".to_owned(),
            "is_active=false".to_owned(),
            "has_password=true".to_owned(),
            "has_password=false".to_owned(),
            "state=active".to_owned(),
            "state=inactive".to_owned(),
            "state=active,inactive".to_owned(),
            "q=a".to_owned(),
            "q=b".to_owned(),
            "q=a&is_active=true".to_owned(),
            "slug=a".to_owned(),
            "slug=A".to_owned(),
            "slug=a&q=a".to_owned(),
            "external_id=a".to_owned(),
            "external_id=A".to_owned(),
            "tag=a".to_owned(),
            "tag=b".to_owned(),
            "tag=a,b".to_owned(),
            "tag_all=a".to_owned(),
            "tag_all=a,b".to_owned(),
            "without_tag=a".to_owned(),
            "tag=a&without_tag=a".to_owned(),
            "target_host=localhost".to_owned(),
            "target_host=a".to_owned(),
            "has_rules=true".to_owned(),
            "has_rules=false".to_owned(),
            "created_after=2026-01-31T09:05:07Z".to_owned(),
            "created_before=2026-01-31T09:05:07Z".to_owned(),
            "updated_after=2026-01-31T09:05:07Z".to_owned(),
            "updated_before=2026-01-31T09:05:07Z".to_owned(),
            "updated_before=2026-01-31T09:05:08Z".to_owned(),
        ];
        let scopes = filters.clone().map(|query| {
            let read = read(QueryString::parse(&query), Violations::new(), redirects());
            read.unwrap().scope
        });
        let position = PagePosition::behind([1; 16]);
        for (issuer, scope) in scopes.iter().enumerate() {
            for (user, filter) in filters.iter().enumerate() {
                let query = format!("{filter}&cursor={}&limit=3", scope.seal(position));
                let expected =
                    if issuer == user { vec![] } else { vec![("cursor".to_owned(), "invalid_format")] };
                assert_eq!(found(&query), expected, "{issuer} for {user}");
            }
        }
    }
}

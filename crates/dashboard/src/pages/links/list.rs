//! The list of links of both kinds.

use std::collections::HashMap;

use actix_web::HttpResponse;
use signpost_app::links::{ListLinks, list, list_all};
use signpost_app::{AppError, Application, Caller, analytics};
use signpost_domain::{
    Content, HostReference, IdReference, Link, LinkId, LinkKind, LinkState, LinkStates, Page, Permission,
    Preferences, SearchText, Slug, TagFilter, TagName, Tags, Timestamp,
};

use super::placement_fields::{Choices, tag_names};
use super::short_address;
use crate::answer::page;
use crate::curl;
use crate::failure::Failure;
use crate::frame::{TEXTS, shell};
use crate::local_time::{date, date_and_time, number};
use crate::pages::{pager, position_of};
use crate::paths::with_query;
use crate::views::{
    BulkSummary, CurlExample, Label, LinkFilter, LinkKind as KindChoice, LinkRow, LinkTag, LinksPage,
    NamedId, NavItem, Notice, Tile, Tone,
};
use crate::visit::{Member, Query, Visit};

/// `GET /{account}/links`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    page(&links_page(&visit, &member, &visit.query(), None).await?)
}

/// The page of the list that a query asks for, with the result of an action on several of its links.
pub(super) async fn links_page(
    visit: &Visit,
    member: &Member,
    query: &Query,
    summary: Option<BulkSummary>,
) -> Result<LinksPage, Failure> {
    let caller = &member.caller;
    let (app, account, now) = (visit.app(), caller.account_id(), visit.app().clock.now());
    let kind = match query.text("kind") {
        "redirect" => Some(LinkKind::Redirect),
        "landing" => Some(LinkKind::Landing),
        _ => None,
    };
    let searched = query.text("q").trim();
    let (request, mistake) = requested(query, searched);
    let after = request.after;
    let exact = short_address::parse(app, searched).and_then(|address| at_address(&request, address));
    let exact = match exact {
        Some(request) => {
            Some(listed(app, caller, kind, request, now).await?).filter(|page| !page.items.is_empty())
        }
        None => None,
    };
    let (listed, mistake) = match exact {
        Some(page) => (page, None),
        None => (listed(app, caller, kind, request, now).await?, mistake),
    };
    let choices = Choices::read(visit, member).await?;
    let clicks = recent_clicks(visit, member, &listed.items).await?;
    let named = [
        ("q", searched),
        ("group", query.text("group")),
        ("tag", query.text("tag").trim()),
        ("domain", query.text("domain")),
        ("state", asked_state(query)),
        ("password", query.text("password")),
        ("kind", query.text("kind")),
    ];
    let path = format!("/{account}/links");
    let pager = pager(&listed, &path, &named, after.is_none());
    let preferences = &member.signed_in.user().preferences;
    let row = |link: &Link| link_row(visit, link, &choices, &clicks, (preferences, now));
    let mut shell = shell(visit, member, NavItem::Links, TEXTS.links, examples(visit, searched));
    let left_out = (listed.left_out > 0).then(|| TEXTS.some_left_out.to_owned());
    if let Some(warning) = mistake.or(left_out) {
        shell.notice = Some(Notice::warning(warning));
    }
    Ok(LinksPage {
        can_write: caller.may(Permission::WriteLinks),
        filter: filter_of(query, searched, kind, &choices),
        rows: listed.items.iter().map(row).collect(),
        pager,
        idempotency_key: visit.new_key(),
        here: here(&named, query.text("after")),
        summary,
        shell,
    })
}

async fn listed(
    app: &Application,
    caller: &Caller,
    kind: Option<LinkKind>,
    request: ListLinks,
    now: Timestamp,
) -> Result<Page<Link>, AppError> {
    match kind {
        Some(kind) => list(app, caller, kind, request, now).await,
        None => list_all(app, caller, request, now).await,
    }
}

/// The same list with the one link of a short address in place of the search. `None` if the list is of another domain.
fn at_address(request: &ListLinks, (host, slug): (HostReference, Slug)) -> Option<ListLinks> {
    if request.after.is_some() || request.domain.as_ref().is_some_and(|domain| *domain != host) {
        return None;
    }
    Some(ListLinks { domain: Some(host), slug: Some(slug), search: None, ..request.clone() })
}

/// The state that a query asks for. Older links to the list ask for `active=on` or `active=off` instead, which are kept as two more.
fn asked_state(query: &Query) -> &str {
    match (query.text("state"), query.text("active")) {
        ("", older) => older,
        (state, _) => state,
    }
}

/// The list that a query asks for, and what of it cannot be asked for.
fn requested(query: &Query, searched: &str) -> (ListLinks, Option<String>) {
    let group = match query.text("group") {
        "" => None,
        "none" => Some(None),
        id => Some(Some(IdReference::parse(id))),
    };
    let domain = Some(query.text("domain").trim()).filter(|domain| !domain.is_empty());
    let state = asked_state(query);
    let (search, mistake) = match SearchText::parse(searched) {
        Ok(search) => (Some(search), None),
        Err(_) if searched.is_empty() => (None, None),
        Err(error) => (None, Some(format!("{} {}.", TEXTS.search_links, error.message()))),
    };
    let (any, wrong_tag) = match tag_names(query.text("tag")) {
        Ok(names) if names.len() <= Tags::MAX => (names, None),
        Ok(names) => (names.into_iter().take(Tags::MAX).collect(), Some(TEXTS.tags.too_many.to_owned())),
        Err(error) => (vec![], Some(format!("{} {}.", TEXTS.tags.filter, error.message()))),
    };
    let request = ListLinks {
        group,
        tags: TagFilter { any, ..TagFilter::default() },
        domain: domain.map(HostReference::parse),
        is_active: switch_of(state),
        states: LinkState::parse(state).ok().map(LinkStates::from),
        has_password: has_password(query),
        search,
        after: position_of(query),
        ..ListLinks::default()
    };
    (request, mistake.or(wrong_tag))
}

/// What an older link to the list asks for.
fn switch_of(state: &str) -> Option<bool> {
    match state {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

fn has_password(query: &Query) -> Option<bool> {
    match query.text("password") {
        "with" => Some(true),
        "without" => Some(false),
        _ => None,
    }
}

/// The states to choose from, the usual one first. That of an older link is among them only if it is chosen.
fn choosable_states(chosen: &str) -> Vec<NamedId> {
    let choice = |id: &str, name: &str| NamedId { id: id.to_owned(), name: name.to_owned() };
    let words = TEXTS.life;
    let older = switch_of(chosen).map(|is_on| choice(chosen, (words.switched)(is_on)));
    let states = LinkState::ALL.into_iter().rev();
    states.map(|state| choice(state.as_str(), (words.state_name)(state))).chain(older).collect()
}

fn filter_of(query: &Query, searched: &str, kind: Option<LinkKind>, choices: &Choices) -> LinkFilter {
    let group = |group: &signpost_domain::Group| NamedId {
        id: group.id.to_string(),
        name: group.name.as_str().to_owned(),
    };
    let chosen = query.text("group");
    let is_listed =
        ["", "none"].contains(&chosen) || choices.groups.iter().any(|group| group.id.to_string() == chosen);
    let states = choosable_states(asked_state(query));
    let state = states.iter().find(|state| state.id == asked_state(query));
    let unlisted = (!is_listed).then(|| NamedId { id: chosen.to_owned(), name: chosen.to_owned() });
    LinkFilter {
        q: searched.to_owned(),
        group: chosen.to_owned(),
        tag: query.text("tag").trim().to_owned(),
        groups: choices.groups.iter().map(group).chain(unlisted).collect(),
        domain: query.text("domain").trim().to_owned(),
        domains: choices.hostnames.clone(),
        state: state.map(|state| state.id.clone()).unwrap_or_default(),
        states,
        password: has_password(query),
        kind: kind.map(|kind| match kind {
            LinkKind::Redirect => KindChoice::Redirect,
            LinkKind::Landing => KindChoice::Landing,
        }),
    }
}

/// The query of a page of the list, with a question mark, or nothing.
fn here(named: &[(&str, &str)], after: &str) -> String {
    let all = named.iter().copied().chain([("after", after)]);
    with_query("", all.filter(|(_, value)| !value.is_empty()))
}

/// The clicks of the last 30 days of each link, by one question. Without statistics the list is shown without them.
async fn recent_clicks(
    visit: &Visit,
    member: &Member,
    links: &[Link],
) -> Result<HashMap<LinkId, u64>, Failure> {
    if !member.caller.may(Permission::ReadAnalytics) {
        return Ok(HashMap::new());
    }
    match analytics::clicks_of(visit.app(), &member.caller, links).await {
        Ok(clicks) => Ok(clicks),
        Err(error) => {
            tracing::warn!(
                cause = signpost_app::with_causes(&error),
                "a list of links is shown without clicks"
            );
            Ok(HashMap::new())
        }
    }
}

fn link_row(
    visit: &Visit,
    link: &Link,
    choices: &Choices,
    clicks: &HashMap<LinkId, u64>,
    (preferences, now): (&Preferences, Timestamp),
) -> LinkRow {
    let url = public_url(visit, link);
    let (link_state, label) = state_of(link, now, preferences);
    let target = link.target_url();
    LinkRow {
        id: link.id().to_string(),
        tile: Tile::of(link.name.as_str()),
        kind: match link.id().kind() {
            LinkKind::Redirect => KindChoice::Redirect,
            LinkKind::Landing => KindChoice::Landing,
        },
        title: link.name.as_str().to_owned(),
        short: url.as_deref().map_or_else(String::new, |url| without_scheme(url).to_owned()),
        url,
        target: target.map(|target| without_scheme(target.as_str()).to_owned()),
        group: link.group_id.map(|id| NamedId {
            id: id.to_string(),
            name: choices.group_name(id).map_or_else(|| TEXTS.group.to_owned(), str::to_owned),
        }),
        tags: link.tags.iter().map(link_tag).collect(),
        state: (link_state != LinkState::Active).then_some(label),
        has_password: link.has_password,
        clicks: link.analytics_enabled.then(|| clicks.get(&link.id()).copied().map(number)).flatten(),
        created: date(link.created_at, preferences),
        created_at: link.created_at.to_string(),
        checked: false,
    }
}

/// A tag, with the query of the list of its links.
pub(crate) fn link_tag(name: &TagName) -> LinkTag {
    let query = with_query("", [("tag", name.as_str())]);
    LinkTag { name: name.as_str().to_owned(), query }
}

/// What a link does at `now` (D128), and how people read it: with the instant at which it opens or has ended.
pub(super) fn state_of<C: Content>(
    link: &Link<C>,
    now: Timestamp,
    preferences: &Preferences,
) -> (LinkState, Label) {
    let (words, schedule) = (TEXTS.life, link.life.schedule);
    let shown = |at: Option<Timestamp>| at.map_or_else(String::new, |at| date_and_time(at, preferences));
    let state = link.state(now);
    let name = (words.state_name)(state).to_owned();
    let (text, tone) = match state {
        LinkState::Lost | LinkState::DomainInactive => (name, Tone::Bad),
        LinkState::Inactive | LinkState::Exhausted => (name, Tone::Neutral),
        LinkState::Scheduled => ((words.scheduled)(&shown(schedule.starts_at())), Tone::Neutral),
        LinkState::Expired => ((words.expired)(&shown(schedule.expires_at())), Tone::Neutral),
        LinkState::Active => (name, Tone::Good),
    };
    (state, Label { text, tone })
}

/// The address at which visitors open a link.
pub(super) fn public_url<C: Content>(visit: &Visit, link: &Link<C>) -> Option<String> {
    let app = visit.app();
    link.placement.url(&app.system, app.custom_domain_scheme)
}

/// An address as people read it.
pub(super) fn without_scheme(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, rest)| rest)
}

fn examples(visit: &Visit, searched: &str) -> Vec<CurlExample> {
    let query = (!searched.is_empty()).then_some(("q", searched));
    let api = visit.api_url();
    vec![
        curl::read(api, TEXTS.curl_list_redirects, &with_query("/v1/redirects", query)),
        curl::read(api, TEXTS.curl_list_landings, &with_query("/v1/landings", query)),
    ]
}

//! The list of links of both kinds.

use std::collections::HashMap;

use actix_web::HttpResponse;
use signpost_app::links::{ListLinks, list, list_all};
use signpost_app::{AppError, Application, Caller, analytics};
use signpost_domain::{
    Content, HostReference, IdReference, Link, LinkId, LinkKind, LinkState, Page, Permission, Preferences,
    SearchText, Slug, TagFilter, TagName, Tags, Timestamp,
};

use super::asked_state::AskedState;
use super::placement_fields::{Choices, tag_names};
use super::short_address;
use crate::answer::page;
use crate::curl;
use crate::failure::Failure;
use crate::frame::{TEXTS, shell};
use crate::local_time::{date, date_and_time, number};
use crate::pages::{pager, position_of};
use crate::paths::with_query;
use crate::query::Query;
use crate::views::{
    BulkSummary, CurlExample, Label, LinkFilter, LinkKind as KindChoice, LinkRow, LinkTag, LinksPage,
    NamedId, NavItem, Notice, Tile, Tone,
};
use crate::visit::{Member, Visit};

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
    let asked = AskedState::of(query);
    let (listed, mistake) = match &asked {
        Ok(state) => {
            let (request, mistake) = requested(query, searched, *state);
            match at_short_address(app, caller, kind, &request, searched, now).await? {
                Some(page) => (page, None),
                None => (listed(app, caller, kind, request, now).await?, mistake),
            }
        }
        Err(error) => (Page::empty(), Some(format!("{} {}.", TEXTS.state, error.message()))),
    };
    let asked = asked.ok();
    let state = asked.map(AskedState::value).unwrap_or_default();
    let choices = Choices::read(visit, member).await?;
    let clicks = recent_clicks(visit, member, &listed.items).await?;
    let named = [
        ("q", searched),
        ("group", query.text("group")),
        ("tag", query.text("tag").trim()),
        ("domain", query.text("domain")),
        ("state", state.as_str()),
        ("password", query.text("password")),
        ("kind", query.text("kind")),
    ];
    let path = format!("/{account}/links");
    let pager = pager(&listed, &path, &named, position_of(query).is_none());
    let preferences = &member.signed_in.user().preferences;
    let row = |link: &Link| link_row(visit, link, &choices, &clicks, (preferences, now));
    let mut shell = shell(visit, member, NavItem::Links, TEXTS.links, examples(visit, searched));
    let left_out = (listed.left_out > 0).then(|| TEXTS.some_left_out.to_owned());
    if let Some(warning) = mistake.or(left_out) {
        shell.notice = Some(Notice::warning(warning));
    }
    Ok(LinksPage {
        can_write: caller.may(Permission::WriteLinks),
        filter: filter_of(query, searched, kind, asked, &choices),
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

/// The list of the one link whose short address was searched for; `None` if there is none.
async fn at_short_address(
    app: &Application,
    caller: &Caller,
    kind: Option<LinkKind>,
    request: &ListLinks,
    searched: &str,
    now: Timestamp,
) -> Result<Option<Page<Link>>, AppError> {
    let Some(request) = short_address::parse(app, searched).and_then(|address| at_address(request, address))
    else {
        return Ok(None);
    };
    let page = listed(app, caller, kind, request, now).await?;
    Ok((!page.items.is_empty()).then_some(page))
}

/// The same list with the one link of a short address in place of the search. `None` if the list is of another domain.
fn at_address(request: &ListLinks, (host, slug): (HostReference, Slug)) -> Option<ListLinks> {
    if request.after.is_some() || request.domain.as_ref().is_some_and(|domain| *domain != host) {
        return None;
    }
    Some(ListLinks { domain: Some(host), slug: Some(slug), search: None, ..request.clone() })
}

/// The list that a query asks for, and what of it cannot be asked for.
fn requested(query: &Query, searched: &str, state: AskedState) -> (ListLinks, Option<String>) {
    let group = match query.text("group") {
        "" => None,
        "none" => Some(None),
        id => Some(Some(IdReference::parse(id))),
    };
    let domain = Some(query.text("domain").trim()).filter(|domain| !domain.is_empty());
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
        is_active: state.is_active(),
        states: state.states(),
        has_password: has_password(query),
        search,
        after: position_of(query),
        ..ListLinks::default()
    };
    (request, mistake.or(wrong_tag))
}

fn has_password(query: &Query) -> Option<bool> {
    match query.text("password") {
        "with" => Some(true),
        "without" => Some(false),
        _ => None,
    }
}

/// The choices of the filter. `asked` is `None` if there is no such state.
fn filter_of(
    query: &Query,
    searched: &str,
    kind: Option<LinkKind>,
    asked: Option<AskedState>,
    choices: &Choices,
) -> LinkFilter {
    let state = asked.unwrap_or(AskedState::Any);
    let group = |group: &signpost_domain::Group| NamedId {
        id: group.id.to_string(),
        name: group.name.as_str().to_owned(),
    };
    let chosen = query.text("group");
    let is_listed =
        ["", "none"].contains(&chosen) || choices.groups.iter().any(|group| group.id.to_string() == chosen);
    let unlisted = (!is_listed).then(|| NamedId { id: chosen.to_owned(), name: chosen.to_owned() });
    LinkFilter {
        q: searched.to_owned(),
        group: chosen.to_owned(),
        tag: query.text("tag").trim().to_owned(),
        groups: choices.groups.iter().map(group).chain(unlisted).collect(),
        domain: query.text("domain").trim().to_owned(),
        domains: choices.hostnames.clone(),
        state: state.value(),
        states: state.choices(),
        password: has_password(query),
        kind: kind.map(|kind| match kind {
            LinkKind::Redirect => KindChoice::Redirect,
            LinkKind::Landing => KindChoice::Landing,
        }),
        is_refused: asked.is_none(),
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

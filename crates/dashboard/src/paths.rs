//! The table of routes. Routing and the labels of the log come from it, and tests iterate over it.

use actix_web::dev::ServiceRequest;
use actix_web::{Route, guard, web};
use signpost_domain::Permission;

use crate::pages::{
    analytics, assets, audit, domains, entry, export, groups, home, keys, links, me, members, operator,
    pixels, provider, second_factor, settings, sign_in, tags, usage,
};

/// The placeholders of paths.
pub(crate) const ACCOUNT: &str = "account";
pub(crate) const ID: &str = "id";
pub(crate) const TOKEN: &str = "token";

/// The path to which an identity provider sends browsers back.
pub const PROVIDER_CALLBACK: &str = "/sign-in/provider/callback";

/// What a route needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    Anybody,
    /// A session.
    User,
    /// A session of an operator.
    Operator,
    /// A membership of the account in the path, with this permission.
    Member(Permission),
}

/// The methods of routes. `Get` also answers HEAD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RouteMethod {
    /// Shows something and changes nothing.
    Get,
    /// Takes a form.
    Post,
}

/// One route.
#[derive(Debug, Clone, Copy)]
pub struct RouteInfo {
    /// The method.
    pub method: RouteMethod,
    /// The path, with placeholders in braces.
    pub pattern: &'static str,
    /// Who gets in.
    pub access: Access,
    handler: fn() -> Route,
}

macro_rules! routes {
    ($($method:ident $pattern:literal $access:expr => $handler:expr;)+) => {
        /// Every route of the dashboard. If two patterns match a path, the first one wins.
        pub const ROUTES: &[RouteInfo] = &[$(RouteInfo {
            method: RouteMethod::$method,
            pattern: $pattern,
            access: $access,
            handler: || web::to($handler),
        }),+];
    };
}

const READ: Access = Access::Member(Permission::Read);
const WRITE: Access = Access::Member(Permission::WriteLinks);
const DOMAINS: Access = Access::Member(Permission::WriteDomains);
const KEYS: Access = Access::Member(Permission::ManageKeys);
const ACCOUNT_ITSELF: Access = Access::Member(Permission::ManageAccount);
const MEMBERS: Access = Access::Member(Permission::ManageMembers);
const ANALYTICS: Access = Access::Member(Permission::ReadAnalytics);
const AUDIT: Access = Access::Member(Permission::ReadAudit);

routes! {
    Get "/" Access::User => home::home;
    Get "/first" Access::User => home::first;
    Get "/accounts" Access::User => home::accounts;
    Get "/assets/{name}" Access::Anybody => assets::asset;
    Get "/favicon.ico" Access::Anybody => assets::icon;
    Get "/start/{token}" Access::Anybody => entry::show_start;
    Post "/start/{token}" Access::Anybody => entry::start;
    Get "/invitation/{token}" Access::Anybody => entry::show_invitation;
    Post "/invitation/{token}" Access::Anybody => entry::accept;
    Get "/reset/{token}" Access::Anybody => entry::show_reset;
    Post "/reset/{token}" Access::Anybody => entry::reset;
    Get "/sign-in" Access::Anybody => sign_in::show;
    Post "/sign-in" Access::Anybody => sign_in::sign_in;
    Get "/sign-in/code" Access::Anybody => sign_in::show_code;
    Post "/sign-in/code" Access::Anybody => sign_in::sign_in_with_code;
    Get "/sign-in/provider" Access::Anybody => provider::sign_in;
    Get "/sign-in/provider/callback" Access::Anybody => provider::come_back;
    Get "/invitation/{token}/provider" Access::Anybody => provider::begin_acceptance;
    Post "/invitation/{token}/provider" Access::Anybody => provider::accept;
    Get "/confirm/provider" Access::User => provider::confirm;
    Get "/me/identity" Access::User => provider::connect;
    Post "/me/identity" Access::User => provider::bind;
    Post "/me/identity/disconnect" Access::User => provider::unbind;
    Post "/sign-out" Access::User => sign_in::sign_out;
    Get "/confirm" Access::User => sign_in::show_confirm;
    Post "/confirm" Access::User => sign_in::confirm;
    Get "/me" Access::User => me::show;
    Post "/me" Access::User => me::save;
    Post "/me/password" Access::User => me::change_password;
    Get "/me/second-factor" Access::User => second_factor::show;
    Get "/me/second-factor/set-up" Access::User => second_factor::show_set_up;
    Post "/me/second-factor/set-up" Access::User => second_factor::set_up;
    Post "/me/second-factor/recovery-codes" Access::User => second_factor::replace_codes;
    Post "/me/second-factor/remove" Access::User => second_factor::remove;
    Post "/me/sessions/end-others" Access::User => me::end_others;
    Post "/me/sessions/{id}/end" Access::User => me::end_session;
    Get "/audit" Access::Operator => audit::show_all;
    Get "/audit.ndjson" Access::Operator => audit::export_all;
    Get "/operator/accounts" Access::Operator => operator::accounts::show;
    Post "/operator/accounts" Access::Operator => operator::accounts::create;
    Get "/operator/accounts/{id}" Access::Operator => operator::account::show;
    Post "/operator/accounts/{id}/plan" Access::Operator => operator::account::set_plan;
    Post "/operator/accounts/{id}/suspend" Access::Operator => operator::account::suspend;
    Post "/operator/accounts/{id}/resume" Access::Operator => operator::account::resume;
    Get "/operator/accounts/{id}/delete" Access::Operator => operator::account::ask;
    Post "/operator/accounts/{id}/delete" Access::Operator => operator::account::delete;
    Get "/operator/users" Access::Operator => operator::users::show;
    Post "/operator/users" Access::Operator => operator::users::invite;
    Get "/operator/users/{id}" Access::Operator => operator::user::show;
    Post "/operator/users/{id}/disable" Access::Operator => operator::user::disable;
    Post "/operator/users/{id}/enable" Access::Operator => operator::user::enable;
    Post "/operator/users/{id}/sign-out" Access::Operator => operator::user::sign_out;
    Post "/operator/users/{id}/reset" Access::Operator => operator::user::reset;
    Post "/operator/users/{id}/disconnect" Access::Operator => operator::user::disconnect;
    Post "/operator/users/{id}/remove-second-factor" Access::Operator => operator::user::remove_second_factor;
    Get "/operator/sign-ins" Access::Operator => operator::sign_ins::show;
    Post "/operator/sign-ins" Access::Operator => operator::sign_ins::forget;
    Post "/operator/invitations/withdraw" Access::Operator => operator::users::withdraw;
    Get "/operator/health" Access::Operator => operator::health::show;
    Get "/{account}" READ => home::account;
    Get "/{account}/links" READ => links::list::show;
    Post "/{account}/links" WRITE => links::create::create;
    Get "/{account}/links/new" WRITE => links::create::show;
    Post "/{account}/links/bulk" WRITE => links::bulk::run;
    Get "/{account}/links/{id}" READ => links::edit::show;
    Post "/{account}/links/{id}" WRITE => links::edit::save;
    Post "/{account}/links/{id}/delete" WRITE => links::edit::delete;
    Get "/{account}/links/{id}/test" READ => links::explain::show_link;
    Get "/{account}/test" READ => links::explain::show_address;
    Get "/{account}/links/{id}/page" READ => links::editor::show;
    Post "/{account}/links/{id}/page" WRITE => links::editor::send;
    Get "/{account}/links/{id}/page/preview" READ => links::editor::show_preview;
    Get "/{account}/links/{id}/page/accent" READ => links::editor::judge_accent;
    Get "/{account}/links/{id}/qr.svg" READ => links::qr::svg;
    Get "/{account}/links/{id}/analytics" ANALYTICS => analytics::show_link;
    Get "/{account}/links/{id}/analytics.csv" ANALYTICS => analytics::save_link;
    Get "/{account}/links/{id}/analytics/live" ANALYTICS => analytics::live::of_link;
    Get "/{account}/analytics/live" ANALYTICS => analytics::live::of_account;
    Get "/{account}/analytics" ANALYTICS => analytics::show_account;
    Get "/{account}/analytics.csv" ANALYTICS => analytics::save_account;
    Get "/{account}/domains" READ => domains::list::show;
    Post "/{account}/domains" DOMAINS => domains::list::connect;
    Get "/{account}/domains/{id}" READ => domains::single::show;
    Post "/{account}/domains/{id}" DOMAINS => domains::visitors::save;
    Post "/{account}/domains/{id}/verify" DOMAINS => domains::single::verify;
    Post "/{account}/domains/{id}/delete" DOMAINS => domains::single::delete;
    Get "/{account}/groups" READ => groups::show;
    Post "/{account}/groups" WRITE => groups::create;
    Post "/{account}/groups/{id}" WRITE => groups::rename;
    Post "/{account}/groups/{id}/delete" WRITE => groups::delete;
    Get "/{account}/tags" READ => tags::show;
    Post "/{account}/tags/{id}" WRITE => tags::rename;
    Post "/{account}/tags/{id}/delete" WRITE => tags::delete;
    Get "/{account}/pixels" READ => pixels::show;
    Post "/{account}/pixels" WRITE => pixels::create;
    Post "/{account}/pixels/{id}/delete" WRITE => pixels::delete;
    Get "/{account}/keys" READ => keys::show;
    Post "/{account}/keys" KEYS => keys::issue;
    Post "/{account}/keys/{id}/revoke" KEYS => keys::revoke;
    Get "/{account}/members" READ => members::show;
    Post "/{account}/members" MEMBERS => members::invite;
    Post "/{account}/members/leave" READ => members::leave;
    Post "/{account}/members/withdraw" MEMBERS => members::withdraw;
    Post "/{account}/members/{id}" MEMBERS => members::change_role;
    Post "/{account}/members/{id}/remove" MEMBERS => members::remove;
    Get "/{account}/audit" AUDIT => audit::show;
    Get "/{account}/audit.ndjson" AUDIT => audit::export;
    Get "/{account}/settings" READ => settings::show;
    Post "/{account}/settings" ACCOUNT_ITSELF => settings::save;
    Post "/{account}/settings/second-factor" ACCOUNT_ITSELF => settings::require_second_factor;
    Get "/{account}/settings/delete" ACCOUNT_ITSELF => settings::ask;
    Post "/{account}/settings/delete" ACCOUNT_ITSELF => settings::delete;
    Get "/{account}/export.csv" READ => export::export_csv;
    Get "/{account}/export.jsonl" READ => export::export_json_lines;
    Get "/{account}/export-everything.jsonl" ANALYTICS => export::export_everything;
    Get "/{account}/export-pages.jsonl" READ => export::export_pages;
    Get "/{account}/export-clicks.csv" ANALYTICS => export::export_clicks_csv;
    Get "/{account}/export-clicks.jsonl" ANALYTICS => export::export_clicks_json_lines;
    Get "/{account}/usage" READ => usage::show;
}

/// A path with these parameters.
pub(crate) fn with_query<'a>(path: &str, parameters: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let query = query.extend_pairs(parameters).finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// The pattern that the request's path matches, for any method.
pub(crate) fn pattern_of(request: &ServiceRequest) -> Option<&'static str> {
    let pattern = request.resource_map().match_pattern(request.match_info().as_str())?;
    ROUTES.iter().map(|route| route.pattern).find(|known| *known == pattern)
}

/// Sets up routing from the table.
pub(crate) fn configure(config: &mut web::ServiceConfig) {
    for (position, first) in ROUTES.iter().enumerate() {
        let pattern = first.pattern;
        if ROUTES.iter().take(position).any(|earlier| earlier.pattern == pattern) {
            continue;
        }
        let mut resource = web::resource(pattern);
        for route in ROUTES.iter().filter(|route| route.pattern == pattern) {
            resource = resource.route((route.handler)().guard(takes(route.method)));
        }
        config.service(resource);
    }
}

fn takes(method: RouteMethod) -> impl guard::Guard {
    guard::fn_guard(move |context| match method {
        RouteMethod::Get => matches!(context.head().method.as_str(), "GET" | "HEAD"),
        RouteMethod::Post => context.head().method.as_str() == "POST",
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_route_is_listed_once() {
        let names: HashSet<_> = ROUTES.iter().map(|route| (route.method, route.pattern)).collect();
        assert_eq!(names.len(), ROUTES.len());
    }

    #[test]
    fn d67_the_screens_of_an_account_are_under_its_id() {
        for route in ROUTES {
            let is_of_account = route.pattern.starts_with("/{account}");
            assert_eq!(is_of_account, matches!(route.access, Access::Member(_)), "{}", route.pattern);
        }
    }
}

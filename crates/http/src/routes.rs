//! The table of endpoints. Routing, the `Allow` header and the metrics' labels come from it, and tests iterate over it.

use std::future::{Ready, ready};

use actix_web::dev::ServiceRequest;
use actix_web::{HttpResponse, Route, guard, web};
use signpost_domain::id::{LandingKind, RedirectKind};

use crate::api_error::ApiError;
use crate::resources::links::LinkEndpoints as _;
use crate::resources::{account, domains, groups, links, pixels, redirects};
use crate::{analytics, documentation, health, tls_allowed};

/// One endpoint.
#[derive(Debug, Clone, Copy)]
pub struct RouteInfo {
    /// The method. Where it is `GET`, `HEAD` works too.
    pub method: RouteMethod,
    /// The path, with the placeholders `{id}` and `{file}`.
    pub pattern: &'static str,
    /// Who may call it.
    pub access: Access,
    handler: fn() -> Route,
}

/// The method of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RouteMethod {
    /// Reads; so does `HEAD` on the same path.
    Get,
    /// Creates.
    Post,
    /// Changes.
    Patch,
    /// Deletes.
    Delete,
}

impl RouteMethod {
    /// The name in a request.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// The methods that it adds to `Allow`.
    const fn allowed(self) -> &'static [&'static str] {
        match self {
            Self::Get => &["GET", "HEAD"],
            Self::Post => &["POST"],
            Self::Patch => &["PATCH"],
            Self::Delete => &["DELETE"],
        }
    }
}

/// Who may call an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Admitted callers: with a valid key, a plan with the API, and quota left (D7). All paths under `/v1`, and only those.
    Admitted,
    /// Anyone, without a key.
    Open,
}

const fn admitted(method: RouteMethod, pattern: &'static str, handler: fn() -> Route) -> RouteInfo {
    RouteInfo { method, pattern, access: Access::Admitted, handler }
}

const fn open(method: RouteMethod, pattern: &'static str, handler: fn() -> Route) -> RouteInfo {
    RouteInfo { method, pattern, access: Access::Open, handler }
}

const REDIRECTS: &str = RedirectKind::WORDS.path;
const LANDINGS: &str = LandingKind::WORDS.path;
const REDIRECT: &str = RedirectKind::WORDS.path_of_one;
const LANDING: &str = LandingKind::WORDS.path_of_one;
const GROUP: &str = "/v1/groups/{id}";
const PIXEL: &str = "/v1/pixels/{id}";
const DOMAIN: &str = "/v1/domains/{id}";

/// If two patterns match a path, the first one wins.
static ROUTES: &[RouteInfo] = &[
    admitted(RouteMethod::Post, "/v1/redirects/bulk", || web::to(redirects::create_many)),
    admitted(RouteMethod::Post, RedirectKind::WORDS.path_of_bulk_deletion, || {
        web::to(links::delete_many::<RedirectKind>)
    }),
    admitted(RouteMethod::Post, REDIRECTS, || web::to(links::create::<RedirectKind>)),
    admitted(RouteMethod::Get, REDIRECTS, || web::to(links::list::<RedirectKind>)),
    admitted(RouteMethod::Get, REDIRECT, || web::to(links::get::<RedirectKind>)),
    admitted(RouteMethod::Patch, REDIRECT, || web::to(links::update::<RedirectKind>)),
    admitted(RouteMethod::Delete, REDIRECT, || web::to(links::delete::<RedirectKind>)),
    admitted(RouteMethod::Post, LandingKind::WORDS.path_of_bulk_deletion, || {
        web::to(links::delete_many::<LandingKind>)
    }),
    admitted(RouteMethod::Post, LANDINGS, || web::to(links::create::<LandingKind>)),
    admitted(RouteMethod::Get, LANDINGS, || web::to(links::list::<LandingKind>)),
    admitted(RouteMethod::Get, LANDING, || web::to(links::get::<LandingKind>)),
    admitted(RouteMethod::Patch, LANDING, || web::to(links::update::<LandingKind>)),
    admitted(RouteMethod::Delete, LANDING, || web::to(links::delete::<LandingKind>)),
    admitted(RouteMethod::Post, "/v1/groups/{id}/assign", || web::to(groups::assign)),
    admitted(RouteMethod::Post, "/v1/groups/{id}/unassign", || web::to(groups::unassign)),
    admitted(RouteMethod::Post, groups::PATH, || web::to(groups::create)),
    admitted(RouteMethod::Get, groups::PATH, || web::to(groups::list)),
    admitted(RouteMethod::Get, GROUP, || web::to(groups::get)),
    admitted(RouteMethod::Patch, GROUP, || web::to(groups::rename)),
    admitted(RouteMethod::Delete, GROUP, || web::to(groups::delete)),
    admitted(RouteMethod::Post, pixels::PATH, || web::to(pixels::create)),
    admitted(RouteMethod::Get, pixels::PATH, || web::to(pixels::list)),
    admitted(RouteMethod::Get, PIXEL, || web::to(pixels::get)),
    admitted(RouteMethod::Delete, PIXEL, || web::to(pixels::delete)),
    admitted(RouteMethod::Post, "/v1/domains/{id}/verify", || web::to(domains::verify)),
    admitted(RouteMethod::Post, domains::PATH, || web::to(domains::connect)),
    admitted(RouteMethod::Get, domains::PATH, || web::to(domains::list)),
    admitted(RouteMethod::Get, DOMAIN, || web::to(domains::get)),
    admitted(RouteMethod::Delete, DOMAIN, || web::to(domains::delete)),
    admitted(RouteMethod::Get, analytics::PATH, || web::to(analytics::report::of_account)),
    admitted(RouteMethod::Get, "/v1/analytics/clicks", || web::to(analytics::clicks::of_account)),
    admitted(RouteMethod::Get, "/v1/redirects/{id}/analytics", || {
        web::to(analytics::report::of_link::<RedirectKind>)
    }),
    admitted(RouteMethod::Get, "/v1/redirects/{id}/analytics/clicks", || {
        web::to(analytics::clicks::of_link::<RedirectKind>)
    }),
    admitted(RouteMethod::Get, "/v1/landings/{id}/analytics", || {
        web::to(analytics::report::of_link::<LandingKind>)
    }),
    admitted(RouteMethod::Get, "/v1/landings/{id}/analytics/clicks", || {
        web::to(analytics::clicks::of_link::<LandingKind>)
    }),
    admitted(RouteMethod::Get, "/v1/account", || web::to(account::get)),
    open(RouteMethod::Get, "/health/live", || web::to(health::live)),
    open(RouteMethod::Get, "/health/ready", || web::to(health::ready)),
    open(RouteMethod::Get, "/health/links", || web::to(health::links)),
    open(RouteMethod::Get, tls_allowed::PATH, || web::to(tls_allowed::handle)),
    open(RouteMethod::Get, documentation::DOCUMENT, || web::to(documentation::document)),
    open(RouteMethod::Get, documentation::PAGE, || web::to(documentation::page)),
    open(RouteMethod::Get, documentation::FILE, || web::to(documentation::file)),
];

/// Every endpoint of the API listener. Other paths get a 404, and other methods a 405.
#[must_use]
pub fn route_table() -> &'static [RouteInfo] {
    ROUTES
}

/// Whether a path is under `/v1`, where only admitted callers may learn which paths exist (D7).
pub(crate) fn is_under_v1(path: &str) -> bool {
    path.strip_prefix("/v1").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The pattern that the request's path matches, for any method; `unmatched` if none does.
pub(crate) fn pattern_of(request: &ServiceRequest) -> &'static str {
    let pattern = request.resource_map().match_pattern(request.match_info().as_str());
    let route = pattern.and_then(|pattern| ROUTES.iter().find(|route| route.pattern == pattern));
    route.map_or("unmatched", |route| route.pattern)
}

/// Sets up routing from the table.
pub(crate) fn configure(config: &mut web::ServiceConfig) {
    for (position, first) in ROUTES.iter().enumerate() {
        let pattern = first.pattern;
        if ROUTES.iter().take(position).any(|earlier| earlier.pattern == pattern) {
            continue;
        }
        let of_this_path = || ROUTES.iter().filter(|route| route.pattern == pattern);
        let mut resource = web::resource(pattern);
        for route in of_this_path() {
            resource = resource.route((route.handler)().guard(takes(route.method)));
        }
        let allow =
            of_this_path().flat_map(|route| route.method.allowed()).copied().collect::<Vec<_>>().join(", ");
        config.service(resource.default_service(web::to(move || method_not_allowed(allow.clone()))));
    }
    config.default_service(web::to(no_such_path));
}

fn takes(method: RouteMethod) -> impl guard::Guard {
    guard::fn_guard(move |context| method.allowed().contains(&context.head().method.as_str()))
}

fn method_not_allowed(allow: String) -> Ready<Result<HttpResponse, ApiError>> {
    ready(Err(ApiError::MethodNotAllowed { allow }))
}

fn no_such_path() -> Ready<Result<HttpResponse, ApiError>> {
    ready(Err(ApiError::NoSuchPath))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn d7_exactly_the_routes_under_v1_need_admission() {
        for route in route_table() {
            assert_eq!(is_under_v1(route.pattern), route.access == Access::Admitted, "{}", route.pattern);
        }
    }

    #[test]
    fn every_route_is_listed_once() {
        let names: HashSet<_> = ROUTES.iter().map(|route| (route.method, route.pattern)).collect();
        assert_eq!(names.len(), ROUTES.len());
    }

    #[test]
    fn d7_a_path_is_under_v1_by_whole_segments() {
        for under in ["/v1", "/v1/", "/v1/redirects", "/v1//", "/v1/../health/live"] {
            assert!(is_under_v1(under), "{under}");
        }
        for elsewhere in ["", "/", "/v", "/v10", "/v1x/redirects", "/V1/redirects", "//v1/redirects", "v1"] {
            assert!(!is_under_v1(elsewhere), "{elsewhere}");
        }
    }
}

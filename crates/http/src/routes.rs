//! The table of endpoints. Routing, the `Allow` header and the metrics' labels come from it, and tests iterate over it. Its rows
//! are declared with their descriptions, in the sections of their subjects.

use std::future::{Ready, ready};
use std::sync::LazyLock;

use actix_web::dev::ServiceRequest;
use actix_web::http::Method;
use actix_web::http::header::{ACCEPT, LOCATION};
use actix_web::{HttpRequest, HttpResponse, Route, guard, web};
use signpost_domain::{LinkId, Permission};

use crate::api_error::ApiError;
use crate::documentation;
use crate::endpoint::{Access, ReadAhead, RouteMethod};
use crate::openapi::operation::Endpoint;
use crate::resources::explanations;
use crate::sections;

/// One endpoint.
#[derive(Debug, Clone, Copy)]
pub struct RouteInfo {
    /// The method. Where it is `GET`, `HEAD` works too.
    pub method: RouteMethod,
    /// The path, with the placeholders `{id}`, `{external_id}` and `{file}`.
    pub pattern: &'static str,
    /// Who may call it.
    pub access: Access,
    handler: fn() -> Route,
    read_ahead: Option<ReadAhead>,
}

impl RouteInfo {
    /// The scope that a key needs to call it (D80); `None` for the account itself, and outside `/v1`.
    #[must_use]
    pub fn scope(&self) -> Option<Permission> {
        let resource = self.pattern.strip_prefix("/v1/").filter(|resource| *resource != "account")?;
        Some(if resource.split('/').any(|part| part == "analytics") {
            Permission::ReadAnalytics
        } else if self.method == RouteMethod::Get || ASKING.contains(&self.pattern) {
            Permission::Read
        } else if resource.starts_with("domains") {
            Permission::WriteDomains
        } else {
            Permission::WriteLinks
        })
    }
}

/// The patterns of a `POST` that asks for something, and changes nothing (D136).
const ASKING: [&str; 2] = [explanations::TEST, explanations::EXPLAIN];

/// The placeholder of an id in a pattern.
const ID: &str = "{id}";

/// The path of the documentation, as some people write it.
const DOCS_WITH_SLASH: &str = "/docs/";

/// If two patterns match a path, the first one wins, so paths without placeholders come first.
static ROUTES: LazyLock<Vec<RouteInfo>> = LazyLock::new(|| {
    let mut routes: Vec<RouteInfo> = sections::endpoints().map(RouteInfo::from).collect();
    routes.sort_by_key(|route| route.pattern.contains('{'));
    routes
});

impl From<Endpoint> for RouteInfo {
    fn from(endpoint: Endpoint) -> Self {
        let Endpoint { method, path, access, handler, read_ahead, .. } = endpoint;
        Self { method, pattern: path, access, handler, read_ahead }
    }
}

/// Every endpoint of the API listener. Other paths get a 404, and other methods a 405.
#[must_use]
pub fn route_table() -> &'static [RouteInfo] {
    &ROUTES
}

/// Whether a path is under `/v1`, where only admitted callers may learn which paths exist (D7).
pub(crate) fn is_under_v1(path: &str) -> bool {
    path.strip_prefix("/v1").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The pattern that the request's path matches, for any method.
pub(crate) fn pattern_of(request: &ServiceRequest) -> Option<&'static str> {
    let pattern = request.resource_map().match_pattern(request.match_info().as_str())?;
    ROUTES.iter().map(|route| route.pattern).find(|known| *known == pattern)
}

/// The scope that a request with this method and pattern needs.
pub(crate) fn scope_of(method: &Method, pattern: &str) -> Option<Permission> {
    ROUTES.iter().find(|route| route.pattern == pattern && route.method.takes(method))?.scope()
}

/// The link to read together with the key for a request with this pattern and path.
pub(crate) fn link_to_read(method: &Method, pattern: &str, path: &str) -> Option<LinkId> {
    let is_asked = |route: &&RouteInfo| route.pattern == pattern && route.method.takes(method);
    let read_ahead = ROUTES.iter().find(is_asked)?.read_ahead?;
    path.strip_prefix(pattern.strip_suffix(ID)?).and_then(read_ahead)
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
    guard::fn_guard(move |context| method.takes(&context.head().method))
}

fn method_not_allowed(allow: String) -> Ready<Result<HttpResponse, ApiError>> {
    ready(Err(ApiError::MethodNotAllowed { allow }))
}

/// People who open the address of the API in a browser are led to its documentation (D7).
async fn no_such_path(request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let accepts_pages = || {
        let accepted = request.headers().get_all(ACCEPT).filter_map(|accept| accept.to_str().ok());
        accepted.flat_map(|accept| accept.split(',')).any(|range| range.trim_start().starts_with("text/html"))
    };
    let is_led_on = reads && (request.path() == DOCS_WITH_SLASH || request.path() == "/" && accepts_pages());
    if is_led_on {
        Ok(HttpResponse::Found().insert_header((LOCATION, documentation::PAGE)).finish())
    } else {
        Err(ApiError::NoSuchPath)
    }
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
    fn only_a_get_of_one_redirect_reads_it_ahead() {
        let id = "rdr_019b5a3c6e2d7f4880112233445566aa";
        let (pattern, path) = ("/v1/redirects/{id}", format!("/v1/redirects/{id}"));
        for method in [Method::GET, Method::HEAD] {
            let link = link_to_read(&method, pattern, &path).map(|link| link.to_string());
            assert_eq!(link.as_deref(), Some(id));
            assert_eq!(link_to_read(&method, pattern, "/v1/redirects/x"), None);
        }
        for method in [Method::PATCH, Method::DELETE, Method::POST] {
            assert_eq!(link_to_read(&method, pattern, &path), None);
        }
        assert!(route_table().iter().any(|route| route.pattern == pattern));
        for other in route_table().iter().filter(|route| route.pattern != pattern) {
            let path = other.pattern.replace(ID, id);
            assert_eq!(link_to_read(&Method::GET, other.pattern, &path), None, "{path}");
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

//! R26: hostile bodies, on every route that takes one. Each is a documented 4xx in the envelope, within bounded time,
//! and changes nothing. (That no answer is a 5xx, and that each has the envelope, the harness checks for every answer.)

mod bodies;
mod framing;

use std::time::{Duration, Instant};

use serde_json::Value;
use signpost_http::{RouteInfo, route_table};

use crate::harness::{Account, Answer, Program};

/// Far more than any refusal takes, also on a busy machine, and far less than what a mistake that grows with the
/// square of the body would.
const BOUNDED: Duration = Duration::from_secs(10);

/// A route that takes a body.
struct BodyRoute {
    method: &'static str,
    pattern: &'static str,
    path: String,
    /// A body that would change something.
    valid: String,
    /// Bodies in which something hostile stands in place of the `@`. Nothing that can stand there makes them change
    /// anything, unless it is a valid value.
    templates: Vec<&'static str>,
    /// Whether items fail by themselves, so that a batch of failures is a 200 (contract "Bulk results").
    is_bulk: bool,
}

/// A program, an account with a few things in it, and every route that takes a body.
struct Scene {
    program: Program,
    account: Account,
    routes: Vec<BodyRoute>,
}

impl Scene {
    fn new() -> Self {
        let program = Program::builder().with_edge().start();
        let account = program.first_account();
        let redirect = text(&account.new_redirect()["id"]);
        let landing = text(
            &account.post("/v1/landings", &serde_json::json!({"title": "x"})).expect_status(201).body["id"],
        );
        let group = text(&account.create_group("g")["id"]);
        let is_taking = |route: &&RouteInfo| {
            // It takes no body, and an empty object for none.
            let is_bare = route.pattern == "/v1/domains/{id}/verify";
            matches!(route.method.as_str(), "POST" | "PATCH") && !is_bare
        };
        let taking = route_table().iter().filter(is_taking);
        let routes: Vec<_> = taking.map(|route| body_route(route, [&redirect, &landing, &group])).collect();
        assert!(routes.len() >= 11, "{}", routes.len());
        Self { program, account, routes }
    }

    /// Every route with each of its templates.
    fn templates(&self) -> impl Iterator<Item = (&BodyRoute, &'static str)> {
        self.routes.iter().flat_map(|route| route.templates.iter().map(move |template| (route, *template)))
    }

    fn send(&self, route: &BodyRoute, body: &[u8]) -> Answer {
        let begun = Instant::now();
        let answer = self.account.send_bytes(route.method, &route.path, "application/json", body);
        assert!(begun.elapsed() < BOUNDED, "{} {} took {:?}", route.method, route.path, begun.elapsed());
        answer
    }

    /// All that the account has.
    fn everything(&self) -> [Vec<Value>; 4] {
        ["/v1/redirects", "/v1/landings", "/v1/groups", "/v1/domains"].map(|path| self.account.walk(path, ""))
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// What is known of a route. One that is not here fails every test of this module.
fn body_route(route: &RouteInfo, [redirect, landing, group]: [&str; 3]) -> BodyRoute {
    let (method, pattern) = (route.method.as_str(), route.pattern);
    let (id, valid, templates): (_, String, Vec<&str>) = match (method, pattern) {
        ("POST", "/v1/redirects") => (
            "",
            r#"{"name":"new","target_url":"https://example.com"}"#.to_owned(),
            vec![
                r#"{"name":@,"target_url":"https://example.com"}"#,
                r#"{"name":"x","target_url":@}"#,
                r#"{"name":"x","target_url":"https://example.com","geo_blocklists":{"countries":["DE",@]}}"#,
            ],
        ),
        ("PATCH", "/v1/redirects/{id}") => (
            redirect,
            r#"{"name":"renamed"}"#.to_owned(),
            vec![r#"{"name":@}"#, r#"{"geo_blocklists":{"countries":["DE",@]}}"#],
        ),
        ("POST", "/v1/landings") => ("", r#"{"title":"new"}"#.to_owned(), vec![r#"{"title":@}"#]),
        ("PATCH", "/v1/landings/{id}") => {
            (landing, r#"{"title":"renamed"}"#.to_owned(), vec![r#"{"title":@}"#])
        }
        ("POST", "/v1/pixels") => (
            "",
            r#"{"pixel_type":"meta","pixel_id":"123456789012345"}"#.to_owned(),
            vec![r#"{"pixel_type":"meta","pixel_id":@}"#],
        ),
        ("POST", "/v1/domains") => {
            ("", r#"{"hostname":"links.example.org"}"#.to_owned(), vec![r#"{"hostname":@}"#])
        }
        ("POST", "/v1/groups") => ("", r#"{"name":"new"}"#.to_owned(), vec![r#"{"name":@}"#]),
        ("PATCH", "/v1/groups/{id}") => (group, r#"{"name":"renamed"}"#.to_owned(), vec![r#"{"name":@}"#]),
        ("POST", "/v1/redirects/bulk") => (
            "",
            r#"{"redirects":[{"name":"new","target_url":"https://example.com"}]}"#.to_owned(),
            vec![
                r#"{"redirects":[{"name":"x"},@]}"#,
                r#"{"redirects":[{"name":"x"},{"name":@,"target_url":"https://example.com"}]}"#,
                r#"{"redirects":[{"name":"x","target_url":"https://example.com","geo_blocklists":{"countries":["DE",@]}}]}"#,
            ],
        ),
        ("POST", "/v1/redirects/bulk/delete") => {
            ("", format!(r#"{{"redirect_ids":["{redirect}"]}}"#), vec![r#"{"redirect_ids":["rdr_0",@]}"#])
        }
        ("POST", "/v1/landings/bulk/delete") => {
            ("", format!(r#"{{"landing_ids":["{landing}"]}}"#), vec![r#"{"landing_ids":["lnd_0",@]}"#])
        }
        ("POST", "/v1/groups/{id}/assign" | "/v1/groups/{id}/unassign") => {
            (group, format!(r#"{{"link_ids":["{redirect}"]}}"#), vec![r#"{"link_ids":["rdr_0",@]}"#])
        }
        unknown => panic!("what does {unknown:?} take? tell this test"),
    };
    let is_bulk = ["/bulk", "/bulk/delete", "/assign", "/unassign"].iter().any(|end| pattern.ends_with(end));
    BodyRoute { method, pattern, path: pattern.replace("{id}", id), valid, templates, is_bulk }
}

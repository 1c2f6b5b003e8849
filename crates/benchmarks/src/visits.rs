//! The cost of a visit, by the domain of the link and by its target.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use signpost_test_servers::dns::{NameServer, Record};

use super::connection::{Api, Connection};
use super::turns::{self, Turns};
use signpost_xtask::program::Program;

const HOSTNAME: &str = "links.shop.test";
const EDGE: &str = "edge.example.net";
const REFERENCE: &str = "on the system domain";

/// Visits several kinds of links in turns.
pub(super) fn run(executable: &Path, turns: Turns) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let dns = NameServer::start();
    let dns_address = dns.address().to_string();
    let settings = [
        "--dns-servers",
        &dns_address,
        "--edge-hostname",
        EDGE,
        "--allow-special-use",
        "test",
        "--custom-domain-scheme",
        "http",
    ];
    let program = Program::start_with(executable, folder.path(), &settings)?;
    let mut api = Api::connect(&program)?;
    activate(&mut api, &dns)?;

    // A target with one path segment may be an address of ours, which costs a look-up; with two segments it cannot.
    let elsewhere = "https://example.com/somewhere/else";
    let visits = [
        (REFERENCE, visit_of(&mut api, "localhost", elsewhere)?),
        ("on a custom domain", visit_of(&mut api, HOSTNAME, elsewhere)?),
        (
            "to what may be an address of ours",
            visit_of(&mut api, "localhost", "https://example.com/somewhere")?,
        ),
        ("by way of a custom domain", {
            let next = visit_of(&mut api, HOSTNAME, elsewhere)?;
            visit_of(&mut api, "localhost", &format!("http://{HOSTNAME}/{}", next.slug))?
        }),
    ];
    let mut links = Connection::open(&program.links)?;
    let figures = turns.take(visits, |visit| links.send(&visit.request).map(drop))?;
    drop(program);
    turns::print(&figures, REFERENCE)
}

/// Makes the hostname an active domain.
fn activate(api: &mut Api, dns: &NameServer) -> Result<()> {
    let domain = answer(api, "/v1/domains", &json!({"hostname": HOSTNAME}))?;
    let records = domain.get("dns_instructions").and_then(Value::as_array).context("no instructions")?;
    for record in records {
        let [of_type, name, value] = ["type", "name", "value"].map(|field| text(record, field));
        let (of_type, name, value) = (of_type?, name?, value?);
        dns.set(name, vec![if of_type == "CNAME" { Record::alias(value) } else { Record::text(value) }]);
    }
    let verified = answer(api, &format!("/v1/domains/{}/verify", text(&domain, "id")?), &json!({}))?;
    ensure!(text(&verified, "status")? == "active", "{verified}");
    Ok(())
}

/// A visit of a link.
struct Visit {
    slug: String,
    request: Vec<u8>,
}

/// The visit of a new link on a domain.
fn visit_of(api: &mut Api, domain: &str, target: &str) -> Result<Visit> {
    let link =
        answer(api, "/v1/redirects", &json!({"name": "A link", "domain": domain, "target_url": target}))?;
    let slug = text(&link, "slug")?.to_owned();
    let request = format!("GET /{slug} HTTP/1.1\r\nHost: {domain}\r\n\r\n").into_bytes();
    Ok(Visit { slug, request })
}

fn answer(api: &mut Api, path: &str, body: &Value) -> Result<Value> {
    Ok(serde_json::from_str(&api.post(path, &body.to_string())?)?)
}

fn text<'a>(object: &'a Value, field: &'static str) -> Result<&'a str> {
    object.get(field).and_then(Value::as_str).context(field)
}

//! The visited links.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use serde_json::{Value, json};
use signpost_test_servers::dns::{NameServer, Record};
use tempfile::TempDir;

use super::machine;
use crate::connection::ApiClient;
use crate::link_features::LinkFeature;
use signpost_xtask::program::Program;

/// A custom domain, whose root is a link.
pub(super) const HOSTNAME: &str = "links.shop.test";
const EDGE: &str = "edge.example.net";

/// The path of a landing page.
pub(super) const LANDING: &str = "/landing";

/// The file that marks a folder with all links.
const MARK: &str = "links.json";

/// An address without a name server, so that the domain keeps its state.
const NOWHERE: &str = "127.0.0.1:9";

/// How many links with each feature there are.
pub(super) const SPECIAL: u32 = 1_000;

/// The path of the link with this number.
pub(crate) fn path_of(number: u32) -> String {
    format!("/s{number}")
}

/// An embedded store with links, a landing page and a custom domain.
pub(super) struct Scenery {
    executable: PathBuf,
    folder: PathBuf,
    core: u32,
    /// Which of them there are.
    pub(super) special: Vec<LinkFeature>,
    /// Removes the folder on drop, unless the caller named it.
    _temporary: Option<TempDir>,
}

impl Scenery {
    /// Creates the links, or finds those in the folder from an earlier run.
    pub(super) fn set_up(executable: &Path, folder: Option<&Path>, links: u32, core: u32) -> Result<Self> {
        let temporary = if folder.is_none() { Some(tempfile::tempdir()?) } else { None };
        let folder = folder.or(temporary.as_ref().map(TempDir::path)).context("no folder")?;
        fs::create_dir_all(folder)?;
        let folder = folder.canonicalize()?;
        let mark = folder.join(MARK);
        let special = if mark.exists() {
            let loaded: Value = serde_json::from_str(&fs::read_to_string(&mark)?)?;
            ensure!(loaded.get("links") == Some(&json!(links)), "{} has {loaded}", folder.display());
            let is_there = |feature: &LinkFeature| loaded.get(feature.field()) == Some(&json!(true));
            LinkFeature::AT_FULL_SPEED.into_iter().filter(is_there).collect()
        } else {
            let special = make(executable, &folder, links)?;
            let mut made = json!({"links": links});
            for feature in &special {
                if let Value::Object(made) = &mut made {
                    made.insert(feature.field().to_owned(), json!(true));
                }
            }
            fs::write(&mark, made.to_string())?;
            special
        };
        Ok(Self { executable: executable.to_owned(), folder, core, special, _temporary: temporary })
    }

    /// A copy in its own folder, for a second program at the same time.
    pub(super) fn twin(&self) -> Result<Self> {
        let temporary = tempfile::tempdir()?;
        for file in fs::read_dir(&self.folder)? {
            let file = file?;
            if file.file_type()?.is_file() {
                fs::copy(file.path(), temporary.path().join(file.file_name()))?;
            }
        }
        let folder = temporary.path().canonicalize()?;
        let Self { executable, core, special, .. } = self;
        let (executable, core, special) = (executable.clone(), *core, special.clone());
        Ok(Self { executable, folder, core, special, _temporary: Some(temporary) })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts the program on one core, with these additional settings.
    pub(super) fn start(&self, settings: &[&str]) -> Result<Program> {
        let command = machine::on_core(self.core, &self.executable);
        Program::start_by(command, &self.folder, &[&arguments(NOWHERE), settings].concat())
    }
}

fn arguments(name_server: &str) -> Vec<&str> {
    ["--dns-servers", name_server, "--edge-hostname", EDGE, "--allow-special-use", "test"]
        .into_iter()
        .chain(["--custom-domain-scheme", "http", "--miss-throttle-per-minute", "0"])
        .collect()
}

/// Creates everything, and returns the features of links that the program knows.
fn make(executable: &Path, folder: &Path, links: u32) -> Result<Vec<LinkFeature>> {
    let dns = NameServer::start();
    let name_server = dns.address().to_string();
    let program = Program::start_with(executable, folder, &arguments(&name_server))?;
    ensure!(!program.key.is_empty(), "{} has a store but not its links: remove it", folder.display());
    let caller = ApiClient::new(&program, &program.key);
    activate(&caller, &dns)?;
    let target = target_of(0);
    let root = json!({"name": "A link", "domain": HOSTNAME, "slug": null, "target_url": target});
    post(&caller, "/v1/redirects", &root)?;
    post(&caller, "/v1/landings", &landing())?;
    create(&caller, links, 2)?;
    let mut special = Vec::new();
    for feature in LinkFeature::AT_FULL_SPEED {
        if create_special(&caller, feature)? {
            special.push(feature);
        }
    }
    program.stop()?;
    Ok(special)
}

/// Makes the domain active.
fn activate(caller: &ApiClient, dns: &NameServer) -> Result<()> {
    let domain = post(caller, "/v1/domains", &json!({"hostname": HOSTNAME}))?;
    let records = domain.get("dns_instructions").and_then(Value::as_array).context("no instructions")?;
    for record in records {
        let [of_type, name, value] = ["type", "name", "value"].map(|field| text(record, field));
        let (of_type, name, value) = (of_type?, name?, value?);
        dns.set(name, vec![if of_type == "CNAME" { Record::alias(value) } else { Record::text(value) }]);
    }
    let verified = post(caller, &format!("/v1/domains/{}/verify", text(&domain, "id")?), &json!({}))?;
    ensure!(text(&verified, "status")? == "active", "{verified}");
    Ok(())
}

fn text<'a>(object: &'a Value, field: &'static str) -> Result<&'a str> {
    object.get(field).and_then(Value::as_str).context(field)
}

fn post(caller: &ApiClient, path: &str, body: &Value) -> Result<Value> {
    let mut connection = caller.connect()?;
    let answer = connection.send(&caller.request("POST", path, &body.to_string()))?;
    Ok(serde_json::from_slice(answer)?)
}

/// A page with eight widgets.
fn landing() -> Value {
    let url = "https://example.com/";
    let link = |title: &str| json!({"type": "link", "title": title, "url": url});
    let widgets = json!([
        {"type": "heading", "text": "This summer"},
        {"type": "text", "text": "All that is new, and where to find it."},
        link("Offers"),
        link("Recipes"),
        link("The shop"),
        {"type": "divider"},
        {"type": "social", "network": "mastodon", "url": url},
        {"type": "email", "address": "ada@example.com"},
    ]);
    json!({"title": "Summer", "description": "A page", "slug": "landing", "widgets": widgets})
}

/// The number of links that a request creates.
const BATCH: u32 = 100;

/// Creates the links with numbers below `links`, on `connections` connections.
pub(crate) fn create(caller: &ApiClient, links: u32, connections: u32) -> Result<()> {
    let step = usize::try_from(connections)?;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..connections)
            .map(|worker| scope.spawn(move || create_batches(caller, links, worker, step)))
            .collect();
        let mut joined = workers.into_iter().map(thread::ScopedJoinHandle::join);
        joined.try_for_each(|outcome| outcome.unwrap_or_else(|_| Err(anyhow!("a worker has panicked"))))
    })
}

fn create_batches(caller: &ApiClient, links: u32, first: u32, step: usize) -> Result<()> {
    let mut connection = caller.connect()?;
    for batch in (first..links.div_ceil(BATCH)).step_by(step) {
        let numbers = batch * BATCH..links.min((batch + 1) * BATCH);
        let link = |number| {
            let slug = path_of(number).split_off(1);
            json!({"name": "A link of the summer campaign", "slug": slug, "target_url": target_of(number)})
        };
        let body = json!({"redirects": numbers.map(link).collect::<Vec<_>>()}).to_string();
        let answer = connection.send(&caller.request("POST", "/v1/redirects/bulk", &body))?;
        let answer = String::from_utf8_lossy(answer);
        if !answer.contains("\"failed_count\":0") {
            bail!("{answer}");
        }
    }
    Ok(())
}

/// Creates links with a feature. Returns whether the program knows it.
fn create_special(caller: &ApiClient, feature: LinkFeature) -> Result<bool> {
    let mut connection = caller.connect()?;
    for batch in 0..SPECIAL / BATCH {
        let link = |number| {
            let mut link = json!({
                "name": "A link of the summer campaign", "slug": feature.path_of(number).split_off(1),
                "target_url": target_of(number),
            });
            if let (Value::Object(link), Value::Object(fields)) = (&mut link, feature.fields()) {
                link.extend(fields);
            }
            link
        };
        let numbers = batch * BATCH..(batch + 1) * BATCH;
        let body = json!({"redirects": numbers.map(link).collect::<Vec<_>>()}).to_string();
        let answer = connection.send(&caller.request("POST", "/v1/redirects/bulk", &body))?;
        if !String::from_utf8_lossy(answer).contains("\"failed_count\":0") {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A target of sixty bytes, different for each link.
pub(crate) fn target_of(number: u32) -> String {
    format!("https://example.com/shop/{number:07}/offers?utm_source=newslette")
}

#[cfg(test)]
mod tests {
    use super::target_of;

    #[test]
    fn targets_have_the_length_of_the_memory_goal() {
        assert_eq!([0, 9_999_999].map(|number| target_of(number).len()), [60; 2]);
    }
}

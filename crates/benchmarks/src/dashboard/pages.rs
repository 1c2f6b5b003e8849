//! The time of pages, and of a list of the API.

use std::cell::{Cell, RefCell};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::LIST;
use super::person::Person;
use crate::connection::{Api, ApiClient};
use crate::edge::scenery::{create, path_of};
use crate::turns::{self, Turns};
use signpost_xtask::program::Program;

/// How many requests of a session are well below its limit of a minute.
const REQUESTS_OF_A_SESSION: usize = 500;

/// On how many connections links are created.
const CREATORS: u32 = 2;

/// Reads pages of the dashboard and a list of the API in turns.
pub(super) fn run(executable: &Path, rounds: usize, requests: u32, links: u32) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = Program::start(executable, folder.path())?;
    let client = ApiClient::new(&program, &program.key);
    let group = group_of_links(&mut Api::connect(&program)?)?;
    create(&client, links, CREATORS)?;
    let middle = links / 2;
    let link = id_of(&client, &path_of(middle))?;
    let (_, position) = link.split_once('_').context("an id without a prefix")?;
    let person = Person::of_the_first_start(&program)?;
    let first = person.sign_in()?;
    let list = format!("/{}/links", person.account(&first)?);
    let reference = client.request("GET", LIST, "");
    let cases = [
        (LIST, None),
        ("the list of links", Some(list.clone())),
        ("its page in the middle", Some(format!("{list}?after={position}"))),
        ("the links of a group", Some(format!("{list}?group={group}"))),
        ("a search that finds all links", Some(format!("{list}?q=campaign"))),
        ("a search that finds one link", Some(format!("{list}?q=shop%2F{middle:07}%2F"))),
        ("the form of a link", Some(format!("{list}/{link}"))),
        ("the form of a new link", Some(format!("{list}/new"))),
        ("the usage", Some(list.replace("/links", "/usage"))),
    ];
    let pages = (rounds + 1) * usize::try_from(requests)? * (cases.len() - 1);
    let sessions =
        (0..=pages / REQUESTS_OF_A_SESSION).map(|_| person.sign_in()).collect::<Result<Vec<String>>>()?;
    let (to_api, to_dashboard) = (RefCell::new(client.connect()?), RefCell::new(person.connect()?));
    let sent = Cell::new(0_usize);
    let figures = Turns::new(rounds, requests).take(cases, |page: &Option<String>| match page {
        None => to_api.borrow_mut().send(&reference).map(drop),
        Some(path) => {
            let number = sent.replace(sent.get() + 1);
            let session = sessions.get(number / REQUESTS_OF_A_SESSION).context("too few sessions")?;
            to_dashboard.borrow_mut().send(&person.page(path, session)).map(drop)
        }
    })?;
    drop(program);
    turns::print(&figures, LIST)
}

/// Creates a group with a hundred links, the oldest of the account, and returns its id.
fn group_of_links(api: &mut Api) -> Result<String> {
    let group: Value =
        serde_json::from_str(&api.post("/v1/groups", &json!({ "name": "Spring" }).to_string())?)?;
    let group = group.get("id").and_then(Value::as_str).context("a group without an id")?.to_owned();
    let link = json!({ "name": "A link", "target_url": "https://example.com/somewhere", "group_id": group });
    api.post("/v1/redirects/bulk", &json!({ "redirects": vec![&link; 100] }).to_string())?;
    Ok(group)
}

/// The id of the link at a path of the system domain.
fn id_of(client: &ApiClient, path: &str) -> Result<String> {
    let slug = path.trim_start_matches('/');
    let mut connection = client.connect()?;
    let answer = connection.send(&client.request("GET", &format!("/v1/redirects?slug={slug}"), ""))?;
    let answer: Value = serde_json::from_slice(answer)?;
    let id = answer.pointer("/data/0/id").and_then(Value::as_str);
    Ok(id.with_context(|| format!("no link at {path}: {answer}"))?.to_owned())
}

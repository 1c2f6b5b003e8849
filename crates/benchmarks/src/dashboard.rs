//! The cost of pages of the dashboard, compared with a list of the API.

use std::cell::{Cell, RefCell};
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::connection::{Api, ApiClient, Connection};
use super::turns::{self, Turns};
use signpost_xtask::program::Program;

const REFERENCE: &str = "GET /v1/redirects?limit=25";
const PASSWORD: &str = "plover egg tin harbour";
const EMAIL: &str = "bench@example.com";

/// How many requests of a session are well below its limit of a minute.
const REQUESTS_OF_A_SESSION: usize = 500;

/// How many links the account has: several pages of the list.
const LINKS: usize = 300;

/// Reads pages of the dashboard and a list of the API in turns.
pub(super) fn run(executable: &Path, rounds: usize, requests: u32) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = Program::start(executable, folder.path())?;
    let mut api = Api::connect(&program)?;
    let link = json!({ "name": "A link", "target_url": "https://example.com/somewhere?utm_source=mail" });
    for _ in 0..LINKS / 100 {
        api.post("/v1/redirects/bulk", &json!({ "redirects": vec![&link; 100] }).to_string())?;
    }
    let person = Person::of_the_first_start(&program)?;
    let pages = (rounds + 1) * usize::try_from(requests)? * 3;
    let sessions =
        (0..=pages / REQUESTS_OF_A_SESSION).map(|_| person.sign_in()).collect::<Result<Vec<String>>>()?;
    let account = person.account(sessions.first().context("no session")?)?;
    let client = ApiClient::new(&program, &program.key);
    let reference = client.request("GET", "/v1/redirects?limit=25", "");
    let (to_api, to_dashboard) =
        (RefCell::new(client.connect()?), RefCell::new(Connection::open(&program.dashboard)?));
    let sent = Cell::new(0_usize);
    let cases = [
        (REFERENCE, None),
        ("the list of links", Some(format!("/{account}/links"))),
        ("the form of a new link", Some(format!("/{account}/links/new"))),
        ("the usage", Some(format!("/{account}/usage"))),
    ];
    let figures = Turns::new(rounds, requests).take(cases, |page: &Option<String>| match page {
        None => to_api.borrow_mut().send(&reference).map(drop),
        Some(path) => {
            let number = sent.replace(sent.get() + 1);
            let session = sessions.get(number / REQUESTS_OF_A_SESSION).context("too few sessions")?;
            to_dashboard.borrow_mut().send(&person.request("GET", path, session, "")).map(drop)
        }
    })?;
    drop(program);
    turns::print(&figures, REFERENCE)
}

/// The first user of a program.
struct Person {
    address: String,
    host: String,
}

impl Person {
    fn of_the_first_start(program: &Program) -> Result<Self> {
        let address = program.dashboard.clone();
        let (_, port) = address.rsplit_once(':').context("no port")?;
        let host = format!("localhost:{port}");
        let person = Self { address, host };
        let url = program.start_url.as_ref().context("there is a user already")?;
        let (_, token) = url.split_once("/start/").context("no ticket")?;
        let form = format!("email={EMAIL}&password={PASSWORD}&time_zone=UTC").replace(' ', "+");
        person.post(&format!("/start/{token}"), &form)?;
        Ok(person)
    }

    fn request(&self, method: &str, path: &str, session: &str, form: &str) -> Vec<u8> {
        let Self { address: _, host } = self;
        let length = form.len();
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nSec-Fetch-Site: same-origin\r\nCookie: signpost={session}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{form}"
        )
        .into_bytes()
    }

    /// Sends a form without a session, and returns the token of the new one.
    fn post(&self, path: &str, form: &str) -> Result<String> {
        let mut connection = Connection::open(&self.address)?;
        let request = self.request("POST", path, "", form);
        let answer = connection.exchange(&request)?;
        let head = answer.head();
        ensure!(answer.status == 303, "{path}: {head}");
        let cookie = head.lines().find_map(|line| line.split_once("signpost=").map(|(_, rest)| rest));
        let token = cookie.and_then(|cookie| cookie.split(';').next()).context("no cookie")?;
        Ok(token.to_owned())
    }

    fn sign_in(&self) -> Result<String> {
        self.post("/sign-in", &format!("email={EMAIL}&password={PASSWORD}").replace(' ', "+"))
    }

    /// The id of the account.
    fn account(&self, session: &str) -> Result<String> {
        let mut connection = Connection::open(&self.address)?;
        let answer = connection.exchange(&self.request("GET", "/", session, ""))?;
        let head = answer.head();
        let (_, rest) = head.split_once("/acc_").with_context(|| format!("no account: {head}"))?;
        Ok(format!("acc_{}", rest.get(..32).context("no id")?))
    }
}

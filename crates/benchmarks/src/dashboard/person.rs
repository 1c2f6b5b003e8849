//! The user of a program, as a browser.

use anyhow::{Context as _, Result, ensure};

use crate::connection::Connection;
use signpost_xtask::program::Program;

const PASSWORD: &str = "plover egg tin harbour";
const EMAIL: &str = "bench@example.com";

/// The first user of a program.
pub(crate) struct Person {
    address: String,
    host: String,
}

impl Person {
    pub(crate) fn of_the_first_start(program: &Program) -> Result<Self> {
        let address = program.dashboard.clone();
        let (_, port) = address.rsplit_once(':').context("no port")?;
        let host = format!("localhost:{port}");
        let person = Self { address, host };
        let url = program.start_url.as_ref().context("there is a user already")?;
        let (_, token) = url.split_once("/start/").context("no ticket")?;
        let form = format!("email={EMAIL}&password={PASSWORD}&time_zone=UTC").replace(' ', "+");
        person.post(&person.form(&format!("/start/{token}"), &form, ""))?;
        Ok(person)
    }

    pub(crate) fn connect(&self) -> Result<Connection> {
        Connection::open(&self.address)
    }

    /// The request of a page in a session.
    pub(crate) fn page(&self, path: &str, session: &str) -> Vec<u8> {
        let host = &self.host;
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: signpost={session}\r\n\r\n").into_bytes()
    }

    /// A request to sign in with the right password, through a proxy that names the address.
    pub(crate) fn signing_in(&self, from: &str) -> Vec<u8> {
        let form = format!("email={EMAIL}&password={PASSWORD}").replace(' ', "+");
        self.form("/sign-in", &form, &format!("X-Forwarded-For: {from}\r\n"))
    }

    /// The request that sends a form without a session.
    fn form(&self, path: &str, form: &str, more: &str) -> Vec<u8> {
        let (host, length) = (&self.host, form.len());
        format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nSec-Fetch-Site: same-origin\r\n{more}\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{form}"
        )
        .into_bytes()
    }

    /// Sends a request that opens a session, and returns the token of the session.
    fn post(&self, request: &[u8]) -> Result<String> {
        let mut connection = self.connect()?;
        let answer = connection.exchange(request)?;
        let head = answer.head();
        ensure!(answer.status == 303, "{head}");
        let cookie = head.lines().find_map(|line| line.split_once("signpost=").map(|(_, rest)| rest));
        let token = cookie.and_then(|cookie| cookie.split(';').next()).context("no cookie")?;
        Ok(token.to_owned())
    }

    /// Signs in, and returns the token of the session.
    pub(crate) fn sign_in(&self) -> Result<String> {
        self.post(&self.signing_in("192.0.2.1"))
    }

    /// The id of the account.
    pub(crate) fn account(&self, session: &str) -> Result<String> {
        let mut connection = self.connect()?;
        let answer = connection.exchange(&self.page("/", session))?;
        let head = answer.head();
        let (_, rest) = head.split_once("/acc_").with_context(|| format!("no account: {head}"))?;
        Ok(format!("acc_{}", rest.get(..32).context("no id")?))
    }
}

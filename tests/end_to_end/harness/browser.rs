//! A person at the dashboard, without a browser: cookies, forms, and the text of pages.

use std::collections::BTreeMap;

use super::program::Program;
use super::visitor::Visitor;

/// A password that is strong enough.
pub const PASSWORD: &str = "plover egg tin harbour";

/// A person with a session's cookie.
pub struct Person {
    client: Visitor,
    host: String,
    cookies: BTreeMap<String, String>,
    /// The value of `Remote-Email`, which a proxy sends.
    named: Option<String>,
}

/// An answer of the dashboard.
pub struct Page {
    pub status: u16,
    pub location: String,
    pub body: String,
}

impl Page {
    #[track_caller]
    pub fn expect_status(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }

    /// The value of the first hidden input with this name.
    pub fn hidden(&self, name: &str) -> String {
        let (_, rest) = self.body.split_once(&format!("name=\"{name}\" value=\"")).unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    /// The first id with this prefix in the location or the page.
    pub fn id(&self, prefix: &str) -> String {
        let place = format!("{} {}", self.location, self.body);
        let (_, rest) = place.split_once(prefix).unwrap_or_else(|| panic!("no {prefix} in {place}"));
        format!("{prefix}{}", rest.get(..32).unwrap())
    }

    /// The commands that the page shows, as a shell reads them.
    pub fn commands(&self) -> Vec<String> {
        let shown = self.body.split("<pre>").skip(1).map(|rest| rest.split("</pre>").next().unwrap());
        let plain = |text: &str| {
            [("&#34;", "\""), ("&#39;", "'"), ("&#60;", "<"), ("&#62;", ">"), ("&#38;", "&")]
                .into_iter()
                .fold(text.to_owned(), |text, (entity, character)| text.replace(entity, character))
        };
        shown.map(plain).collect()
    }
}

impl Person {
    /// Somebody who is not signed in.
    pub fn at(program: &Program) -> Self {
        let address = program.dashboard.as_ref().expect("the dashboard is on");
        let port = address.rsplit(':').next().unwrap();
        Self {
            client: Visitor::new(address),
            host: format!("localhost:{port}"),
            cookies: BTreeMap::new(),
            named: None,
        }
    }

    /// The same person's browser at another site of this machine, such as an identity provider.
    pub fn at_site(address: &str) -> Self {
        Self {
            client: Visitor::new(address),
            host: address.to_owned(),
            cookies: BTreeMap::new(),
            named: None,
        }
    }

    /// Somebody whom a proxy names by this e-mail address.
    pub fn named(program: &Program, email: &str) -> Self {
        Self { named: Some(email.to_owned()), ..Self::at(program) }
    }

    /// The owner of a new account, with its id.
    pub fn owner(program: &Program) -> (Self, String) {
        let account = program.account("agency");
        let id = account.id().to_owned();
        let email = format!("{}@example.com", id.get(4..).unwrap());
        let person = Self::invited(program, &email, &["--account", &id, "--role", "owner"]);
        (person, id)
    }

    /// A new user who accepts an invitation.
    pub fn invited(program: &Program, email: &str, arguments: &[&str]) -> Self {
        Self::invited_as(program, "Ada", email, arguments)
    }

    /// A new user with this name who accepts an invitation.
    pub fn invited_as(program: &Program, name: &str, email: &str, arguments: &[&str]) -> Self {
        let invite = [&["user", "invite", "--json", "--email", email], arguments].concat();
        let invitation = program.command(&invite);
        let url = invitation["invite_url"].as_str().unwrap();
        let path = url.split_once("/invitation/").unwrap().1;
        let mut person = Self::at(program);
        let form = [("name", name), ("password", PASSWORD), ("time_zone", "Europe/Berlin")];
        person.post(&format!("/invitation/{path}"), &form).expect_status(303);
        person
    }

    /// The same person at another node.
    pub fn also_at(&self, program: &Program) -> Self {
        Self { cookies: self.cookies.clone(), ..Self::at(program) }
    }

    pub fn get(&mut self, path: &str) -> Page {
        self.send("GET", path, None)
    }

    pub fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        let encode = |text: &str| -> String {
            text.bytes()
                .map(|byte| match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                        char::from(byte).to_string()
                    }
                    byte => format!("%{byte:02X}"),
                })
                .collect()
        };
        let pairs = fields.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        let body = pairs.collect::<Vec<_>>().join("&");
        self.send("POST", path, Some(&body))
    }

    /// The value of the session's cookie.
    pub fn token(&self) -> String {
        self.cookies.get("signpost").cloned().unwrap_or_default()
    }

    /// Takes over the cookie of another browser.
    pub fn set_token(&mut self, token: &str) {
        self.cookies.insert("signpost".to_owned(), token.to_owned());
    }

    fn send(&mut self, method: &str, path: &str, form: Option<&str>) -> Page {
        let cookies =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ");
        let mut headers = vec![("Host", self.host.as_str()), ("Sec-Fetch-Site", "same-origin")];
        if !cookies.is_empty() {
            headers.push(("Cookie", &cookies));
        }
        if let Some(named) = &self.named {
            headers.push(("Remote-Email", named));
        }
        if form.is_some() {
            headers.push(("Content-Type", "application/x-www-form-urlencoded"));
        }
        let answer = self.client.request_with(method, path, &headers, form.unwrap_or_default().as_bytes());
        for cookie in answer.headers.get_all("set-cookie") {
            let (name, rest) = cookie.to_str().unwrap().split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let location = answer.headers.get("location").map(|value| value.to_str().unwrap().to_owned());
        Page { status: answer.status, location: location.unwrap_or_default(), body: answer.body }
    }
}

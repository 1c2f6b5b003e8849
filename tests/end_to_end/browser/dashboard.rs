//! The dashboard in the browser: a program, and how a person gets through its forms.

use serde_json::{Value, json};

use crate::harness::Program;
use crate::tab::Tab;
use crate::visitor::Visitor;

pub const EMAIL: &str = "ines@morgenbrot.example";
pub const PASSWORD: &str = "maple lantern quietly drifting";

/// A program, and a tab in which its first user is signed in.
pub struct Dashboard {
    pub program: Program,
    pub tab: Tab,
    /// The origin, `http://localhost:PORT`.
    pub origin: String,
    /// The id of the account.
    pub account: String,
}

impl Dashboard {
    /// The first user of an empty store, at the form for the first link; `None`, with a notice, if Chromium is not installed.
    #[track_caller]
    pub fn open(visitor: &Visitor) -> Option<Self> {
        Some(Self::start(Program::start(), Tab::of(visitor)?))
    }

    /// Fills in the first form of an empty store.
    #[track_caller]
    pub fn start(program: Program, tab: Tab) -> Self {
        let origin = origin_of(&program);
        let dashboard = Self { program, tab, origin, account: String::new() };
        dashboard.tab.open(dashboard.program.start_url.as_deref().unwrap());
        let person = [("name", "Ines Okafor"), ("email", EMAIL), ("password", PASSWORD)];
        dashboard.send("form", &person);
        let path = dashboard.path();
        let account = path.split('/').nth(1).filter(|part| part.starts_with("acc_"));
        let Some(account) = account.map(str::to_owned) else { panic!("the form led to {path}") };
        Self { account, ..dashboard }
    }

    /// Opens a path of the dashboard.
    #[track_caller]
    pub fn visit(&self, path: &str) -> &Tab {
        self.tab.open(&format!("{}{path}", self.origin))
    }

    /// Opens a path below the account.
    #[track_caller]
    pub fn screen(&self, path: &str) -> &Tab {
        self.visit(&format!("/{}/{path}", self.account))
    }

    /// The path that the tab shows.
    #[track_caller]
    pub fn path(&self) -> String {
        self.tab.evaluate("location.pathname")
    }

    /// The text of an element.
    #[track_caller]
    pub fn text(&self, selector: &str) -> String {
        self.tab.evaluate(&format!("document.querySelector({})?.textContent ?? ''", json!(selector)))
    }

    /// Sends a form with these values, also those that the browser would refuse, and waits for the answer. It needs no scripts
    /// in the page.
    #[track_caller]
    pub fn send(&self, form: &str, values: &[(&str, &str)]) -> &Tab {
        let (form, values) = (json!(form), json!(values));
        self.tab.follow(|tab| {
            tab.run(&format!(
                "{{
                    const form = document.querySelector({form});
                    for (const [name, value] of {values}) {{
                        const inputs = [...form.querySelectorAll(`[name=\"${{name}}\"]`)];
                        if (!inputs.length) throw new Error(name + ' is not in the form');
                        const isBox = ['checkbox', 'radio'].includes(inputs[0].type);
                        if (!isBox) inputs[0].value = value;
                        for (const box of isBox ? inputs : []) box.checked = value == '*' || box.value == value;
                    }}
                    form.noValidate = true;
                    form.requestSubmit(form.querySelector('button:not([disabled], [type=button])'));
                }}"
            ));
        })
    }

    /// Presses Tab until the element that matches has the focus.
    #[track_caller]
    pub fn tab_to(&self, selector: &str) {
        let is_there = format!("document.activeElement.matches({})", json!(selector));
        for _ in 0..200 {
            if self.tab.evaluate(&is_there) {
                return;
            }
            self.tab.press("Tab");
        }
        panic!("no focus reaches {selector} on {}", self.path());
    }

    /// Presses Enter on an element, and waits for the page to which it leads.
    #[track_caller]
    pub fn enter(&self, selector: &str) {
        self.tab_to(selector);
        self.tab.follow(|tab| tab.press("Enter"));
    }

    /// Replaces the content of a field by keys alone.
    #[track_caller]
    pub fn type_into(&self, selector: &str, text: &str) {
        self.tab_to(selector);
        self.tab.type_text(text);
    }

    /// Creates links with the API, and returns their ids.
    #[track_caller]
    pub fn add_redirects(&self, bodies: &[Value]) -> Vec<String> {
        let account = self.program.first_account();
        let add = |body: &Value| account.post("/v1/redirects", body).expect_status(201).body["id"].clone();
        bodies.iter().map(|body| add(body).as_str().unwrap().to_owned()).collect()
    }
}

/// The origin of a program's dashboard.
pub fn origin_of(program: &Program) -> String {
    let address = program.dashboard.as_deref().unwrap();
    let (_, port) = address.rsplit_once(':').unwrap();
    format!("http://localhost:{port}")
}

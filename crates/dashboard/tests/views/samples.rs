//! Sample pages: each page with nothing, with much, and with errors.

use std::cell::RefCell;

use askama::Template;
use signpost_dashboard::texts::ENGLISH;
use signpost_dashboard::views::{
    AccountRef, Card, Choice, CurlExample, Field, Form, NavItem, Notice, Select, Shell, UserRef,
};
use signpost_domain::Theme;

use crate::link_samples::LONG;
use crate::{
    analytics_samples, domain_samples, editor_samples, entry_samples, explain_samples, link_samples,
    list_samples, operator_samples, people_samples, provider_samples, second_factor_samples,
};

/// A rendered page and its name.
pub(crate) struct Page {
    pub(crate) name: String,
    pub(crate) html: String,
}

/// Makes sample values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Maker {
    /// Replaces every text that people or programs supply.
    pub(crate) payload: Option<String>,
    pub(crate) theme: Theme,
    pages: RefCell<Vec<(String, String)>>,
}

/// Every sample.
pub(crate) fn pages(payload: Option<&str>, theme: Theme) -> Vec<Page> {
    let maker = Maker { payload: payload.map(str::to_owned), theme, pages: RefCell::default() };
    entry_samples::add(&maker);
    link_samples::add(&maker);
    list_samples::add(&maker);
    people_samples::add(&maker);
    second_factor_samples::add(&maker);
    provider_samples::add(&maker);
    operator_samples::add(&maker);
    analytics_samples::add(&maker);
    domain_samples::add(&maker);
    editor_samples::add(&maker);
    explain_samples::add(&maker);
    maker.pages.into_inner().into_iter().map(|(name, html)| Page { name, html }).collect()
}

impl Maker {
    pub(crate) fn add(&self, name: &str, page: &impl Template) {
        self.pages.borrow_mut().push((name.to_owned(), page.render().unwrap()));
    }

    /// A text that people or programs supply.
    pub(crate) fn w(&self, text: &str) -> String {
        self.payload.clone().unwrap_or_else(|| text.to_owned())
    }

    #[allow(clippy::unnecessary_wraps, reason = "fills fields that are optional")]
    pub(crate) fn some(&self, text: &str) -> Option<String> {
        Some(self.w(text))
    }

    pub(crate) fn card(&self) -> Card {
        Card {
            t: &ENGLISH,
            product: "Signpost".to_owned(),
            theme: self.theme,
            language: "en".to_owned(),
            notice: None,
        }
    }

    pub(crate) fn shell(&self, title: &str, nav: NavItem) -> Shell {
        let account = |id: &str, name: &str| AccountRef { id: id.to_owned(), name: self.w(name) };
        Shell {
            t: &ENGLISH,
            product: "Signpost".to_owned(),
            title: self.w(title),
            theme: self.theme,
            language: "en".to_owned(),
            user: UserRef {
                name: self.w("Ines Okafor"),
                email: self.w("ines@morgenbrot.example"),
                is_operator: true,
            },
            account: Some(account("acc_019b5a3b11aa7c3e8899aabbccddee01", "Morgenbrot Bakery")),
            accounts: Vec::new(),
            role: "Owner".to_owned(),
            nav,
            is_read_only: false,
            reads_audit: true,
            suspended: None,
            notice: None,
            shortcuts: true,
            sign_out_key: key(900),
            curl: self.curl(),
        }
    }

    /// The frame of a page without an account.
    pub(crate) fn own_shell(&self, title: &str, nav: NavItem) -> Shell {
        let account = |name: &str| AccountRef {
            id: "acc_019b5a3b11aa7c3e8899aabbccddee01".to_owned(),
            name: self.w(name),
        };
        let accounts = ["Morgenbrot Bakery", LONG, "قائمة الطعام والمشروبات"].map(account).to_vec();
        Shell { account: None, accounts, reads_audit: false, role: String::new(), ..self.shell(title, nav) }
    }

    /// A shell with every notice, as a viewer of a suspended account sees it.
    pub(crate) fn loud_shell(&self, title: &str, nav: NavItem) -> Shell {
        Shell {
            is_read_only: true,
            reads_audit: false,
            suspended: self.some("The invoice of October is open."),
            notice: Some(Notice::error(self.w("The link was not saved."))),
            role: "Viewer".to_owned(),
            ..self.shell(title, nav)
        }
    }

    fn curl(&self) -> Vec<CurlExample> {
        let command = "curl \"http://localhost:8080/v1/redirects?limit=25\" \\\n  -H \"Authorization: Bearer $SIGNPOST_KEY\"";
        vec![CurlExample { title: self.w("List redirects"), command: self.w(command) }]
    }

    pub(crate) fn refused(&self, number: usize) -> Form {
        Form {
            general_error: self.some("Your plan allows 5,000 links, and you have them all."),
            ..edit(number)
        }
    }

    pub(crate) fn field(&self, value: &str) -> Field {
        Field::of(self.w(value))
    }

    pub(crate) fn bad(&self, value: &str, error: &str) -> Field {
        Field { error: self.some(error), ..self.field(value) }
    }

    pub(crate) fn zones(&self, chosen: &str) -> Select {
        let zones =
            ["Africa/Lagos", "America/Sao_Paulo", "Asia/Tokyo", "Europe/Berlin", "Pacific/Auckland", "UTC"];
        let options = zones.map(|zone| Choice::new(self.w(zone), self.w(zone), zone == chosen));
        Select { options: options.to_vec(), error: None }
    }

    pub(crate) fn select(&self, options: &[(&str, &str)]) -> Select {
        let choice =
            |(index, (value, label)): (usize, &(&str, &str))| Choice::new(*value, self.w(label), index == 0);
        Select { options: options.iter().enumerate().map(choice).collect(), error: None }
    }
}

/// An idempotency key, as long as real ones.
pub(crate) fn key(number: usize) -> String {
    format!("01KB0R2M4V8Q6ZT3X9YH5D{number:04}")
}

/// The form of a creation.
pub(crate) fn form(number: usize) -> Form {
    Form { idempotency_key: key(number), revision: None, general_error: None }
}

/// The form of an edit.
pub(crate) fn edit(number: usize) -> Form {
    Form { revision: Some("7".to_owned()), ..form(number) }
}

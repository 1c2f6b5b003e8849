//! The conditions on entries of the audit, in the query of its pages and exports.

use signpost_app::accounts::AccountReference;
use signpost_app::audit::AuditQuestion;
use signpost_domain::analytics::LocalDate;
use signpost_domain::{AuditAction, AuditEntry, Page, PageLimit, Preferences, Timestamp};

use super::sentence;
use crate::frame::TEXTS;
use crate::query::Query;
use crate::views::{AuditFilterForm, Choice};

/// The names of the parameters.
const NAMES: [&str; 6] = ["q", "action", "who", "account", "from", "to"];

/// The conditions of a query.
pub(super) struct AskedFilter {
    /// What was typed, by [`NAMES`].
    typed: [String; NAMES.len()],
    has_account: bool,
    /// What is asked. `None` if a condition is malformed.
    pub(super) question: Option<AuditQuestion>,
    /// The account that the query names.
    pub(super) account: Option<AccountReference>,
    problem: Option<String>,
}

impl AskedFilter {
    /// Reads a query. Days begin in the zone of the person. `has_account` says whether the query may name an account.
    pub(super) fn of(query: &Query, preferences: &Preferences, has_account: bool) -> Self {
        let typed = NAMES.map(|name| match name {
            "account" if !has_account => String::new(),
            name => query.text(name).trim().to_owned(),
        });
        let mut asked = Self { typed, has_account, question: None, account: None, problem: None };
        match asked.read(preferences) {
            Ok((question, account)) => (asked.question, asked.account) = (Some(question), account),
            Err(problem) => asked.problem = Some(problem),
        }
        asked
    }

    /// The question, or what is wrong with it, as a sentence.
    fn read(&self, preferences: &Preferences) -> Result<(AuditQuestion, Option<AccountReference>), String> {
        let words = TEXTS.operator;
        let [text, action, who, account, from, to] =
            self.typed.each_ref().map(|text| Some(text.as_str()).filter(|text| !text.is_empty()));
        let said = |label: &str, message: &str| format!("{label}: {}", sentence(message));
        let action = match action {
            None => None,
            Some(name) => {
                Some(AuditAction::from_name(name).ok_or_else(|| said(words.what, words.action_wrong))?)
            }
        };
        let who = who.map(str::parse).transpose();
        let who = who.map_err(|_: signpost_app::audit::MalformedWho| said(words.who, words.who_malformed))?;
        let account = account.map(str::parse).transpose();
        let account = account.map_err(|_| said(words.account, words.must_be_account))?;
        let date = |label: &str, text: Option<&str>| {
            let date = text.map(LocalDate::parse).transpose();
            date.map_err(|error| said(label, error.message()))
        };
        let zone = &preferences.time_zone;
        let from = date(TEXTS.analytics.from, from)?.map(|day| day.first_instant(zone));
        let until = date(TEXTS.analytics.to, to)?.and_then(|day| after(day.last_instant(zone)));
        if from.zip(until).is_some_and(|(from, until)| until <= from) {
            return Err(TEXTS.analytics.dates_reversed.to_owned());
        }
        let text = text.map(str::to_owned);
        Ok((AuditQuestion { action, who, text, from, until }, account))
    }

    /// The parameters that are set.
    pub(super) fn pairs(&self) -> Vec<(&'static str, &str)> {
        let pairs = NAMES.into_iter().zip(self.typed.iter().map(String::as_str));
        pairs.filter(|(_, text)| !text.is_empty()).collect()
    }

    /// The form, above a page of entries.
    pub(super) fn form(&self, path: &str, list: &Page<AuditEntry>) -> AuditFilterForm {
        let [text, action, who, account, from, to] = self.typed.clone();
        let choice =
            |it: &AuditAction| Choice::new(it.as_str(), (TEXTS.audit_action)(*it), it.as_str() == action);
        let limit = usize::from(PageLimit::default().get());
        AuditFilterForm {
            action: path.to_owned(),
            actions: AuditAction::ALL.iter().map(choice).collect(),
            count: self.pairs().iter().filter(|(name, _)| *name != "q").count(),
            problem: self.problem.clone(),
            is_partial: list.next.is_some() && list.items.len() + list.left_out < limit,
            account: self.has_account.then_some(account),
            text,
            who,
            from: date_or_empty(from),
            to: date_or_empty(to),
        }
    }
}

/// The value of an input for dates, which shows nothing else.
fn date_or_empty(text: String) -> String {
    if LocalDate::parse(&text).is_ok() { text } else { String::new() }
}

/// The instant after the last one of a day.
fn after(last: Timestamp) -> Option<Timestamp> {
    Timestamp::from_unix_millis(last.unix_millis().checked_add(1)?)
}

//! What setup prints at its end.

use std::process::ExitCode;

use serde_json::{Value, json};
use signpost_domain::Hostname;

use super::first_link::FirstAccount;

/// Whether the first link opens by its public name.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It opens.
    Opens,
    /// It gets another answer.
    Answers(u16),
    /// It could not be opened from this machine.
    Unreachable(String),
    /// There is no certificate yet.
    NoCertificate,
    /// A step after the creation of the account failed.
    Failed(String),
}

/// The result of a setup.
#[derive(Debug)]
pub(super) struct Conclusion<'a> {
    pub(super) settings: &'static str,
    pub(super) hostname: &'a Hostname,
    /// The URL of the first link.
    pub(super) link: String,
    /// `None` if there was an account before.
    pub(super) first: Option<FirstAccount>,
    /// Where the first user is created; `None` if there is one.
    pub(super) start_url: Option<String>,
    /// A line that creates a link with this key.
    pub(super) curl: Option<String>,
    pub(super) outcome: Outcome,
}

impl Conclusion<'_> {
    /// The exit status: 1 if the link does not open yet.
    pub(super) fn exit_code(&self) -> ExitCode {
        match self.outcome {
            Outcome::Opens => ExitCode::SUCCESS,
            Outcome::Answers(_) | Outcome::Unreachable(_) | Outcome::NoCertificate | Outcome::Failed(_) => {
                ExitCode::from(1)
            }
        }
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        let Self { settings, link, first, start_url, outcome, .. } = self;
        json!({
            "settings": settings,
            "account": first.as_ref().map(|first| &first.id),
            "key": first.as_ref().map(|first| &first.key),
            "start_url": start_url,
            "link": link,
            "opens": matches!(outcome, Outcome::Opens),
        })
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let Self { settings, hostname, link, first, start_url, curl, outcome } = self;
        let account = first.as_ref().map(|FirstAccount { id, key }| {
            format!("Created the account {id}. Its API key, shown once:\n\n  {key}")
        });
        let user = start_url
            .as_ref()
            .map(|url| format!("Create your user of the dashboard within 24 hours, and before the service restarts:\n\n  {url}"));
        let curl = curl.as_ref().map(|curl| format!("Create another link:\n\n  {curl}"));
        let end = match outcome {
            Outcome::Opens => format!("It works: {link}"),
            Outcome::Answers(404) if first.is_none() => format!(
                "The service runs. {link} answers 404, because setup makes that link only with the first account. For a key of an \
                 account: signpost --config {settings} key issue --account ID --name NAME, with an id of `account list`"
            ),
            Outcome::Answers(status) => {
                format!("The service runs, but {link} answers {status}. Read its log: journalctl -u signpost")
            }
            Outcome::Failed(reason) => format!(
                "Setup did not end: {reason}. Read the log: journalctl -u signpost. Then run setup again"
            ),
            Outcome::Unreachable(reason) => {
                format!("The service runs, but {reason}. Try it from another network: curl -I {link}")
            }
            Outcome::NoCertificate => format!(
                "The service runs, but has no certificate yet, and goes on trying. See its state: signpost --config {settings} \
                 certificate show {hostname}"
            ),
        };
        [account, user, curl, Some(end)].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(outcome: Outcome) -> (String, Value) {
        let hostname = Hostname::parse("go.example.com").unwrap();
        let conclusion = Conclusion {
            settings: "/etc/signpost/signpost.toml",
            hostname: &hostname,
            link: "https://go.example.com/hello".to_owned(),
            first: Some(FirstAccount { id: "acc_1".to_owned(), key: "sp_live_1".to_owned() }),
            start_url: Some("http://localhost:8082/start/1".to_owned()),
            curl: None,
            outcome,
        };
        (conclusion.text(), conclusion.json())
    }

    #[test]
    fn d205_end_names_the_link_and_what_is_shown_once() {
        let (text, json) = told(Outcome::Opens);
        for part in ["sp_live_1", "/start/1", "It works: https://go.example.com/hello"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(
            json["opens"] == true
                && json["key"] == "sp_live_1"
                && json["link"] == "https://go.example.com/hello"
        );
    }

    #[test]
    fn d205_end_without_a_link_says_where_to_look() {
        for (outcome, part) in [
            (Outcome::Answers(503), "journalctl -u signpost"),
            (Outcome::Unreachable("it is silent".to_owned()), "curl -I https://go.example.com/hello"),
            (Outcome::NoCertificate, "certificate show go.example.com"),
            (Outcome::Failed("the port is taken".to_owned()), "the port is taken"),
        ] {
            let (text, json) = told(outcome);
            assert!(text.contains(part) && json["opens"] == false, "{text}");
        }
    }
}

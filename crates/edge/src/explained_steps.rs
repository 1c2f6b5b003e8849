//! The sentences of an explanation (D136): why each check of a visit lets the visitor pass or stops it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use signpost_app::explain::{Check, Step, Steps};
use signpost_app::ports::ExplainedVisit;
use signpost_app::visits::{Missing, Resolved};
use signpost_domain::{ClickLimit, CountryCode, Schedule};

use crate::gates::{Reason, TurnedAway};
use crate::link_view::LinkView;

/// Writes the steps of one explanation: a reason for each check that would let the visitor pass, and the one that stops it.
#[derive(Debug, Default)]
pub(crate) struct StepWriter {
    passing: BTreeMap<Check, Cow<'static, str>>,
    stop: Option<(Check, Cow<'static, str>)>,
}

impl StepWriter {
    /// What is said of the checks before a visitor is sent on, if they let the visitor pass.
    pub(crate) fn of_link(view: &LinkView<'_>, resolved: &Resolved, country: Option<CountryCode>) -> Self {
        let Resolved { life, click_limit, gates, card, has_password, .. } = resolved;
        let schedule = life.schedule;
        let mut steps = Self::default();
        steps.pass(Check::Existence, "An active link is at this address.");
        steps.pass(
            Check::Start,
            schedule.starts_at().map_or(Cow::Borrowed("The link has no start."), |start| {
                Cow::Owned(format!("The link began at {start}."))
            }),
        );
        steps.pass(Check::End, end_to_come(schedule, *click_limit));
        steps.pass(
            Check::Antibot,
            if gates.antibot_enabled {
                "Antibot does not block the visitor's user agent."
            } else {
                "Antibot is off for this link."
            },
        );
        let blocks = view.gates().is_some_and(|gates| !gates.countries.is_empty());
        steps.pass(
            Check::Country,
            match country {
                _ if !blocks => Cow::Borrowed("The link blocks no countries."),
                Some(country) => Cow::Owned(format!("The link does not block visitors from {country}.")),
                None => Cow::Borrowed("The visitor's country is unknown, and blocks apply to known ones."),
            },
        );
        steps.pass(
            Check::Preview,
            if card.is_some() {
                "The visitor is not a link previewer, so it gets no card."
            } else {
                "The link has no preview card."
            },
        );
        if !has_password {
            steps.pass(Check::Password, "The link asks for no password.");
        }
        steps
    }

    /// Notes why a check lets the visitor pass.
    pub(crate) fn pass(&mut self, check: Check, reason: impl Into<Cow<'static, str>>) {
        self.passing.insert(check, reason.into());
    }

    /// Notes which check stops the visitor, and why.
    pub(crate) fn stop(&mut self, check: Check, reason: impl Into<Cow<'static, str>>) {
        self.stop = Some((check, reason.into()));
    }

    /// As far as visitors learn, no link is there.
    pub(crate) fn not_there(&mut self, reason: Reason, visit: &ExplainedVisit, resolved: &Resolved) {
        match (reason, resolved.life.schedule.starts_at()) {
            (Reason::Scheduled, Some(start)) => {
                self.stop(
                    Check::Start,
                    format!("The link begins at {start}, and until then it is not found."),
                );
            }
            (reason, _) => self.stop(Check::Existence, absence(reason, visit, resolved)),
        }
    }

    /// The link has ended.
    pub(crate) fn ended(&mut self, reason: Reason, resolved: &Resolved) {
        let sentence = match (reason, resolved.life.schedule.expires_at(), resolved.click_limit) {
            (Reason::Exhausted, _, Some(limit)) => {
                Cow::Owned(format!("The link has no click left of its limit of {}.", limit.max().get()))
            }
            (_, Some(end), _) => Cow::Owned(format!("The link ended at {end}.")),
            _ => Cow::Borrowed("The link has ended."),
        };
        self.stop(Check::End, sentence);
    }

    /// A gate turns the visitor away.
    pub(crate) fn turned_away(&mut self, turned_away: TurnedAway, resolved: &Resolved) {
        // Gates of the links of a chain are joined, so it is not known whose this is.
        let (link, antibot) = if resolved.depends_on.addresses.len() == 1 {
            ("The link", "Antibot")
        } else {
            ("The link, or one that it leads to,", "Antibot of the link, or of one that it leads to,")
        };
        match turned_away {
            TurnedAway::Bot { rule } => self.stop(
                Check::Antibot,
                format!("{antibot} blocks the visitor's user agent as that of a program (`{rule}`)."),
            ),
            TurnedAway::Country { country } => {
                self.stop(Check::Country, format!("{link} blocks visitors from {country}."));
            }
        }
    }

    /// How the rules decide. The label is that of the rule that holds, as analytics has it.
    pub(crate) fn rules(&mut self, resolved: &Resolved, label: &str) {
        let sentence = match label.split_once('.') {
            _ if resolved.rules.is_empty() => Cow::Borrowed("The link has no rules."),
            _ if label.is_empty() => Cow::Borrowed("No rule holds, so the target of the link counts."),
            None => Cow::Owned(format!("The first rule that holds is `{label}`.")),
            Some((rule, variant)) => Cow::Owned(format!(
                "The first rule that holds is `{rule}`, and its split gives this visitor the variant `{variant}`."
            )),
        };
        self.pass(Check::Rules, sentence);
    }

    /// Whether the visit would use a click. Without one, what comes afterwards does not come.
    pub(crate) fn credit(&mut self, resolved: &Resolved, is_withheld: bool) {
        if is_withheld {
            for later in [Check::Pixels, Check::Answer] {
                self.passing.remove(&later);
            }
        }
        let sentence = if is_withheld {
            "The visitor counts as a bot, and bots get no target of a link with a limit, because they would use up its clicks."
        } else if resolved.click_limit.is_some() {
            "The visit would use a click of the limit; this test uses none."
        } else {
            "The link has no limit of clicks."
        };
        if is_withheld && self.stop.is_none() {
            self.stop(Check::Credit, sentence);
        } else {
            self.pass(Check::Credit, sentence);
        }
    }

    /// Which pixels fire on the way.
    pub(crate) fn pixels(&mut self, resolved: &Resolved, are_fired: bool) {
        let sentence = match resolved.gates.pixels.len() {
            0 => Cow::Borrowed("The link fires no pixels."),
            1 if are_fired => Cow::Borrowed("One pixel fires, on a page that then opens the target."),
            number if are_fired => {
                Cow::Owned(format!("{number} pixels fire, on a page that then opens the target."))
            }
            _ => Cow::Borrowed("No pixel fires, because the visitor counts as a bot."),
        };
        self.pass(Check::Pixels, sentence);
    }

    /// Adds to the reason of a stop where the visitor is sent instead.
    pub(crate) fn sent_elsewhere(&mut self, location: &str) {
        if let Some((_, reason)) = &mut self.stop {
            *reason = Cow::Owned(format!("{reason} Such visitors are sent to {location}"));
        }
    }

    /// All steps in their order. Behind the form of a password they say what the right password leads to.
    pub(crate) fn finish(mut self) -> Vec<Step> {
        let mut steps = Steps::default();
        for check in Check::ALL {
            let passing = self.passing.remove(&check);
            match (&self.stop, passing) {
                (Some((at, reason)), _) if *at == check => steps.stop(check, reason.clone()),
                (Some((Check::Password, _)), Some(reason)) if check > Check::Password => {
                    steps.skip(check, behind_the_form(&reason));
                }
                (Some((at, _)), Some(reason)) if check < *at => steps.pass(check, reason),
                (None, Some(reason)) => steps.pass(check, reason),
                (_, _) => {}
            }
        }
        steps.finish()
    }
}

fn end_to_come(schedule: Schedule, limit: Option<ClickLimit>) -> Cow<'static, str> {
    let limit = limit.map(|limit| format!("{} of its {} clicks are left", limit.left(), limit.max().get()));
    match (schedule.expires_at(), limit) {
        (None, None) => Cow::Borrowed("The link has no end."),
        (Some(end), None) => Cow::Owned(format!("The link ends at {end}.")),
        (None, Some(limit)) => Cow::Owned(format!("The link has no end, and {limit}.")),
        (Some(end), Some(limit)) => Cow::Owned(format!("The link ends at {end}, and {limit}.")),
    }
}

/// Why no link opens at the address. What is wrong with a link of another account, to which the caller's leads, is not said.
fn absence(reason: Reason, visit: &ExplainedVisit, resolved: &Resolved) -> &'static str {
    let is_own = resolved.depends_on.accounts.iter().all(|account| *account == visit.account);
    let is_first = resolved.depends_on.addresses.len() == 1;
    match reason {
        _ if !visit.is_active => "The link is inactive.",
        _ if !visit.is_domain_active => "The domain of the link is not active.",
        // A link with rules is not followed further, so all targets are its own.
        Reason::Listed if is_own || !resolved.rules.is_empty() => {
            "The operator's list has the host of a target, so the link does not open."
        }
        Reason::Missing(Missing::Suspended) if is_first => {
            "The account is suspended, so its links do not open."
        }
        Reason::Missing(Missing::Unknown | Missing::Inactive) if is_first => {
            "The link was changed while it was tested, and does not open any more."
        }
        Reason::Missing(Missing::Loop) if is_own => {
            "The chain of links that begins here is too long, or never ends."
        }
        Reason::Missing(Missing::Inactive) if is_own => "The link leads to a link that is inactive.",
        _ => "The link leads to another address of this service, and no link opens there.",
    }
}

fn behind_the_form(reason: &str) -> String {
    let mut characters = reason.chars();
    let first = characters.next().map(|first| first.to_ascii_lowercase());
    let rest = characters.as_str();
    ["Behind the form: ", &first.map(String::from).unwrap_or_default(), rest].concat()
}

#[cfg(test)]
mod tests {
    use signpost_app::explain::StepResult;

    use super::*;

    fn written(change: impl FnOnce(&mut StepWriter)) -> Vec<(StepResult, String)> {
        let mut steps = StepWriter::default();
        for check in Check::ALL {
            steps.pass(check, "Passed.");
        }
        change(&mut steps);
        steps.finish().into_iter().map(|step| (step.result, step.reason.into_owned())).collect()
    }

    #[test]
    fn d136_what_follows_a_stop_is_skipped() {
        for (place, check) in
            Check::ALL.into_iter().enumerate().filter(|(_, check)| *check != Check::Password)
        {
            let steps = written(|steps| steps.stop(check, "Stopped."));
            assert!(
                steps[..place]
                    .iter()
                    .all(|(result, reason)| *result == StepResult::Pass && reason == "Passed.")
            );
            assert_eq!(steps[place], (StepResult::Stop, "Stopped.".to_owned()));
            assert!(
                steps[place + 1..]
                    .iter()
                    .all(|(result, reason)| *result == StepResult::Skip && reason != "Passed.")
            );
        }
        assert!(written(|_| {}).iter().all(|(result, _)| *result == StepResult::Pass));
    }

    #[test]
    fn d136_skipped_checks_behind_a_form_say_where_it_leads() {
        let steps = written(|steps| {
            steps.stop(Check::Password, "Stopped.");
            steps.sent_elsewhere("https://example.com/");
        });
        let [.., stop, _, _, _, answer] = &*steps else { panic!("{steps:?}") };
        assert_eq!(
            *stop,
            (StepResult::Stop, "Stopped. Such visitors are sent to https://example.com/".to_owned())
        );
        assert_eq!(*answer, (StepResult::Skip, "Behind the form: passed.".to_owned()));
    }
}

//! What a visit would get, and why (D136).

use std::borrow::Cow;
use std::collections::BTreeMap;

use signpost_domain::RuleId;
use signpost_domain::routing::RuleName;

/// What a visit would get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The kind of the answer.
    pub outcome: VisitOutcome,
    /// The HTTP status of the answer.
    pub status: u16,
    /// Where the visitor is sent: by the answer itself, or by the page that fires pixels first.
    pub location: Option<String>,
    /// The rule that decided where the visitor is sent (D133).
    pub rule: Option<AppliedRule>,
    /// Every check once, in the order of [`Check::ALL`]. Those after one that stops the visit are skipped.
    pub steps: Vec<Step>,
}

impl Explanation {
    /// What callers learn about every address without a link of theirs.
    #[must_use]
    pub fn unknown() -> Self {
        Self::not_there("No link of your account is at this address.")
    }

    /// A visit that opens no link, with the plain page for that.
    #[must_use]
    pub fn not_there(reason: impl Into<Cow<'static, str>>) -> Self {
        let mut steps = Steps::default();
        steps.stop(Check::Existence, reason);
        Self {
            outcome: VisitOutcome::NotFound,
            status: 404,
            location: None,
            rule: None,
            steps: steps.finish(),
        }
    }
}

/// The kind of the answer to a visit. Callers must expect further kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VisitOutcome {
    /// The visitor is sent to a target, perhaps by a page that fires pixels.
    Redirect,
    /// The visitor gets a landing page.
    Page,
    /// The visitor is asked for the password (D131).
    Password,
    /// The visitor, a previewer, gets the preview card (D135).
    Preview,
    /// A gate turns the visitor away (D55, D56).
    Blocked,
    /// The link has ended, or has no click left (D128).
    Expired,
    /// No link opens (D54).
    NotFound,
    /// The link is kept from visitors who would use a click without following it (D130).
    Unavailable,
}

impl VisitOutcome {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Redirect,
        Self::Page,
        Self::Password,
        Self::Preview,
        Self::Blocked,
        Self::Expired,
        Self::NotFound,
        Self::Unavailable,
    ];

    /// The name in API answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Redirect => "redirect",
            Self::Page => "page",
            Self::Password => "password",
            Self::Preview => "preview",
            Self::Blocked => "blocked",
            Self::Expired => "expired",
            Self::NotFound => "not_found",
            Self::Unavailable => "unavailable",
        }
    }
}

/// The rule by which a visitor is sent on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedRule {
    /// Its id.
    pub id: RuleId,
    /// Its name, if it has one.
    pub name: Option<RuleName>,
    /// The variant of its split, if it has one (D134).
    pub variant: Option<RuleName>,
}

/// A check of a visit, in the order of D129. The method and the throttle, which come first, have nothing to do with a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// A link is there, it is active, its domain serves links, and it leads somewhere the operator allows.
    Existence,
    /// It has begun (D128).
    Start,
    /// It has not ended, and has a click left (D128, D130).
    End,
    /// The visitor is no bot, if bots are blocked (D56).
    Antibot,
    /// The visitor's country is not blocked (D55).
    Country,
    /// The visitor is no previewer that gets a card (D135).
    Preview,
    /// No password is asked for (D131).
    Password,
    /// Which rule decides where the visitor goes (D133). It stops no visit.
    Rules,
    /// The visit may use a click of the limit (D130).
    Credit,
    /// Which pixels fire on the way (D57). It stops no visit.
    Pixels,
    /// What the visitor gets. It stops no visit.
    Answer,
}

impl Check {
    /// All checks, in the order in which a visit makes them.
    pub const ALL: [Self; 11] = [
        Self::Existence,
        Self::Start,
        Self::End,
        Self::Antibot,
        Self::Country,
        Self::Preview,
        Self::Password,
        Self::Rules,
        Self::Credit,
        Self::Pixels,
        Self::Answer,
    ];

    /// The name in API answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Existence => "existence",
            Self::Start => "start",
            Self::End => "end",
            Self::Antibot => "antibot",
            Self::Country => "country",
            Self::Preview => "preview",
            Self::Password => "password",
            Self::Rules => "rules",
            Self::Credit => "credit",
            Self::Pixels => "pixels",
            Self::Answer => "answer",
        }
    }
}

/// What a check said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepResult {
    /// The visit went on.
    Pass,
    /// The check decided what the visitor gets.
    Stop,
    /// The check was not made, because an earlier one stopped the visit.
    Skip,
}

impl StepResult {
    /// All results.
    pub const ALL: [Self; 3] = [Self::Pass, Self::Stop, Self::Skip];

    /// The name in API answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Stop => "stop",
            Self::Skip => "skip",
        }
    }
}

/// A check and what it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The check.
    pub check: Check,
    /// What it said.
    pub result: StepResult,
    /// Why, in a sentence for people.
    pub reason: Cow<'static, str>,
}

/// The steps of an explanation, while they are written.
#[derive(Debug, Default)]
pub struct Steps(BTreeMap<Check, (StepResult, Cow<'static, str>)>);

impl Steps {
    /// Notes that the visit went on.
    pub fn pass(&mut self, check: Check, reason: impl Into<Cow<'static, str>>) {
        self.0.insert(check, (StepResult::Pass, reason.into()));
    }

    /// Notes that the check decided.
    pub fn stop(&mut self, check: Check, reason: impl Into<Cow<'static, str>>) {
        self.0.insert(check, (StepResult::Stop, reason.into()));
    }

    /// Notes what a check would say if the visit came to it.
    pub fn skip(&mut self, check: Check, reason: impl Into<Cow<'static, str>>) {
        self.0.insert(check, (StepResult::Skip, reason.into()));
    }

    /// All checks in their order. Those without a note were skipped.
    #[must_use]
    pub fn finish(mut self) -> Vec<Step> {
        let skipped = || (StepResult::Skip, Cow::Borrowed("An earlier check decided."));
        let step = |check| {
            let (result, reason) = self.0.remove(&check).unwrap_or_else(skipped);
            Step { check, result, reason }
        };
        Check::ALL.map(step).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d136_an_explanation_has_every_check_once_in_the_order_of_visits() {
        let steps = Explanation::unknown().steps;
        assert_eq!(steps.iter().map(|step| step.check).collect::<Vec<_>>(), Check::ALL);
        let results: Vec<_> = steps.iter().map(|step| step.result).collect();
        assert_eq!(results.first(), Some(&StepResult::Stop));
        assert!(results.iter().skip(1).all(|result| *result == StepResult::Skip));
        assert!(Check::ALL.is_sorted(), "the order of the type is that of visits");
    }
}

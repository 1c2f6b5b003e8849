//! Sign-in limits and the health of nodes, for operators.

use askama::Template;

use super::form::{Field, Form, Violation, violations};
use super::shell::Shell;

/// The limits of sign-ins: `GET /operator/sign-ins`, which looks up `email` and `address`. `POST` of the same forgets what is found.
#[derive(Debug, Clone, Template)]
#[template(path = "operator-sign-ins.html")]
pub struct OperatorSignInsPage {
    /// The frame.
    pub shell: Shell,
    /// The form that forgets what was found.
    pub form: Form,
    /// `email` of the look-up.
    pub email: Field,
    /// `address` of the look-up: the IP address of the browser. It may be empty.
    pub address: Field,
    /// What the stores know: failed passwords from the IP address, and failed codes of a user with a second factor.
    pub found: Vec<FoundFailures>,
    /// Whether any failures were found, which can be forgotten.
    pub can_forget: bool,
    /// The limits: what is limited, and how.
    pub limits: Vec<(&'static str, String)>,
}

impl OperatorSignInsPage {
    fn violations(&self) -> Vec<Violation<'_>> {
        let t = self.shell.t;
        violations([
            ("email", t.email, &self.email.error),
            ("address", t.operator.ip_address, &self.address.error),
        ])
    }
}

/// The failures of sign-ins, of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundFailures {
    /// Whether somebody waits.
    pub waits: bool,
    /// How many failures count, as a sentence.
    pub count: String,
    /// Until when another attempt is refused, or that it is allowed, as a sentence.
    pub wait: String,
}

/// The health of this node: `GET /operator/health`.
#[derive(Debug, Clone, Template)]
#[template(path = "operator-health.html")]
pub struct OperatorHealthPage {
    /// The frame.
    pub shell: Shell,
    /// What the node has refused since it started: the reason in words, and how often. `None` if it records no metrics.
    pub refusals: Option<Vec<(String, String)>>,
    /// The state of the node, as a sentence, and whether it is a bad one.
    pub state: (String, bool),
    /// What needs attention beside the parts.
    pub warnings: Vec<String>,
    /// All nodes. `None` if there is only this one.
    pub nodes: Option<NodeList>,
    /// Version, start, and other facts.
    pub facts: Vec<(&'static str, String)>,
    /// The parts that the node depends on.
    pub parts: Vec<HealthRow>,
    /// The background jobs.
    pub jobs: Vec<HealthRow>,
}

/// The nodes that share a database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeList {
    /// The nodes, this one first.
    pub rows: Vec<NodeRow>,
    /// How many more there are, or why there is no list, as a sentence. Empty if all are in `rows`.
    pub note: String,
}

/// A node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeRow {
    /// The name of its machine.
    pub name: String,
    /// Whether it is the node that answers.
    pub is_here: bool,
    /// Its state in a word.
    pub state: &'static str,
    /// Whether it has not been heard from for too long.
    pub is_silent: bool,
    /// Whether it is heard from, and a part of it fails.
    pub is_failing: bool,
    /// Its version, its start, and the clicks that wait on it, as sentences.
    pub what: String,
    /// When it was last heard from, as a sentence. Empty for the node that answers.
    pub heard: String,
    /// What fails and the instant of its last error, as people read them, and the error.
    pub failing: Vec<(String, String)>,
}

/// The health of one part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HealthRow {
    /// Its name.
    pub name: String,
    /// What it is for, as a sentence.
    pub what: &'static str,
    /// Its state in a word.
    pub state: &'static str,
    /// Whether the last error is newer than the last success.
    pub is_failing: bool,
    /// When it last worked, as a sentence.
    pub worked: String,
    /// The last error, and when it occurred, as people read it.
    pub last_error: Option<(String, String)>,
}

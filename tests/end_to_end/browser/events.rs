//! The events that a tab reports.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::devtools::{Listener, PATIENCE};

/// The events of a tab.
#[derive(Debug, Clone, Default)]
pub struct Events {
    /// The requested URLs, including pages.
    pub requests: Vec<String>,
    /// The URLs of the pages that it showed.
    pub pages: Vec<String>,
    /// Lines of the console, and complaints such as violations of a policy.
    pub console: Vec<String>,
    /// Messages of the dialogs that pages opened.
    pub dialogs: Vec<String>,
    /// How often the clock of the page has run ahead and stopped.
    pub stops_of_clock: usize,
}

impl Events {
    fn note(&mut self, method: &str, params: &Value) {
        match method {
            "Network.requestWillBeSent" => self.requests.push(text(&params["request"]["url"])),
            "Page.frameNavigated" => self.pages.push(text(&params["frame"]["url"])),
            "Log.entryAdded" => self.console.push(text(&params["entry"]["text"])),
            "Runtime.consoleAPICalled" => {
                let values = params["args"].as_array().map(Vec::as_slice).unwrap_or_default();
                self.console.push(values.iter().map(shown).collect::<Vec<_>>().join(" "));
            }
            "Runtime.exceptionThrown" => self.console.push(exception(&params["exceptionDetails"])),
            "Page.javascriptDialogOpening" => self.dialogs.push(text(&params["message"])),
            "Emulation.virtualTimeBudgetExpired" => self.stops_of_clock += 1,
            _ => {}
        }
    }
}

/// The message of an exception, as the console shows it.
pub fn exception(details: &Value) -> String {
    match details.get("exception") {
        Some(thrown) => format!("{} {}", text(&details["text"]), shown(thrown)),
        None => text(&details["text"]),
    }
}

/// A value of the page's scripts as text.
fn shown(value: &Value) -> String {
    // Objects have only a description.
    value.get("value").or_else(|| value.get("description")).map_or_else(|| text(&value["type"]), text)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Records the events of a tab, and closes its dialogs.
#[derive(Default)]
pub struct Recorder {
    seen: Mutex<Seen>,
    more: Condvar,
}

#[derive(Debug, Default)]
struct Seen {
    events: Events,
    /// The loads that are complete, by the ids that Chromium gives each load of a page.
    loaded: HashSet<String>,
    /// The loads that have shown a page in the tab, in order.
    shown: Vec<String>,
    /// Why the events ended; `None` while Chromium runs.
    end: Option<String>,
}

impl Recorder {
    /// The events so far.
    pub fn events(&self) -> Events {
        self.seen().events.clone()
    }

    /// Waits until the events satisfy the condition.
    #[track_caller]
    pub fn wait_until(&self, has_happened: impl Fn(&Events) -> bool) -> Events {
        self.wait("the expected event", |seen| has_happened(&seen.events))
    }

    /// Waits until a load is complete. `url` names it if it never is.
    #[track_caller]
    pub fn wait_for_load(&self, id: &str, url: &str) {
        self.wait(&format!("the complete load of {url}"), |seen| seen.loaded.contains(id));
    }

    /// How many loads have shown a page so far.
    pub fn shown(&self) -> usize {
        self.seen().shown.len()
    }

    /// Waits until the tab has shown another page than the first `shown` ones, completely.
    #[track_caller]
    pub fn wait_for_page_after(&self, shown: usize) {
        self.wait("another page", |seen| {
            seen.shown.len() > shown && seen.shown.last().is_some_and(|last| seen.loaded.contains(last))
        });
    }

    #[track_caller]
    fn wait(&self, what: &str, has_happened: impl Fn(&Seen) -> bool) -> Events {
        let must_wait = |seen: &mut Seen| seen.end.is_none() && !has_happened(seen);
        let waited = self.more.wait_timeout_while(self.seen(), PATIENCE, must_wait);
        let (seen, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if has_happened(&seen) {
            return seen.events.clone();
        }
        match &seen.end {
            Some(reason) => panic!("{what} did not happen: {reason}"),
            None => panic!("{what} did not happen within {PATIENCE:?}: {:?}", seen.events),
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // A test that fails while it waits must not stop the thread that records events for all tests.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Recorder {
    fn on_event(&self, method: &str, params: &Value) -> Option<(&'static str, Value)> {
        let mut seen = self.seen();
        seen.events.note(method, params);
        if method == "Page.lifecycleEvent" && params["name"] == "load" {
            seen.loaded.insert(text(&params["loaderId"]));
        }
        if method == "Page.frameNavigated" && params["frame"].get("parentId").is_none() {
            seen.shown.push(text(&params["frame"]["loaderId"]));
        }
        drop(seen);
        self.more.notify_all();
        // The page waits until its dialog is closed.
        let is_dialog = method == "Page.javascriptDialogOpening";
        is_dialog.then(|| ("Page.handleJavaScriptDialog", json!({"accept": false})))
    }

    fn on_end(&self, reason: &str) {
        self.seen().end = Some(reason.to_owned());
        self.more.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Events, Recorder};
    use crate::devtools::Listener as _;

    fn after(events: &[(&str, Value)]) -> Events {
        let recorder = Recorder::default();
        for (method, params) in events {
            recorder.on_event(method, params);
        }
        recorder.events()
    }

    #[test]
    fn requests_pages_and_dialogs_are_recorded_in_order() {
        let seen = after(&[
            ("Network.requestWillBeSent", json!({"request": {"url": "http://localhost/a"}})),
            ("Page.frameNavigated", json!({"frame": {"url": "http://localhost/a"}})),
            ("Network.requestWillBeSent", json!({"request": {"url": "http://localhost/b"}})),
            ("Page.javascriptDialogOpening", json!({"message": "1", "type": "alert"})),
            ("Network.loadingFinished", json!({})),
        ]);
        assert_eq!(seen.requests, ["http://localhost/a", "http://localhost/b"]);
        assert_eq!(seen.pages, ["http://localhost/a"]);
        assert_eq!(seen.dialogs, ["1"]);
        assert_eq!(seen.console, Vec::<String>::new());
    }

    #[test]
    fn complaints_and_console_calls_are_lines_of_the_console() {
        let error = json!({"type": "object", "description": "TypeError: x is not a function"});
        let seen = after(&[
            ("Log.entryAdded", json!({"entry": {"text": "Refused to load"}})),
            (
                "Runtime.consoleAPICalled",
                json!({"args": [{"type": "string", "value": "a"}, {"value": 1}, error]}),
            ),
            (
                "Runtime.exceptionThrown",
                json!({"exceptionDetails": {"text": "Uncaught", "exception": error}}),
            ),
            ("Runtime.exceptionThrown", json!({"exceptionDetails": {"text": "Out of memory"}})),
        ]);
        let lines = [
            "Refused to load",
            "a 1 TypeError: x is not a function",
            "Uncaught TypeError: x is not a function",
            "Out of memory",
        ];
        assert_eq!(seen.console, lines);
    }

    #[test]
    fn only_a_dialog_is_answered() {
        let recorder = Recorder::default();
        assert_eq!(recorder.on_event("Page.frameNavigated", &json!({})), None);
        let answer = recorder.on_event("Page.javascriptDialogOpening", &json!({"message": "1"}));
        assert_eq!(answer, Some(("Page.handleJavaScriptDialog", json!({"accept": false}))));
    }

    #[test]
    fn a_load_is_complete_after_its_own_load_event() {
        let recorder = Recorder::default();
        for (name, id) in [("DOMContentLoaded", "1"), ("load", "2")] {
            recorder.on_event("Page.lifecycleEvent", &json!({"name": name, "loaderId": id, "frameId": "1"}));
        }
        recorder.wait_for_load("2", "http://localhost/");
        assert!(!recorder.seen().loaded.contains("1"));
    }

    #[test]
    fn a_page_is_awaited_until_its_own_load_is_complete() {
        let recorder = Recorder::default();
        let frame = json!({"frame": {"url": "http://localhost/", "loaderId": "1"}});
        recorder.on_event("Page.frameNavigated", &frame);
        recorder.on_event("Page.lifecycleEvent", &json!({"name": "load", "loaderId": "1", "frameId": "1"}));
        recorder.wait_for_page_after(0);
        assert_eq!(recorder.shown(), 1);
    }

    #[test]
    #[should_panic(expected = "the complete load of http://localhost/ did not happen: Chromium has exited")]
    fn a_wait_fails_at_once_when_chromium_exits() {
        let recorder = Recorder::default();
        recorder.on_end("Chromium has exited");
        recorder.wait_for_load("1", "http://localhost/");
    }

    #[test]
    fn what_happened_before_chromium_exited_counts() {
        let recorder = Recorder::default();
        recorder.on_event("Page.javascriptDialogOpening", &json!({"message": "1"}));
        recorder.on_end("Chromium has exited");
        assert_eq!(recorder.wait_until(|events| !events.dialogs.is_empty()).dialogs, ["1"]);
    }
}

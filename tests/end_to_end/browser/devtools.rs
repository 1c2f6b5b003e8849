//! The `DevTools` protocol of Chromium: calls with their answers, and events.
//!
//! Messages are JSON, with a zero byte after each. One thread reads all of them in their order. So when a call returns,
//! all events that Chromium sent before the answer have reached their listeners.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// How long to wait for an answer or an event.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// How long Chromium may take to start.
const READY_WITHIN: Duration = PATIENCE;

/// Receives the events of a session. The methods run on the thread that reads, so they must not wait.
pub trait Listener: Send + Sync {
    /// Receives an event. If a call must follow, returns its method and parameters; its answer is ignored.
    fn on_event(&self, method: &str, params: &Value) -> Option<(&'static str, Value)>;

    /// Learns that there will be no more events.
    fn on_end(&self, reason: &str);
}

/// The result of a call, or the message of its error.
type Answer = Result<Value, String>;

/// What the threads that call share with the thread that reads.
struct Connection {
    requests: Mutex<Box<dyn Write + Send>>,
    last_id: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The calls without an answer, by their ids.
    calls: HashMap<u64, Sender<Answer>>,
    /// By the id of their session.
    listeners: HashMap<String, Arc<dyn Listener>>,
    /// Why the connection has ended, once it has.
    end: Option<String>,
}

/// A conversation with the browser itself, or with one of its tabs.
pub struct Session {
    connection: Arc<Connection>,
    /// `None` for the browser itself.
    id: Option<String>,
}

impl Session {
    /// Talks to the browser itself, once it has started.
    ///
    /// # Errors
    /// If it exits instead, or does not answer within a minute.
    pub fn connect(
        requests: impl Write + Send + 'static,
        answers: impl Read + Send + 'static,
    ) -> Result<Self, String> {
        let connection = Arc::new(Connection {
            requests: Mutex::new(Box::new(requests)),
            last_id: AtomicU64::default(),
            state: Mutex::default(),
        });
        // Only sessions keep the connection, so that it closes with the last of them.
        let reading = Arc::downgrade(&connection);
        thread::spawn(move || {
            let reason = read(answers, &reading);
            if let Some(connection) = reading.upgrade() {
                connection.end(&reason);
            }
        });
        let browser = Self { connection, id: None };
        browser.call_within(READY_WITHIN, "Browser.getVersion", &json!({}))?;
        Ok(browser)
    }

    /// Talks to a tab. It reports no events until a call enables them, so the listener misses none.
    #[track_caller]
    pub fn attach(&self, target: &Value, listener: Arc<impl Listener + 'static>) -> Self {
        let attached = self.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        let id = attached["sessionId"].as_str().expect("a session has an id").to_owned();
        let mut state = self.connection.state();
        assert_eq!(state.end, None);
        state.listeners.insert(id.clone(), listener);
        Self { connection: Arc::clone(&self.connection), id: Some(id) }
    }

    /// Calls a method, and returns its result.
    ///
    /// # Panics
    /// If Chromium reports an error, has exited or does not answer in time.
    #[track_caller]
    pub fn call(&self, method: &str, params: Value) -> Value {
        match self.try_call(method, params) {
            Ok(result) => result,
            Err(error) => panic!("{error}"),
        }
    }

    /// Like [`call`](Self::call), but returns errors.
    pub fn try_call(&self, method: &str, params: Value) -> Result<Value, String> {
        self.call_within(PATIENCE, method, &params)
    }

    /// Calls a method without waiting for its answer.
    #[track_caller]
    pub fn begin(&self, method: &str, params: Value) {
        let id = self.connection.next_id();
        let begun = self.connection.write(id, self.id.as_deref(), method, &params);
        assert_eq!(begun, Ok(()), "{method}");
    }

    fn call_within(&self, limit: Duration, method: &str, params: &Value) -> Result<Value, String> {
        let answer = self.answer_within(limit, method, params);
        answer.map_err(|error| format!("{method}: {error}"))
    }

    fn answer_within(&self, limit: Duration, method: &str, params: &Value) -> Answer {
        let (sender, answer) = mpsc::channel();
        let id = self.connection.next_id();
        self.connection.expect_answer(id, sender)?;
        self.connection.write(id, self.id.as_deref(), method, params)?;
        answer.recv_timeout(limit).unwrap_or_else(|error| {
            let mut state = self.connection.state();
            state.calls.remove(&id);
            Err(match error {
                RecvTimeoutError::Timeout => format!("Chromium did not answer within {limit:?}"),
                RecvTimeoutError::Disconnected => state.end.clone().unwrap_or_default(),
            })
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.connection.state().listeners.remove(id);
        }
    }
}

impl Connection {
    fn state(&self) -> MutexGuard<'_, State> {
        // A test that panics must not fail the others. Each change of the state is complete.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn expect_answer(&self, id: u64, sender: Sender<Answer>) -> Result<(), String> {
        let mut state = self.state();
        // The sender would never be dropped, and the caller would wait in vain.
        if let Some(reason) = &state.end {
            return Err(reason.clone());
        }
        state.calls.insert(id, sender);
        Ok(())
    }

    fn write(&self, id: u64, session: Option<&str>, method: &str, params: &Value) -> Result<(), String> {
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut message = message.to_string().into_bytes();
        message.push(0);
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests
            .write_all(&message)
            .and_then(|()| requests.flush())
            .map_err(|error| format!("Chromium accepts no calls: {error}"))
    }

    fn pass_on(&self, mut message: Value) {
        if let Some(id) = message["id"].as_u64() {
            if let Some(caller) = self.state().calls.remove(&id) {
                // The caller may have given up.
                let _ = caller.send(answer(message));
            }
            return;
        }
        let params = message.get_mut("params").map(Value::take).unwrap_or_default();
        let (Some(session), Some(method)) = (message["sessionId"].as_str(), message["method"].as_str())
        else {
            return;
        };
        // Release the lock: listeners have locks of their own.
        let listener = self.state().listeners.get(session).cloned();
        if let Some((method, params)) = listener.and_then(|listener| listener.on_event(method, &params)) {
            // If Chromium has exited, this thread learns it from the next read.
            let _ = self.write(self.next_id(), Some(session), method, &params);
        }
    }

    fn end(&self, reason: &str) {
        let listeners = {
            let mut state = self.state();
            state.end = Some(reason.to_owned());
            std::mem::take(&mut state.listeners)
        };
        for listener in listeners.into_values() {
            listener.on_end(reason);
        }
        // Dropping the senders ends the waits for their answers. Listeners come first, as with every event.
        self.state().calls.clear();
    }
}

/// Reads until the end, and returns its reason.
fn read(answers: impl Read, connection: &Weak<Connection>) -> String {
    for message in BufReader::new(answers).split(0) {
        let message = match message {
            Ok(message) => message,
            Err(error) => return format!("cannot read from Chromium: {error}"),
        };
        let Ok(message) = serde_json::from_slice::<Value>(&message) else {
            return format!("Chromium sent no JSON: {}", String::from_utf8_lossy(&message));
        };
        let Some(connection) = connection.upgrade() else { break };
        connection.pass_on(message);
    }
    "Chromium has exited".to_owned()
}

/// The result or the error of a message.
fn answer(mut message: Value) -> Answer {
    match message.get("error") {
        None => Ok(message["result"].take()),
        Some(error) => Err(error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned)),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Split, Write as _};
    use std::sync::{Arc, Mutex};
    use std::thread;
    use std::time::{Duration, Instant};

    use serde_json::{Value, json};

    use super::{Listener, Session};

    /// Plays the part of Chromium. Dropping it ends the connection.
    struct FakeBrowser {
        requests: Split<BufReader<PipeReader>>,
        answers: PipeWriter,
    }

    impl FakeBrowser {
        /// The session of a test, with a browser that answers as `plays` says.
        fn connect(plays: impl FnOnce(Self) + Send + 'static) -> Session {
            let ((from_session, requests), (from_browser, answers)) =
                (std::io::pipe().unwrap(), std::io::pipe().unwrap());
            let mut fake = Self { requests: BufReader::new(from_session).split(0), answers };
            thread::spawn(move || {
                let version = fake.next();
                assert_eq!(version["method"], "Browser.getVersion");
                fake.answer(&version, json!({"result": {"product": "a fake"}}));
                plays(fake);
            });
            Session::connect(requests, from_browser).unwrap()
        }

        fn next(&mut self) -> Value {
            serde_json::from_slice(&self.requests.next().unwrap().unwrap()).unwrap()
        }

        fn answer(&mut self, request: &Value, mut answer: Value) {
            answer["id"] = request["id"].clone();
            self.send(&answer);
        }

        fn send(&mut self, message: &Value) {
            write!(self.answers, "{message}\0").unwrap();
        }

        /// Keeps the connection until the last session is dropped.
        fn stay(mut self) {
            while self.requests.next().is_some() {}
        }

        /// Answers the call that attaches to a tab.
        fn be_attached(&mut self) {
            let request = self.next();
            assert_eq!(request["params"], json!({"targetId": "tab", "flatten": true}));
            self.answer(&request, json!({"result": {"sessionId": "7"}}));
        }
    }

    #[derive(Default)]
    struct Heard(Mutex<Vec<String>>);

    impl Listener for Heard {
        fn on_event(&self, method: &str, params: &Value) -> Option<(&'static str, Value)> {
            self.0.lock().unwrap().push(format!("{method} {params}"));
            (method == "Asks").then(|| ("Replies", json!({"to": params})))
        }

        fn on_end(&self, reason: &str) {
            self.0.lock().unwrap().push(reason.to_owned());
        }
    }

    #[test]
    fn each_call_gets_its_own_answer() {
        let browser = FakeBrowser::connect(|mut fake| {
            let requests = [fake.next(), fake.next()];
            for request in requests.iter().rev() {
                fake.answer(request, json!({"result": request["params"]}));
            }
        });
        thread::scope(|scope| {
            let calls = [1, 2].map(|number| {
                let browser = &browser;
                scope.spawn(move || (json!(number), browser.call("Echo", json!(number))))
            });
            for call in calls {
                let (asked, answered) = call.join().unwrap();
                assert_eq!(asked, answered);
            }
        });
    }

    #[test]
    fn an_error_names_the_method() {
        let browser = FakeBrowser::connect(|mut fake| {
            let request = fake.next();
            fake.answer(&request, json!({"error": {"code": -32000, "message": "No node"}}));
        });
        assert_eq!(browser.try_call("DOM.focus", json!({})), Err("DOM.focus: No node".to_owned()));
    }

    #[test]
    fn events_of_a_session_come_before_a_later_answer() {
        let browser = FakeBrowser::connect(|mut fake| {
            fake.be_attached();
            let request = fake.next();
            assert_eq!(request["sessionId"], "7");
            fake.send(&json!({"sessionId": "7", "method": "Asks", "params": 1}));
            fake.send(&json!({"sessionId": "8", "method": "Other", "params": 2}));
            let reply = fake.next();
            assert_eq!((&reply["method"], &reply["sessionId"]), (&json!("Replies"), &json!("7")));
            fake.answer(&request, json!({"result": reply["params"]}));
            fake.stay();
        });
        let heard = Arc::<Heard>::default();
        let tab = browser.attach(&json!("tab"), Arc::clone(&heard));
        assert_eq!(tab.call("Waits", json!({})), json!({"to": 1}));
        assert_eq!(*heard.0.lock().unwrap(), ["Asks 1"]);
    }

    #[test]
    fn calls_and_listeners_learn_at_once_when_chromium_exits() {
        let browser = FakeBrowser::connect(|mut fake| {
            fake.be_attached();
            fake.next();
        });
        let heard = Arc::<Heard>::default();
        let tab = browser.attach(&json!("tab"), Arc::clone(&heard));
        let began = Instant::now();
        let pending = tab.try_call("Waits", json!({}));
        assert_eq!(pending, Err("Waits: Chromium has exited".to_owned()));
        let later = browser.try_call("Comes", json!({}));
        assert_eq!(later, Err("Comes: Chromium has exited".to_owned()));
        assert_eq!(*heard.0.lock().unwrap(), ["Chromium has exited"]);
        assert!(began.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_wait_for_an_answer_has_a_limit() {
        let browser = FakeBrowser::connect(|mut fake| {
            fake.next();
            fake.stay();
        });
        let limit = Duration::from_millis(10);
        let late = browser.call_within(limit, "Sleeps", &json!({}));
        assert_eq!(late, Err("Sleeps: Chromium did not answer within 10ms".to_owned()));
    }
}

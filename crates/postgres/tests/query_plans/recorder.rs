//! The statements that Diesel reports. The recorder is global to the process, so there is one test.

use std::sync::Mutex;

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};

/// The statements since the recorder was last emptied, in order; `None` while nothing is recorded.
static RECORD: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// Makes all connections opened from now on report their statements.
pub(crate) fn install() {
    set_default_instrumentation(recorder).unwrap();
}

#[expect(clippy::unnecessary_wraps, reason = "Diesel requires this signature")]
fn recorder() -> Option<Box<dyn Instrumentation>> {
    Some(Box::new(|event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::StartQuery { query, .. } = event
            && let Some(record) = RECORD.lock().unwrap().as_mut()
        {
            let text = query.to_string();
            let statement = text.split(" -- binds: ").next().unwrap();
            // A unit of work that was dropped earlier rolls back at any time, on a connection of its own.
            if statement != "ROLLBACK" {
                record.push(statement.to_owned());
            }
        }
    }))
}

/// All statements that `work` ran, in order, and its result.
pub(crate) async fn recorded<T>(work: impl Future<Output = T>) -> (Vec<String>, T) {
    *RECORD.lock().unwrap() = Some(Vec::new());
    let outcome = work.await;
    let statements = RECORD.lock().unwrap().take().unwrap();
    assert!(!statements.is_empty(), "nothing was recorded");
    (statements, outcome)
}

/// Whether a statement only controls a transaction.
pub(crate) fn is_steering(statement: &str) -> bool {
    let steering = ["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT"];
    steering.iter().any(|word| statement.starts_with(word))
}

//! Admitting requests, many in one transaction.

use std::time::Instant;

use diesel::sqlite::SqliteConnection;
use signpost_domain::{AccountId, QuotaDecision, QuotaWindow, RequestBudget, Timestamp};

use crate::answer::AnswerTo;
use crate::failure::Failure;
use crate::request_counts;
use crate::session::{Durability, Session};

/// A request that waits to be counted.
pub(crate) struct Admission {
    pub(crate) account: AccountId,
    pub(crate) budget: RequestBudget,
    pub(crate) now: Timestamp,
    /// When its caller stops waiting.
    pub(crate) ends: Instant,
    pub(crate) answer_to: AnswerTo<QuotaDecision>,
}

impl Admission {
    fn is_wanted(&self) -> bool {
        !self.answer_to.is_closed()
    }
}

/// Decides on requests one by one and counts the admitted ones in one transaction, so any number of waiting requests costs
/// one commit. The commit does not wait for the disk: counts survive a crash of the process, but a power failure may lose
/// the last moments. Callers get their answers after the commit. Returns whether any request was counted.
pub(crate) fn admit_all(session: &mut Session, mut admissions: Vec<Admission>) -> bool {
    admissions.retain(Admission::is_wanted);
    // The earliest deadline bounds the wait for the transaction.
    let Some(ends) = admissions.iter().map(|admission| admission.ends).min() else { return false };
    let decisions = session
        .begin(Durability::Process, ends, || admissions.iter().any(Admission::is_wanted))
        .and_then(|()| session.run(ends, |connection| decide_all(connection, &admissions)))
        .and_then(|decisions| session.commit(ends).map(|()| decisions));
    match decisions {
        Ok(decisions) => {
            let has_counted =
                decisions.iter().any(|decision| matches!(decision, Ok(QuotaDecision::Admitted { .. })));
            for (admission, decision) in admissions.into_iter().zip(decisions) {
                // The request of a cancelled caller stays counted.
                let _ = admission.answer_to.send(decision);
            }
            has_counted
        }
        Err(failure) => {
            session.roll_back();
            let message = format!("cannot count requests: {failure}");
            let told = if failure.is_unwritable() { Failure::Unwritable } else { Failure::Other };
            for admission in admissions {
                let _ = admission.answer_to.send(Err(told(message.clone())));
            }
            false
        }
    }
}

/// A corrupt count fails only its own account; any other failure fails the transaction.
fn decide_all(
    connection: &mut SqliteConnection,
    admissions: &[Admission],
) -> Result<Vec<Result<QuotaDecision, Failure>>, Failure> {
    let mut decisions = Vec::with_capacity(admissions.len());
    let mut newest_minute = None;
    for Admission { account, budget, now, ends: _, answer_to } in admissions {
        // The transaction may have waited for another program's, longer than this caller.
        if answer_to.is_closed() {
            decisions.push(Err(Failure::Other("the caller stopped waiting".to_owned())));
            continue;
        }
        let used = match request_counts::used(connection, *account, *now) {
            Ok(used) => used,
            Err(failure @ Failure::Corrupt { .. }) => {
                decisions.push(Err(failure));
                continue;
            }
            Err(failure) => return Err(failure),
        };
        let decision = budget.decide(used);
        if matches!(decision, QuotaDecision::Admitted { .. }) {
            request_counts::count(connection, *account, *now)?;
            if used.minute == 0 {
                newest_minute = newest_minute.max(Some(QuotaWindow::Minute.start(*now)));
            }
        }
        decisions.push(Ok(decision));
    }
    if let Some(minute) = newest_minute {
        request_counts::sweep(connection, minute)?;
    }
    Ok(decisions)
}

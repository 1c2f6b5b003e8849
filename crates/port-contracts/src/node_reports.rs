//! The contract of [`NodeReports`] (D69).

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::ports::{
    FAILING_PARTS_REPORTED, FailingPart, HeardReport, HeardReports, NodeId, NodeReport, NodeReports,
    ReportText, WaitingClicks,
};

use crate::run::at_once;
use crate::samples;

/// A store with the reports of nodes, and its clock.
#[async_trait]
pub trait NodeReportsFixture: Send + Sync + 'static {
    /// The reports.
    fn reports(&self) -> Arc<dyn NodeReports>;

    /// Lets this much time pass by the clock of the store, or makes all reports older by it.
    async fn pass(&self, time: Duration);
}

type Case = fn(Box<dyn NodeReportsFixture>) -> Pin<Box<dyn Future<Output = ()>>>;

macro_rules! table {
    (() $($module:ident { $($case:ident)* })*) => {
        const CASES: &[(&str, &str, Case)] =
            &[$($((stringify!($module), stringify!($case), |fixture| Box::pin($case(fixture))),)*)*];
    };
}

crate::__node_reports_cases! { [table] () }

/// Not generic, as `crate::run::find` asks.
fn find(module: &str, case: &str) -> Case {
    crate::run::find(CASES, module, case)
}

/// Runs one case; [`node_reports_contract!`](crate::node_reports_contract) makes a test of each.
#[doc(hidden)]
pub fn run<F, O>(module: &str, case: &str, open: impl Fn() -> O + 'static)
where
    F: NodeReportsFixture,
    O: Future<Output = F> + 'static,
{
    let run = find(module, case);
    crate::run::run(async move { run(Box::new(open().await)).await });
}

/// Makes a test of every case of the contract of the reports of nodes. The argument names a function in scope,
/// `async fn() -> impl NodeReportsFixture`, which opens a store without reports.
#[macro_export]
macro_rules! node_reports_contract {
    ($open:ident) => {
        mod node_reports {
            $crate::__node_reports_cases! { [$crate::__tests] ($crate::node_reports::run, $open) }
        }
    };
}

/// Passes the list of the cases to another macro, after that macro's own arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __node_reports_cases {
    ([$($callback:tt)*] $arguments:tt) => {
        $($callback)* ! { $arguments
            reports {
                a_report_is_read_as_it_was_written
                a_new_report_replaces_the_last_one_of_its_node
                a_node_is_known_since_its_first_report
                a_removed_report_is_gone_at_once
                the_newest_reports_come_first_and_the_others_are_counted
                old_reports_are_forgotten_a_few_at_a_time
                nodes_report_at_the_same_time
            }
        }
    };
}

/// Longer than the test takes on a busy machine.
const HOUR: Duration = Duration::from_hours(1);

/// A report in which nothing fails.
fn report(number: u8) -> NodeReport {
    NodeReport {
        node: NodeId::from_bytes([number; 16]),
        host: ReportText::cut("web-1.example.com"),
        version: ReportText::cut("1.2.3"),
        started_at: samples::at(0),
        failing: Vec::new(),
        waiting_clicks: None,
    }
}

/// A report with as much in it as a report can have.
fn full_report(number: u8) -> NodeReport {
    let text = |number: i64| ReportText::cut(&format!("{number} {}", "'\"\\{,} \u{1f525}é\0".repeat(100)));
    let most = i64::try_from(FAILING_PARTS_REPORTED).unwrap();
    NodeReport {
        host: text(-1),
        version: text(-2),
        failing: (0..most)
            .map(|number| FailingPart {
                part: text(number),
                at: samples::at(number),
                error: text(number + 100),
            })
            .collect(),
        waiting_clicks: Some(WaitingClicks {
            clicks: u64::try_from(i64::MAX).unwrap(),
            bytes: 1,
            oldest: Some(samples::at(7)),
        }),
        ..report(number)
    }
}

async fn read(reports: &dyn NodeReports) -> HeardReports {
    reports.node_reports(100).await.unwrap()
}

/// The first bytes of the ids, in order.
fn numbers(heard: &HeardReports) -> Vec<u8> {
    heard.newest.iter().map(|heard| heard.report.node.to_bytes()[0]).collect()
}

async fn a_report_is_read_as_it_was_written(fixture: Box<dyn NodeReportsFixture>) {
    let reports = fixture.reports();
    assert_eq!(read(&*reports).await, HeardReports::default());
    let none_waits = WaitingClicks::default();
    for report in [report(1), full_report(1), NodeReport { waiting_clicks: Some(none_waits), ..report(1) }] {
        reports.write_node_report(&report).await.unwrap();
        let HeardReports { newest, others } = read(&*reports).await;
        let [HeardReport { report: heard, age, known_for }] = newest.as_slice() else { panic!("{newest:?}") };
        assert_eq!((heard, others), (&report, 0));
        assert!(*age < HOUR && *known_for < HOUR, "{age:?}, {known_for:?}");
    }
}

async fn a_new_report_replaces_the_last_one_of_its_node(fixture: Box<dyn NodeReportsFixture>) {
    let reports = fixture.reports();
    reports.write_node_report(&full_report(1)).await.unwrap();
    reports.write_node_report(&report(2)).await.unwrap();
    fixture.pass(HOUR).await;
    assert!(read(&*reports).await.newest.iter().all(|heard| heard.age >= HOUR));
    reports.write_node_report(&report(1)).await.unwrap();
    let heard = read(&*reports).await;
    assert_eq!(numbers(&heard), [1, 2]);
    assert_eq!(heard.newest[0].report, report(1));
    assert!(heard.newest[0].age < HOUR && heard.newest[1].age >= HOUR, "{heard:?}");
}

/// The start that the node tells does not count.
async fn a_node_is_known_since_its_first_report(fixture: Box<dyn NodeReportsFixture>) {
    let reports = fixture.reports();
    let known_for = async |number: u8| {
        let newest = read(&*reports).await.newest;
        newest.into_iter().find(|heard| heard.report.node == report(number).node).unwrap().known_for
    };
    reports.write_node_report(&report(1)).await.unwrap();
    fixture.pass(HOUR).await;
    reports.write_node_report(&report(1)).await.unwrap();
    fixture.pass(HOUR).await;
    let late_by_its_own_clock = NodeReport { started_at: samples::at(60_000), ..report(1) };
    reports.write_node_report(&late_by_its_own_clock).await.unwrap();
    reports.write_node_report(&report(2)).await.unwrap();
    let [one, other] = [known_for(1).await, known_for(2).await];
    assert!(one >= HOUR * 2 && other < HOUR, "{one:?}, {other:?}");
    // A node that was forgotten is another one to the store.
    reports.remove_node_report(report(1).node).await.unwrap();
    reports.write_node_report(&report(1)).await.unwrap();
    assert!(known_for(1).await < HOUR);
}

async fn a_removed_report_is_gone_at_once(fixture: Box<dyn NodeReportsFixture>) {
    let reports = fixture.reports();
    let [one, other] = [report(1), report(2)];
    reports.remove_node_report(one.node).await.unwrap();
    for report in [&one, &other] {
        reports.write_node_report(report).await.unwrap();
    }
    reports.remove_node_report(one.node).await.unwrap();
    assert_eq!(numbers(&read(&*reports).await), [2]);
    reports.remove_node_report(one.node).await.unwrap();
    // A node that reports again after all is listed again.
    reports.write_node_report(&one).await.unwrap();
    assert_eq!(read(&*reports).await.newest.len(), 2);
}

async fn the_newest_reports_come_first_and_the_others_are_counted(fixture: Box<dyn NodeReportsFixture>) {
    let reports = fixture.reports();
    for number in [3, 1, 5, 2, 4] {
        reports.write_node_report(&report(number)).await.unwrap();
        fixture.pass(HOUR).await;
    }
    for (at_most, expected, others) in [(1, &[4][..], 4), (3, &[4, 2, 5], 2), (5, &[4, 2, 5, 1, 3], 0)] {
        let heard = reports.node_reports(at_most).await.unwrap();
        assert_eq!((numbers(&heard).as_slice(), heard.others), (expected, others));
    }
}

async fn old_reports_are_forgotten_a_few_at_a_time(fixture: Box<dyn NodeReportsFixture>) {
    let reports = fixture.reports();
    for number in 1..=3 {
        reports.write_node_report(&report(number)).await.unwrap();
    }
    assert_eq!(reports.forget_node_reports(HOUR, 10).await.unwrap(), 0);
    fixture.pass(HOUR).await;
    reports.write_node_report(&report(4)).await.unwrap();
    assert_eq!(reports.forget_node_reports(HOUR, 2).await.unwrap(), 2);
    assert_eq!(read(&*reports).await.newest.len(), 2);
    assert_eq!(reports.forget_node_reports(HOUR, 2).await.unwrap(), 1);
    assert_eq!(reports.forget_node_reports(HOUR, 2).await.unwrap(), 0);
    assert_eq!(numbers(&read(&*reports).await), [4]);
}

/// Each node writes its report and deletes old ones, also those that other nodes delete at this moment.
async fn nodes_report_at_the_same_time(fixture: Box<dyn NodeReportsFixture>) {
    const NODES: u8 = 12;
    let reports = fixture.reports();
    for number in 100..150 {
        reports.write_node_report(&report(number)).await.unwrap();
    }
    fixture.pass(HOUR).await;
    let forgotten = at_once(NODES.into(), |number| {
        let reports = Arc::clone(&reports);
        async move {
            let number = u8::try_from(number).unwrap();
            reports.write_node_report(&report(number)).await.unwrap();
            reports.forget_node_reports(HOUR, 100).await.unwrap()
        }
    });
    assert_eq!(forgotten.await.into_iter().sum::<u64>(), 50);
    let mut left = numbers(&read(&*reports).await);
    left.sort_unstable();
    assert_eq!(left, (0..NODES).collect::<Vec<_>>());
}

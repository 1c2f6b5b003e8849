//! Clicks of earlier days, which no test can wait for. They go straight into the store of a running program.

use std::time::Duration;

use signpost_app::ports::{Appended, ClickStore, EncodedClicks};
use signpost_clicks::SegmentBuilder;
use signpost_domain::analytics::{ClickSource, Dimension, RecordedClick, RecordedKind, Values, VisitorHash};
use signpost_domain::{AccountId, LinkId, Timestamp};
use signpost_postgres::{PostgresOptions, PostgresStore};
use signpost_sqlite::{DatabaseFile, SqliteClickStore, SqliteOptions};

use super::program::Program;

/// Longer than any call takes on a busy machine.
const TIME_LIMIT: Duration = Duration::from_mins(1);

/// Visits of one visitor to one link.
#[derive(Debug, Clone)]
pub struct EarlierVisits<'a> {
    pub account: &'a str,
    pub link: &'a str,
    pub at: Timestamp,
    pub kind: RecordedKind,
    /// Two visits of one day with the same number come from one visitor.
    pub visitor: u8,
    pub times: usize,
    pub values: &'a [(Dimension, &'a str)],
}

/// Stores the visits, which are then counted like others.
pub fn store_visits(program: &Program, visits: &[EarlierVisits<'_>]) {
    let mut builder = SegmentBuilder::new();
    for visit in visits {
        let mut values = [""; Dimension::RECORDED.len()];
        for (dimension, value) in visit.values {
            values[dimension.recorded_place().unwrap()] = value;
        }
        let click = RecordedClick {
            at: visit.at,
            account: visit.account.parse::<AccountId>().unwrap(),
            link: visit.link.parse::<LinkId>().unwrap(),
            kind: visit.kind,
            visitor: VisitorHash([visit.visitor; 6]),
            values: Values(values),
        };
        for _ in 0..visit.times {
            builder.push(&click).unwrap();
        }
    }
    let built = builder.finish().unwrap();
    let batch = EncodedClicks {
        source: ClickSource([1; 16]),
        number: 1,
        clicks: built.clicks,
        first: built.first,
        last: built.last,
        segment: built.data,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let appended = runtime.block_on(async {
        if let Some(url) = program.database_url() {
            let options = PostgresOptions::with_time_limit(TIME_LIMIT);
            PostgresStore::connect(&url, &options).await.unwrap().append(&batch).await
        } else {
            let file = DatabaseFile::at(program.folder().join("signpost.db")).unwrap();
            let options = SqliteOptions { time_limit: TIME_LIMIT, ..SqliteOptions::default() };
            SqliteClickStore::open_existing(&file, &options).unwrap().append(&batch).await
        }
    });
    assert_eq!(appended.unwrap(), Appended::Now, "one batch for each store");
}

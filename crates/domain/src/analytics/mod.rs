//! Analytics: recorded visits, questions about them, and the answers (D45 to D51, D66).

mod buckets;
mod click;
mod click_id;
mod csv_cell;
mod dimension;
mod filter;
mod interval;
mod local_date;
mod local_date_time;
mod period;
mod planned_deletion;
mod question;
mod recorded_value;
mod report;
mod report_subject;
mod time_zone;
mod utc_day;

pub use buckets::{Buckets, MAX_BUCKETS};
pub use click::{ClickSource, RecordedClick, RecordedKind, Values, VisitorHash, VisitorKey};
pub use click_id::ClickId;
pub use csv_cell::push_csv_cell;
pub use dimension::{Dimension, MAX_KEPT_VALUES, OTHER_VALUES};
pub use filter::DimensionFilter;
pub use interval::Interval;
pub use local_date::LocalDate;
pub use local_date_time::{LocalDateTime, LocalInstants};
pub use period::Period;
pub use planned_deletion::PlannedDeletion;
pub use question::{ClickSelection, LinkScope, MAX_VALUES, Question};
pub use recorded_value::{MAX_TEXT_CHARS, recorded_host, recorded_text, recorded_text_in_lower_case};
pub use report::{Counts, ExportedClick, RecentClicks, Report, ValueCounts};
pub use report_subject::ReportSubject;
pub use time_zone::{LocalTime, TimeZone};
pub use utc_day::UtcDay;

//! The shared cases of corrupt rows.

use signpost_port_contracts::store::unreadable_rows as contract;

use super::corrupt_rows::lenient;
use super::database::open;

macro_rules! contract {
    ($($case:ident)*) => {$(
        #[tokio::test]
        async fn $case() {
            let database = lenient().await;
            contract::$case(&open(&database).await, &|sql| database.run(sql)).await;
        }
    )*};
}

contract! {
    lists_of_links_leave_out_what_cannot_be_read
    links_outlive_the_rules_that_accepted_them
    other_lists_leave_out_what_cannot_be_read
    visits_name_the_row_that_cannot_be_read
}

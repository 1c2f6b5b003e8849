//! The shared cases of corrupt rows.

use signpost_port_contracts::store::unreadable_rows as contract;

use super::database::Database;

macro_rules! contract {
    ($($case:ident)*) => {$(
        #[tokio::test]
        async fn $case() {
            let database = Database::new();
            contract::$case(&database.open(), &|sql| database.spoil(sql)).await;
        }
    )*};
}

contract! {
    lists_of_links_leave_out_what_cannot_be_read
    links_outlive_the_rules_that_accepted_them
    other_lists_leave_out_what_cannot_be_read
    visits_name_the_row_that_cannot_be_read
}

//! The list of the cases of a quota store, as a macro for the same reason as that of a store.

/// Hands the list to another macro, after that macro's own arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __quota_cases {
    ([$($callback:tt)*] $arguments:tt) => {
        $($callback)* ! { $arguments
            windows {
                an_admitted_request_counts_in_both_windows
                a_refused_request_counts_in_neither_window
                where_both_windows_are_exhausted_the_day_is_the_reason
                windows_begin_on_the_full_minute_and_at_midnight
                asking_what_is_left_does_not_count
                accounts_are_independent
                a_budget_of_zero_admits_nothing
                another_budget_is_judged_by_the_same_counts
                a_clock_that_steps_back_finds_the_old_counts
                no_window_admits_more_than_its_limit_whatever_the_clock_does
                counts_are_there_when_the_store_is_opened_again
            }
            concurrent_requests {
                of_concurrent_requests_exactly_the_allowed_number_is_admitted
                concurrent_requests_of_several_accounts_and_minutes_are_counted_apart
            }
        }
    };
}

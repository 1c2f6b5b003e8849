//! The list of the cases of a click store. It is a macro, because the table of cases and the tests of the adapters are
//! generated from it.

/// Passes the list to another macro, after that macro's own arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __click_cases {
    ([$($callback:tt)*] $arguments:tt) => {
        $($callback)* ! { $arguments
            appending {
                d51_a_batch_is_stored_once
                d51_a_batch_after_a_gap_is_not_stored
                d51_a_source_begins_with_its_first_batch
                d51_concurrent_copies_of_a_batch_are_stored_once
                d51_appended_batches_survive_reopening
                a_malformed_batch_does_not_block_others
            }
            counting {
                d47_answers_equal_a_brute_force_count
                d51_upkeep_in_any_order_changes_no_answer
                d51_concurrent_upkeep_changes_no_answer
                accounts_count_only_their_own_clicks
                a_query_after_its_deadline_is_refused
            }
            upkeep {
                each_step_of_upkeep_terminates
                d51_concurrent_packers_count_each_click_once
                late_clicks_count_after_digests_and_sealing
            }
            exports {
                d66_clicks_come_in_the_order_of_their_ids
                d66_an_export_resumes_after_any_click
                d66_upkeep_changes_no_export
            }
            recent {
                d66_recent_clicks_are_counted_for_each_link
                d66_sealing_keeps_the_last_click
            }
            deletion {
                clicks_before_a_day_are_deleted
                r36_all_clicks_of_an_account_are_deleted
                r36_late_batches_of_a_deleted_account_are_dropped
                r22_late_clicks_of_deleted_days_are_kept
                r22_a_planned_deletion_is_stored_until_it_is_removed
                old_clicks_of_an_account_are_counted
                accounts_with_planned_deletions_are_listed_too
                accounts_with_old_clicks_are_listed_in_order
            }
            visitor_keys {
                d48_all_nodes_get_the_first_proposed_key
                d48_keys_of_earlier_days_are_deleted
            }
        }
    };
}

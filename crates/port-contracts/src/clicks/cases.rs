//! The list of the cases of a store of clicks. It is a macro so that the table of cases here and the tests of the
//! adapters are made from the same names.

/// Hands the list to another macro, after that macro's own arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __click_cases {
    ([$($callback:tt)*] $arguments:tt) => {
        $($callback)* ! { $arguments
            appending {
                d51_a_batch_is_stored_once
                d51_a_batch_behind_a_gap_is_not_stored
                d51_a_source_begins_with_its_first_batch
                d51_of_many_copies_of_a_batch_one_is_stored
                d51_what_is_appended_is_there_after_reopening
                a_malformed_batch_keeps_no_other_from_being_counted
            }
            counting {
                d47_answers_are_those_of_a_brute_force_count
                d51_upkeep_in_any_order_changes_no_answer
                d51_upkeep_at_the_same_time_changes_no_answer
                accounts_count_their_own_clicks_only
                a_question_past_its_deadline_is_refused
            }
            upkeep {
                each_step_of_upkeep_comes_to_an_end
                d51_several_packers_at_once_lose_and_double_nothing
                late_clicks_count_after_digests_and_sealing
            }
            exports {
                d66_clicks_come_in_the_order_of_their_ids
                d66_an_export_is_resumed_behind_any_click
                d66_upkeep_changes_no_export
            }
            recent {
                d66_recent_clicks_are_counted_for_each_link
                d66_the_last_click_is_known_after_its_day_is_sealed
            }
            deletion {
                clicks_before_a_day_are_deleted
                r36_all_clicks_of_an_account_are_deleted
                r36_late_batches_of_a_deleted_account_are_dropped
                accounts_with_old_clicks_are_listed_in_order
            }
            visitor_keys {
                d48_all_nodes_get_the_key_that_was_proposed_first
                d48_keys_of_earlier_days_are_forgotten
            }
        }
    };
}

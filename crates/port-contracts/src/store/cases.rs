//! The list of the cases of a store. It is a macro so that the table of cases here and the tests of the
//! adapters are made from the same names.

/// Hands the list to another macro, after that macro's own arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __store_cases {
    ([$($callback:tt)*] $arguments:tt) => {
        $($callback)* ! { $arguments
            accounts {
                an_account_reads_back_as_it_was_inserted
                a_new_account_uses_nothing
                what_is_not_there_is_none
                an_email_address_is_unique_without_regard_to_case
                an_email_address_finds_its_account_without_regard_to_case
                a_taken_email_address_leaves_the_unit_of_work_usable
                any_account_tells_whether_there_is_one
                of_many_first_accounts_one_is_inserted
                a_plan_is_set_for_one_account
                suspending_keeps_the_first_instant_and_resuming_ends_it
                deleting_an_account_deletes_all_that_is_its_own
                a_deleted_account_gets_nothing_new
                accounts_are_listed_newest_first
                plans_in_use_are_counted
            }
            keys {
                a_key_reads_back_as_it_was_inserted
                a_hash_finds_its_key_and_account
                a_hash_finds_a_link_of_its_account_and_of_no_other
                an_unknown_hash_finds_nothing
                a_hash_finds_the_account_as_it_is_now
                a_revoked_key_is_found_as_revoked_since_the_first_time
                keys_of_an_account_are_listed_newest_first
                a_key_needs_an_account
            }
            groups {
                a_group_reads_back_as_it_was_inserted
                a_group_id_is_given_out_once_over_all_accounts
                an_unknown_group_is_none
                an_update_writes_name_and_time_and_leaves_the_counters
                the_limit_on_groups_is_kept
                a_reached_limit_on_groups_leaves_the_unit_of_work_usable
                deleting_a_group_keeps_its_links
                a_group_is_emptied_some_links_at_a_time
                groups_are_listed_newest_first_with_their_counters
            }
            pixels {
                a_pixel_reads_back_as_it_was_inserted
                a_pixel_id_is_given_out_once_over_all_accounts
                an_unknown_pixel_is_none
                the_limit_on_pixels_is_kept
                a_reached_limit_on_pixels_leaves_the_unit_of_work_usable
                a_missing_account_gets_no_pixel
                pixels_are_listed_newest_first
                pixels_are_found_by_their_ids
                as_many_pixels_as_a_batch_names_are_found_at_once
                redirects_keep_the_ids_of_pixels_that_are_gone
                what_is_undone_moves_no_count_of_pixels
            }
            custom_domains {
                a_domain_reads_back_as_it_was_inserted
                a_domain_id_is_given_out_once_over_all_accounts
                an_unknown_domain_is_none
                an_update_writes_the_status_alone
                the_limit_on_domains_is_kept
                a_reached_limit_on_domains_leaves_the_unit_of_work_usable
                a_missing_account_gets_no_domain
                domains_are_listed_newest_first
                domains_are_found_by_their_hostnames
                what_is_undone_moves_no_count_of_domains
            }
            domain_claims {
                a_hostname_is_taken_by_what_is_not_stored_as_failed
                an_account_has_a_hostname_once
                a_failed_domain_comes_back_if_the_hostname_is_free
                a_taken_hostname_leaves_the_unit_of_work_usable
                claims_are_the_callers_own_and_the_holders
                of_concurrent_connections_of_one_hostname_one_succeeds
                of_concurrent_returns_of_one_hostname_one_succeeds
                claims_are_held_until_the_unit_of_work_ends
                concurrent_updates_of_one_domain_build_on_each_other
            }
            domain_checks {
                what_is_due_is_claimed_longest_due_first
                a_claimed_check_is_due_again_in_time
                a_check_that_is_never_concluded_is_left_alone
                a_check_that_changed_nothing_is_planned_anew
                a_plan_is_written_only_while_the_claim_stands
                a_status_that_is_written_comes_with_a_plan
                of_many_claimants_one_gets_each_check
                checks_are_claimed_among_writers
                plans_are_there_when_the_store_is_opened_again
            }
            given_up_checks {
                a_check_that_was_given_up_is_due_again_after_a_day
                checks_are_released_some_at_a_time
                only_what_was_given_up_is_released
                of_many_sweepers_one_releases_each_check
            }
            domain_diagnosis {
                what_explains_a_domain_reads_back_as_it_was_written
                a_schedule_is_read_as_it_is_stored
                an_observation_leaves_plan_and_claim_alone
                nobody_records_an_observation_of_anothers_domain
                a_check_writes_what_it_saw
                what_was_seen_is_written_only_while_the_claim_stands
            }
            domain_deadlines {
                a_domain_expires_at_its_deadline
                domains_expire_some_at_a_time
                an_expired_domain_holds_nothing
                of_many_sweepers_one_stores_each_as_failed
            }
            links_on_domains {
                only_an_active_domain_shows_its_links
                another_accounts_domain_shows_no_links
                a_domain_that_is_held_stays_until_the_unit_of_work_ends
                no_link_is_left_on_a_domain_that_is_gone
            }
            lost_links {
                a_lost_link_keeps_all_but_its_address
                only_links_that_are_meant_are_lost
                links_are_lost_some_at_a_time
                a_thousand_links_are_lost_at_once
                a_lost_address_is_free_at_once
                a_loss_that_is_not_committed_is_undone
            }
            links {
                a_link_reads_back_as_it_was_inserted
                an_unknown_link_is_none
                an_id_of_the_other_kind_finds_nothing
                an_update_writes_every_field
                an_update_into_a_missing_group_changes_nothing
                a_deleted_link_is_gone
                a_lost_link_keeps_its_slug_and_comes_back
                links_are_deleted_some_at_a_time
            }
            page_contents {
                nothing_is_on_a_new_page
                what_is_written_on_a_page_reads_back
                a_page_may_be_full
                an_unknown_widget_passes_untouched
                a_page_is_found_by_its_own_id_only
                another_account_finds_and_writes_no_page
                changing_a_link_leaves_what_is_on_it
                what_is_on_a_page_goes_with_it
                what_is_written_is_undone_with_its_unit_of_work
                writing_on_a_page_logs_its_address
                concurrent_changes_of_a_page_build_on_each_other
                a_page_and_what_is_on_it_are_of_one_moment
            }
            addresses {
                different_addresses_stand_side_by_side
                an_address_is_inserted_once_whoever_asks
                a_link_that_does_not_resolve_holds_its_address
                lost_links_do_not_take_addresses
                a_taken_address_leaves_the_unit_of_work_usable
                a_deletion_frees_the_address_at_once
                an_update_frees_the_old_address_and_takes_the_new
                a_link_does_not_move_to_an_address_of_another_kind
                a_link_does_not_stand_in_its_own_way
                two_links_swap_addresses_only_by_way_of_a_third
                links_at_addresses_are_the_accounts_own
                occupied_addresses_are_named_whoever_owns_the_link
                links_are_read_by_their_ids
                a_link_at_an_address_is_the_one_there_now
            }
            link_limits {
                the_limit_on_links_is_kept
                every_link_counts_once
                decisions_come_in_their_order
                a_refused_link_leaves_the_unit_of_work_usable
                a_group_of_another_account_is_missing
            }
            batch_insertions {
                every_decision_can_stand_in_one_batch
                a_link_kept_out_leaves_no_trace
                a_link_kept_out_takes_no_room
                an_empty_batch_changes_nothing
                a_hundred_links_are_inserted_at_once
                a_batch_for_a_missing_account_inserts_nothing
                an_id_is_given_out_once
                a_batch_is_part_of_its_unit_of_work
                a_batch_is_decided_as_if_one_after_another
            }
            batch_deletions {
                exactly_the_accounts_own_links_are_deleted
                deletions_make_room_within_the_unit_of_work
                a_deletion_that_is_not_committed_is_undone
                a_hundred_links_are_deleted_at_once
            }
            group_counters {
                counters_follow_insertions_and_deletions
                counters_follow_updates
                counters_follow_the_unit_of_work
                counters_follow_what_is_done_to_many_links
            }
            group_membership {
                links_are_put_into_a_group
                links_are_taken_out_of_a_group
                a_missing_group_moves_no_links
                a_move_that_is_not_committed_is_undone
                a_hundred_links_are_moved_at_once
            }
            published_links {
                every_address_finds_its_own_link
                a_visitor_sees_each_change_once_it_is_committed
                a_redirect_has_the_codes_of_its_own_pixels_in_its_order
                concurrent_visits_each_find_their_own_link
            }
            tenants {
                another_account_reads_nothing
                another_account_locks_and_deletes_nothing
                another_account_moves_no_links_between_groups
                another_account_writes_over_nothing
            }
            link_pages {
                pages_of_every_size_hold_all_links
                an_account_without_links_has_one_empty_page
                links_are_listed_by_id
                a_position_needs_no_link
                a_walk_with_changes_between_its_pages_misses_nothing
                a_walk_among_writers_misses_nothing
            }
            link_filters {
                filters_combine
                ids_are_those_of_the_lists
                a_search_looks_for_a_substring
                a_landing_page_is_searched_by_title_and_slug
                filters_see_the_latest_state
                a_slug_is_found_exactly_and_wherever_it_is
            }
            units_of_work {
                changes_are_seen_once_they_are_committed
                a_unit_of_work_that_is_dropped_is_undone
                an_empty_unit_of_work_changes_nothing
                a_unit_of_work_of_a_cancelled_task_is_undone
                cancelling_at_any_moment_leaves_all_or_nothing
                a_unit_of_work_sees_its_own_changes
                reading_goes_on_beside_a_unit_of_work
                what_was_committed_is_there_when_the_store_is_opened_again
            }
            changes {
                an_insertion_logs_what_it_inserted
                an_update_logs_where_the_link_was_and_is
                a_deletion_logs_what_it_deleted
                what_befalls_an_account_logs_the_account
                what_visitors_do_not_see_is_not_logged
                a_unit_of_work_is_one_entry
                each_account_has_its_own_entry
                what_befalls_a_domain_logs_the_domain
                lost_links_log_the_domain_of_each_account
                what_is_undone_is_not_logged
            }
            visible_writes {
                every_write_that_visitors_see_is_noted
            }
            change_reading {
                a_reader_goes_on_where_it_was
                nothing_after_the_end_is_missed
                units_of_work_that_overlap_are_both_seen
                a_reader_among_writers_misses_nothing
                more_than_was_asked_for_is_too_many
                old_entries_are_forgotten_a_bounded_number_at_a_time
                a_reader_goes_on_when_the_store_is_opened_again
            }
            leases {
                a_lease_has_one_holder_until_it_ends
                a_holder_renews_whatever_its_clock_says
                a_lease_that_is_given_back_is_free_at_once
                of_many_takers_one_gets_the_lease
                a_lease_is_there_when_the_store_is_opened_again
            }
            concurrent_writes {
                the_limit_on_links_is_exact_under_concurrency
                the_limit_on_groups_is_exact_under_concurrency
                the_limit_on_domains_is_exact_under_concurrency
                the_limit_on_pixels_is_exact_under_concurrency
                of_concurrent_creations_of_one_address_one_succeeds
                of_concurrent_moves_to_one_address_one_succeeds
                concurrent_updates_of_one_link_build_on_each_other
                concurrent_updates_of_one_group_build_on_each_other
                no_link_ends_in_a_group_that_is_gone
            }
            concurrent_batches {
                batches_share_addresses_and_a_limit_exactly
                batches_of_several_accounts_share_addresses_exactly
                batches_through_the_same_groups_all_end
                of_concurrent_deletions_of_a_link_one_succeeds
                no_link_is_put_into_a_group_that_is_gone
            }
            time_limits {
                a_forgotten_unit_of_work_is_undone
                each_unit_of_work_has_its_own_time
                all_attempts_have_the_time_of_one
            }
            remembered_answers {
                a_remembered_answer_reads_back
                an_answer_is_remembered_with_what_it_answers
                a_claim_that_is_dropped_leaves_the_key_free
                the_same_key_of_another_account_is_another
                keys_are_compared_exactly
                an_answer_is_remembered_for_24_hours
                a_key_tells_what_it_was_first_used_for
                a_key_and_its_answer_may_be_long
                a_claim_waits_for_the_end_of_another
                of_many_requests_with_one_key_one_is_carried_out
                different_keys_do_not_stand_in_each_others_way
                old_answers_are_forgotten_oldest_first
                a_key_that_was_taken_over_is_not_forgotten
                an_account_takes_its_answers_along
                answers_are_there_when_the_store_is_opened_again
            }
            room_for_answers {
                an_account_has_room_for_so_many_bytes_of_answers
                the_oldest_answers_make_room_when_they_are_an_hour_old
                room_that_was_taken_is_free_again_when_the_unit_of_work_is_dropped
                what_is_forgotten_takes_no_room
                an_answer_larger_than_the_room_gets_none
                concurrent_answers_share_the_room_exactly
            }
            random_sequences {
                the_store_behaves_as_the_model_does
            }
        }
    };
}

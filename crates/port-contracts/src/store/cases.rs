//! The list of the cases of a store. It is a macro, because the table of cases and the tests of the adapters are generated
//! from it.

/// Passes the list to another macro, after that macro's own arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __store_cases {
    ([$($callback:tt)*] $arguments:tt) => {
        $($callback)* ! { $arguments
            accounts {
                an_account_reads_back_as_it_was_inserted
                a_new_account_uses_nothing
                missing_accounts_are_not_found
                email_addresses_are_unique_ignoring_case
                accounts_are_found_by_email_ignoring_case
                a_taken_email_address_leaves_the_unit_of_work_usable
                any_account_says_whether_accounts_exist
                d62_concurrent_starts_insert_one_first_account
                setting_a_plan_changes_one_account
                suspending_again_keeps_the_first_instant_until_resumed
                deleting_an_account_deletes_its_data
                nothing_is_inserted_for_a_missing_account
                accounts_are_listed_newest_first
                plans_in_use_are_counted
            }
            keys {
                a_key_reads_back_as_it_was_inserted
                a_hash_finds_its_key_and_account
                a_hash_finds_only_links_of_its_account
                an_unknown_hash_finds_nothing
                a_hash_finds_the_account_as_it_is_now
                revoking_again_keeps_the_first_instant
                keys_of_an_account_are_listed_newest_first
            }
            limited_resources {
                ids_are_unique_across_accounts
                unknown_resources_are_not_found
                d15_resources_never_exceed_the_limit
                a_reached_limit_leaves_the_unit_of_work_usable
                resources_are_listed_newest_first
                rollback_restores_the_count
                d15_limits_are_exact_under_concurrency
            }
            groups {
                a_group_reads_back_as_it_was_inserted
                an_update_keeps_the_counters_of_a_group
                deleting_a_group_keeps_its_links
                a_group_is_emptied_in_bounded_steps
            }
            pixels {
                a_pixel_reads_back_as_it_was_inserted
                pixels_are_found_by_their_ids
                one_call_finds_all_pixels_of_a_batch
                redirects_keep_the_ids_of_deleted_pixels
            }
            custom_domains {
                a_domain_reads_back_as_it_was_inserted
                an_update_changes_only_the_status
                d15_failed_domains_count_against_the_limit
                domains_are_found_by_their_hostnames
            }
            domain_claims {
                d40_only_failed_domains_leave_their_hostname_free
                d40_an_account_connects_a_hostname_once
                a_failed_domain_returns_if_its_hostname_is_free
                a_taken_hostname_leaves_the_unit_of_work_usable
                claims_show_the_callers_domain_and_the_holders
                one_of_many_concurrent_connections_of_a_hostname_succeeds
                one_of_many_concurrent_returns_of_a_hostname_succeeds
                claims_stay_locked_until_the_unit_of_work_ends
                concurrent_updates_of_a_domain_lose_nothing
            }
            domain_checks {
                due_checks_are_claimed_longest_overdue_first
                an_unfinished_check_is_due_again_after_its_claim
                a_check_that_never_concludes_is_given_up
                a_check_without_a_change_gets_a_new_plan
                a_plan_is_written_only_under_a_valid_claim
                writing_a_status_writes_its_plan
                concurrent_claimants_never_share_a_check
                concurrent_writes_do_not_disturb_claims
                plans_survive_reopening
            }
            given_up_checks {
                a_given_up_check_is_due_again_after_a_day
                checks_are_released_in_bounded_steps
                only_given_up_checks_are_released
                concurrent_sweepers_release_each_check_once
            }
            domain_diagnosis {
                d65_a_diagnosis_reads_back_as_it_was_written
                d65_a_schedule_is_read_as_it_is_stored
                recording_an_observation_keeps_plan_and_claim
                observations_of_another_accounts_domain_are_not_recorded
                a_check_records_its_observations
                observations_are_written_only_under_a_valid_claim
            }
            domain_deadlines {
                a_domain_expires_at_its_deadline
                domains_expire_in_bounded_steps
                an_expired_domain_frees_its_hostname
                concurrent_sweepers_expire_each_domain_once
            }
            links_on_domains {
                only_an_active_domain_shows_its_links
                another_accounts_domain_shows_no_links
                a_locked_domain_stays_until_the_unit_of_work_ends
                no_link_stays_on_a_removed_domain
            }
            lost_links {
                a_lost_link_loses_only_its_address
                only_the_selected_links_are_lost
                links_are_lost_in_bounded_steps
                a_thousand_links_are_lost_at_once
                a_lost_address_is_free_at_once
                an_uncommitted_loss_is_rolled_back
            }
            links {
                a_link_reads_back_as_it_was_inserted
                unknown_links_are_not_found
                an_id_of_the_other_kind_finds_nothing
                an_update_writes_every_field
                an_update_into_a_missing_group_changes_nothing
                a_deleted_link_is_gone
                d22_a_lost_link_keeps_its_slug_and_returns
                links_are_deleted_in_bounded_steps
            }
            page_contents {
                a_new_page_is_empty
                page_content_reads_back_as_written
                a_page_holds_the_maximum_content
                d35_unknown_widgets_are_kept_verbatim
                r1_another_account_reads_and_writes_no_page
                changing_a_link_keeps_its_page_content
                deleting_a_page_deletes_its_content
                changing_page_content_logs_the_address
                concurrent_changes_of_a_page_lose_nothing
                a_page_and_its_content_are_read_from_one_snapshot
            }
            addresses {
                different_addresses_coexist
                d20_an_address_belongs_to_one_link_across_accounts
                unresolvable_links_keep_their_address
                d22_lost_links_occupy_no_address
                a_taken_address_leaves_the_unit_of_work_usable
                a_deletion_frees_the_address_at_once
                an_update_frees_the_old_address_and_takes_the_new
                a_link_does_not_move_to_an_address_of_another_kind
                swapping_addresses_needs_a_third_address
                d20_only_own_links_at_occupied_addresses_are_identified
                links_are_read_by_their_ids
                a_link_at_an_address_is_the_current_one
            }
            link_limits {
                d15_links_never_exceed_the_limit
                every_link_counts_once
            }
            batch_insertions {
                one_batch_can_contain_every_decision
                a_refused_link_leaves_no_trace
                d15_refused_links_do_not_count_against_the_limit
                an_empty_batch_changes_nothing
                a_hundred_links_are_inserted_at_once
                link_ids_are_unique
                a_batch_is_part_of_its_unit_of_work
                a_batch_equals_single_insertions_in_order
            }
            batch_deletions {
                only_own_links_are_deleted
                deletions_free_room_within_the_unit_of_work
                a_hundred_links_are_deleted_at_once
            }
            group_counters {
                counters_follow_updates
                counters_follow_the_unit_of_work
                counters_follow_bulk_changes
            }
            group_membership {
                links_are_put_into_a_group
                links_are_taken_out_of_a_group
                a_missing_group_moves_no_links
                a_hundred_links_are_moved_at_once
            }
            published_links {
                every_address_finds_its_own_link
                visitors_see_changes_after_the_commit
                d57_a_redirect_has_its_pixel_codes_in_its_order
                concurrent_visits_each_find_their_own_link
            }
            tenants {
                another_account_reads_nothing
                another_account_locks_and_deletes_nothing
                another_account_moves_no_links_between_groups
                another_account_overwrites_nothing
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
                ids_match_the_lists
                a_search_finds_substrings
                landing_pages_are_searched_by_title_and_slug
                filters_see_the_latest_state
                the_slug_filter_matches_whole_slugs_on_any_domain
            }
            units_of_work {
                changes_are_visible_after_the_commit
                a_dropped_unit_of_work_is_rolled_back
                an_empty_unit_of_work_changes_nothing
                cancelling_a_task_rolls_its_unit_of_work_back
                cancelling_at_any_moment_leaves_all_or_nothing
                a_unit_of_work_sees_its_own_changes
                reads_do_not_wait_for_units_of_work
                committed_changes_survive_reopening
            }
            changes {
                an_insertion_logs_the_inserted_addresses
                an_update_logs_the_old_and_the_new_address
                a_deletion_logs_the_freed_addresses
                changes_of_an_account_log_the_account
                changes_that_visitors_cannot_see_are_not_logged
                a_unit_of_work_is_one_entry
                each_account_has_its_own_entry
                changes_of_a_domain_log_the_domain
                lost_links_log_the_domain_of_each_account
                rolled_back_changes_are_not_logged
            }
            visible_writes {
                d58_every_write_that_visitors_see_is_logged
            }
            change_reading {
                a_reader_continues_from_its_position
                no_entry_after_the_end_is_missed
                readers_see_both_of_two_overlapping_units_of_work
                a_reader_misses_nothing_during_concurrent_writes
                a_read_reports_entries_beyond_its_limit
                old_entries_are_deleted_in_bounded_steps
                positions_of_readers_survive_reopening
            }
            leases {
                a_lease_has_one_holder_until_it_ends
                a_holder_renews_regardless_of_its_clock
                a_returned_lease_is_free_at_once
                one_of_many_concurrent_takers_gets_the_lease
                leases_survive_reopening
            }
            concurrent_writes {
                d15_the_limit_on_links_is_exact_under_concurrency
                d20_one_of_many_concurrent_creations_of_an_address_succeeds
                d20_one_of_many_concurrent_moves_to_an_address_succeeds
                concurrent_updates_of_a_link_lose_nothing
                concurrent_updates_of_a_group_lose_nothing
                one_of_many_concurrent_creations_of_a_named_group_creates_it
                no_update_leaves_a_link_in_a_deleted_group
            }
            concurrent_batches {
                batches_share_addresses_and_a_limit_exactly
                batches_of_several_accounts_share_addresses_exactly
                opposite_orders_of_groups_do_not_deadlock
                one_of_many_concurrent_deletions_of_a_link_succeeds
                no_move_leaves_a_link_in_a_deleted_group
            }
            time_limits {
                a_unit_of_work_beyond_the_time_limit_is_rolled_back
                each_unit_of_work_has_its_own_time_limit
                d30_all_attempts_share_one_time_limit
            }
            remembered_answers {
                a_remembered_answer_reads_back
                an_answer_is_committed_with_its_change
                a_dropped_claim_leaves_the_key_free
                keys_of_different_accounts_are_independent
                keys_are_compared_byte_for_byte
                d12_an_answer_is_remembered_for_24_hours
                a_reused_key_returns_its_first_request
                long_keys_and_answers_are_remembered
                a_claim_waits_for_a_concurrent_claim
                d12_one_of_many_requests_with_a_key_is_executed
                different_keys_do_not_wait_for_each_other
                old_answers_are_deleted_oldest_first
                a_reclaimed_key_is_not_deleted
                deleting_an_account_deletes_its_answers
                answers_survive_reopening
            }
            room_for_answers {
                d12_answers_of_an_account_are_bounded_in_bytes
                answers_older_than_an_hour_make_room
                rollback_frees_the_room_of_an_answer
                deleted_answers_take_no_room
                an_answer_larger_than_the_room_is_not_remembered
                concurrent_answers_share_the_room_exactly
            }
            random_sequences {
                the_store_behaves_like_the_model
            }
        }
    };
}

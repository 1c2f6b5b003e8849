//! The list of the files with cases of a store. It is a macro, because the table of cases and the tests of the adapters are
//! generated from it. Each file lists its cases itself.

/// Passes the list to another macro, after that macro's own arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __store_files {
    ([$($callback:tt)*] $arguments:tt) => {
        $($callback)* ! { $arguments
            account_settings
            accounts
            keys
            limited_resources
            groups
            pixels
            custom_domains
            domain_settings
            domain_claims
            domain_checks
            given_up_checks
            domain_diagnosis
            domain_deadlines
            certificates
            certificate_work
            certificate_removal
            order_budgets
            sealed_secrets
            click_credits
            links_on_domains
            lost_links
            links
            page_contents
            addresses
            external_ids
            tags
            tag_changes
            tag_filters
            link_limits
            link_passwords
            batch_insertions
            batch_updates
            batch_deletions
            group_counters
            group_membership
            published_links
            tenants
            link_pages
            link_filters
            link_instants
            link_rules
            link_states
            target_hosts
            units_of_work
            changes
            visible_writes
            change_reading
            leases
            concurrent_writes
            concurrent_batches
            time_limits
            remembered_answers
            room_for_answers
            users
            memberships
            sessions
            tickets
            identities
            sign_ins
            audit
            audit_search
            expired_people
            random_sequences
        }
    };
}

//! The list of the cases of what asks DNS, as a macro for the same reason as that of a store.

/// Hands the list to another macro, after that macro's own arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __dns_cases {
    ([$($callback:tt)*] $arguments:tt) => {
        $($callback)* ! { $arguments
            texts {
                a_name_has_the_texts_that_were_set
                a_name_that_does_not_exist_has_no_texts
                a_name_with_other_records_alone_has_no_texts
                the_strings_of_one_record_are_joined
                what_is_not_utf_8_is_replaced
                texts_are_found_whatever_the_case_of_letters
                aliases_lead_to_texts
                a_chain_that_leads_nowhere_has_no_texts
                a_name_that_cannot_be_in_dns_has_no_texts
            }
            chains {
                a_hostname_has_the_addresses_of_both_families
                one_family_is_enough
                a_hostname_that_does_not_exist_leads_nowhere
                a_hostname_with_texts_alone_leads_nowhere
                a_chain_is_told_in_order_and_in_lower_case
                eight_aliases_are_followed_and_nine_are_not
                a_chain_that_leads_round_in_a_circle_has_no_addresses
                an_alias_of_itself_has_no_addresses
                a_chain_that_ends_where_there_is_nothing_is_an_answer
                an_alias_need_not_lead_to_a_hostname
            }
            availability {
                a_record_is_seen_at_once_after_a_no
                a_change_and_a_removal_are_seen_at_once
                without_an_answer_nothing_is_known
            }
        }
    };
}

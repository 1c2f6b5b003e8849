use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use signpost_domain::LinkKind;

use super::*;

const USED_UP: NoTry = NoTry::UsedUp { retry_after_seconds: 45 };

fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).unwrap()
}

fn link(number: u8) -> LinkId {
    LinkId::from_bytes(LinkKind::Redirect, [number; 16])
}

fn v4(bits: u32) -> IpAddr {
    Ipv4Addr::from_bits(bits).into()
}

/// Tries a wrong password.
fn wrong(tries: &PasswordTries, link: LinkId, address: IpAddr, now: Timestamp) -> Result<(), NoTry> {
    tries.begin(link, address, now).map(drop)
}

#[test]
fn d131_ten_wrong_ones_a_minute_from_an_address_for_a_link() {
    let tries = PasswordTries::new();
    for _ in 0..10 {
        assert_eq!(tries.judge(link(1), v4(1), at(15_000)), Ok(()));
        assert_eq!(wrong(&tries, link(1), v4(1), at(15_000)), Ok(()));
    }
    assert_eq!(tries.judge(link(1), v4(1), at(15_000)), Err(USED_UP));
    assert_eq!(wrong(&tries, link(1), v4(1), at(15_000)), Err(USED_UP));
    assert_eq!(wrong(&tries, link(2), v4(1), at(15_000)), Ok(()), "another link");
    assert_eq!(wrong(&tries, link(1), v4(2), at(15_000)), Ok(()), "another address");
    assert_eq!(tries.judge(link(1), v4(1), at(60_000)), Ok(()), "another minute");
    assert_eq!(wrong(&tries, link(1), v4(1), at(60_000)), Ok(()));
}

#[test]
fn d131_ipv6_addresses_count_by_their_64() {
    let tries = PasswordTries::new();
    let v6 = |low| IpAddr::from(Ipv6Addr::from_bits((0x2001_0db8_u128 << 96) | low));
    for low in 0..10 {
        assert_eq!(wrong(&tries, link(1), v6(low), at(15_000)), Ok(()));
    }
    assert_eq!(wrong(&tries, link(1), v6(u128::from(u64::MAX)), at(15_000)), Err(USED_UP));
    assert_eq!(wrong(&tries, link(1), v6(1 << 64), at(15_000)), Ok(()));
}

#[test]
fn d131_six_hundred_wrong_ones_a_minute_for_a_link_from_everybody() {
    let tries = PasswordTries::new();
    for address in 0..600 {
        assert_eq!(wrong(&tries, link(1), v4(address), at(15_000)), Ok(()), "{address}");
    }
    assert_eq!(tries.judge(link(1), v4(600), at(15_000)), Err(USED_UP));
    assert_eq!(wrong(&tries, link(1), v4(600), at(15_000)), Err(USED_UP));
    assert_eq!(wrong(&tries, link(2), v4(600), at(15_000)), Ok(()));
    assert_eq!(wrong(&tries, link(1), v4(600), at(60_000)), Ok(()));
}

#[test]
fn d131_right_passwords_count_for_nothing_and_reset_nothing() {
    let tries = PasswordTries::new();
    let right = || tries.begin(link(1), v4(1), at(15_000)).map(Try::forgive);
    for _ in 0..9 {
        assert_eq!(wrong(&tries, link(1), v4(1), at(15_000)), Ok(()));
    }
    for _ in 0..1_000 {
        assert_eq!(right(), Ok(()));
    }
    assert_eq!(wrong(&tries, link(1), v4(1), at(15_000)), Ok(()));
    assert_eq!(right(), Err(USED_UP));
}

/// An office behind one address may send several right passwords at the same moment: those that come too soon are told to come
/// again, and not that the minute is over for them.
#[test]
fn d131_tries_without_a_verdict_hold_their_place() {
    let tries = PasswordTries::new();
    let pending: Vec<_> = (0..10).map(|_| tries.begin(link(1), v4(1), at(15_000)).unwrap()).collect();
    assert_eq!(wrong(&tries, link(1), v4(1), at(15_000)), Err(NoTry::MayBeUsedUp));
    assert_eq!(tries.judge(link(1), v4(1), at(15_000)), Ok(()));
    // In the next minute they still wait.
    assert_eq!(wrong(&tries, link(1), v4(1), at(60_000)), Err(NoTry::MayBeUsedUp));
    // Their verdicts are about the minute in which they began.
    drop(pending);
    for _ in 0..10 {
        assert_eq!(wrong(&tries, link(1), v4(1), at(60_000)), Ok(()));
    }
    assert!(wrong(&tries, link(1), v4(1), at(60_000)).is_err());
}

#[test]
fn d131_exactly_the_allowance_is_wrong_under_concurrency() {
    let tries = PasswordTries::new();
    let wrong: usize = std::thread::scope(|scope| {
        let tries = &tries;
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| (0..200).filter(|_| wrong(tries, link(1), v4(1), at(0)).is_ok()).count()))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(wrong, 10);
}

/// Whoever has many addresses does not get more tries for any of them.
#[test]
fn d131_a_full_table_keeps_what_is_used_up() {
    let table = Table::new(2, 2);
    let key = |number: u64| table.hasher.hash_one(number);
    let is_noted = |number| {
        let is_noted = table.begin(key(number), 1) == Beginning::Noted;
        if is_noted {
            table.end(key(number), 1, true);
        }
        is_noted
    };
    assert!(is_noted(0) && is_noted(0) && !is_noted(0));
    for number in 1..10_000 {
        is_noted(number);
    }
    assert!(!is_noted(0));
    // Once every place is used up, new keys are refused until the minute ends.
    for number in (10_000..10_100).flat_map(|number| [number; 3]) {
        is_noted(number);
    }
    assert!((20_000..20_100).all(|number| !is_noted(number)));
    assert_eq!(table.begin(key(20_000), 2), Beginning::Noted);
}

/// The sizes that the module promises.
#[test]
fn d131_the_tables_have_a_fixed_size() {
    let tries = PasswordTries::new();
    assert!(tries.of_addresses.sets.get().is_none(), "they are made with the first try");
    assert_eq!(wrong(&tries, link(1), v4(1), at(0)), Ok(()));
    for (table, bytes, places) in
        [(&tries.of_addresses, 1024 * 1024, 65_536), (&tries.of_links, 256 * 1024, 16_384)]
    {
        let sets = table.sets();
        assert_eq!((size_of_val(&**sets), sets.len() * PLACES), (bytes, places));
    }
}

proptest! {
    /// A table with room counts like a map without bounds.
    #[test]
    fn d131_a_table_with_room_counts_exactly(tries in proptest::collection::vec((0..6_u64, 1..4_u32, any::<bool>()), 0..200)) {
        let table = Table::new(3, 512);
        let mut counts = std::collections::HashMap::new();
        let mut tries = tries;
        tries.sort_by_key(|(_, minute, _)| *minute);
        for (number, minute, is_wrong) in tries {
            let key = table.hasher.hash_one(number);
            let count = counts.entry((number, minute)).or_insert(0_u16);
            let expected = if *count >= 3 { Beginning::UsedUp } else { Beginning::Noted };
            prop_assert_eq!(table.is_used_up(key, minute), *count >= 3);
            prop_assert_eq!(table.begin(key, minute), expected);
            if expected == Beginning::Noted {
                *count += u16::from(is_wrong);
                prop_assert_eq!(table.end(key, minute, is_wrong), is_wrong && *count == 3);
            }
        }
    }
}

//! R29: the throttle of rejected requests can neither be gone round nor be turned against a paying caller (D18).

use signpost_http::route_table;

use crate::harness::{Account, Answer, Program, concurrently, within_one_minute};

/// A network of proxies that this machine is not in. Its own addresses are trusted unless others are named.
const ELSEWHERE: &str = "192.0.2.0/24";

/// Senders that are rejected, each for another reason, and one that is not.
struct Senders {
    program: Program,
    /// With the status that tells why.
    rejected: Vec<(Account, u16)>,
    accepted: Account,
    /// It was never used, so the node does not remember it.
    unused: Account,
}

impl Senders {
    fn new(trusted_proxies: Option<&str>) -> Self {
        let builder = Program::builder();
        let program = match trusted_proxies {
            Some(proxies) => builder.setting("trusted-proxies", proxies).start(),
            None => builder.start(),
        };
        let [suspended, revoked] = [program.account("agency"), program.account("agency")];
        assert!(program.run(&["account", "suspend", suspended.id()]).status.success());
        let keys = program.command(&["key", "list", "--json", "--account", revoked.id()]);
        assert!(program.run(&["key", "revoke", keys[0]["id"].as_str().unwrap()]).status.success());
        let free = program.account("free");
        let keyless = program.with_key("");
        let mistyped = program.with_key(&format!("{}x", program.first_key()));
        let rejected = vec![(suspended, 403), (revoked, 401), (free, 403), (keyless, 401), (mistyped, 401)];
        let (accepted, unused) = (program.first_account(), program.account("agency"));
        Self { program, rejected, accepted, unused }
    }

    /// The status that tells the rejected request with this number why it was.
    fn reason(&self, number: usize) -> u16 {
        self.rejected[number % self.rejected.len()].1
    }

    /// The rejected request with this number: each has another reason, method and path than the one before.
    fn rejected(&self, number: usize, headers: &[(&str, &str)]) -> Answer {
        const NO_ROUTES: [(&str, &str); 4] =
            [("GET", "/v1/nothing"), ("OPTIONS", "/v1/redirects"), ("PUT", "/v1"), ("HEAD", "/v1/account")];
        let routes = route_table().iter().filter(|route| route.pattern.starts_with("/v1"));
        let routes = routes.map(|route| (route.method.as_str(), route.pattern)).chain(NO_ROUTES);
        let routes: Vec<_> = routes.collect();
        let (method, pattern) = routes[number % routes.len()];
        send(&self.rejected[number % self.rejected.len()].0, method, &pattern.replace("{id}", "x"), headers)
    }
}

fn send(account: &Account, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let authorization = format!("Bearer {}", account.key);
    let mut all = vec![("Authorization", authorization.as_str())];
    all.extend_from_slice(headers);
    account.send_with(method, path, &all, None)
}

/// Of the requests, numbered from 0, exactly the first thirty learn why; all others get a 429.
#[track_caller]
fn exactly_the_first_thirty_learned_why(senders: &Senders, statuses: &[u16]) {
    let numbers = 0..statuses.len();
    let expected: Vec<u16> =
        numbers.map(|number| if number < 30 { senders.reason(number) } else { 429 }).collect();
    assert!(statuses.len() > 30);
    assert_eq!(statuses, expected);
}

#[test]
fn d18_r29_thirty_rejections_are_one_count_over_all_reasons_methods_and_paths() {
    within_one_minute(|| {
        let senders = Senders::new(None);
        let statuses: Vec<_> = (0..60).map(|number| senders.rejected(number, &[]).status).collect();
        exactly_the_first_thirty_learned_why(&senders, &statuses);
    });
}

#[test]
fn d18_r29_a_throttled_address_passes_with_a_key_accepted_lately_and_no_other_address_is_touched() {
    within_one_minute(|| {
        let senders = Senders::new(Some("127.0.0.0/8,::1/128"));
        let status = |sender: &Account, address: &str| {
            send(sender, "GET", "/v1/account", &[("X-Forwarded-For", address)]).status
        };
        assert_eq!(status(&senders.accepted, "192.0.2.1"), 200);
        // An IPv4 address, and the addresses of one IPv6 network as its owner may choose them.
        let v4 = |_: usize| "198.51.100.7".to_owned();
        let v6 = |number: usize| format!("2001:db8:1:2:{number:x}:{}::{number:x}", number % 9);
        let addresses: [(&dyn Fn(usize) -> String, &str); 2] =
            [(&v4, "198.51.100.8"), (&v6, "2001:db8:1:3::1")];
        for (address, neighbour) in addresses {
            let rejected = |number| senders.rejected(number, &[("X-Forwarded-For", &address(number))]);
            let statuses: Vec<_> = (0..45).map(|number| rejected(number).status).collect();
            exactly_the_first_thirty_learned_why(&senders, &statuses);
            assert_eq!(status(&senders.accepted, &address(46)), 200, "accepted lately, from wherever");
            assert_eq!(
                status(&senders.unused, &address(46)),
                429,
                "no look-up, so nobody knows that it is good"
            );
            assert_eq!(senders.rejected(0, &[("X-Forwarded-For", neighbour)]).status, 403, "another address");
        }
        assert_eq!(senders.program.visitor().open("/nothing").status, 404, "links are another matter");
    });
}

/// What a stranger writes into headers does not make them another address.
#[test]
fn d18_r29_no_header_of_a_stranger_gives_a_fresh_count() {
    let headers =
        ["X-Forwarded-For", "Forwarded", "X-Real-IP", "True-Client-IP", "CF-Connecting-IP", "X-Client-IP"];
    within_one_minute(|| {
        let senders = Senders::new(Some(ELSEWHERE));
        let statuses: Vec<_> = (0..120)
            .map(|number| {
                let address = format!("203.0.113.{number}");
                let value = match number % 4 {
                    0 => address,
                    1 => format!("{address}, 198.51.100.{number}"),
                    2 => format!("for={address};proto=https"),
                    _ => format!("2001:db8:{number:x}::1"),
                };
                senders
                    .rejected(
                        number,
                        &[(headers[number % headers.len()], &value), ("X-Forwarded-For", &value)],
                    )
                    .status
            })
            .collect();
        exactly_the_first_thirty_learned_why(&senders, &statuses);
    });
    // Behind a proxy, only what the proxy itself added is believed.
    within_one_minute(|| {
        let senders = Senders::new(Some("127.0.0.0/8"));
        let statuses: Vec<_> = (0..60)
            .map(|number| {
                let own = format!("203.0.113.{number}");
                let both = format!("{own}, 198.51.100.7");
                // In one line, and in two, as proxies may leave it.
                let one = [("X-Forwarded-For", both.as_str())];
                let two = [("X-Forwarded-For", own.as_str()), ("X-Forwarded-For", "198.51.100.7")];
                let lines: &[_] = if number % 2 == 0 { &one } else { &two };
                senders.rejected(number, lines).status
            })
            .collect();
        exactly_the_first_thirty_learned_why(&senders, &statuses);
    });
}

#[test]
fn d18_r29_of_a_hundred_rejected_at_once_exactly_thirty_learn_why() {
    within_one_minute(|| {
        let senders = Senders::new(None);
        let statuses = concurrently(100, |number| (number, senders.rejected(number, &[]).status));
        let (throttled, told): (Vec<_>, Vec<_>) =
            statuses.into_iter().partition(|(_, status)| *status == 429);
        assert_eq!((told.len(), throttled.len()), (30, 70), "{told:?}");
        for (number, status) in told {
            assert_eq!(status, senders.reason(number), "request {number}");
        }
    });
}

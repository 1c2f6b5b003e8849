//! The dashboard on several nodes.

use super::nodes;
use crate::harness::{PASSWORD, Person, Program, concurrently};

/// A person on each node, with the same cookie.
fn everywhere(person: &Person, nodes: &[Program]) -> Vec<Person> {
    nodes.iter().map(|node| person.also_at(node)).collect()
}

#[test]
fn d72_what_ends_a_session_ends_it_for_the_next_request_on_every_node() {
    let Some(cluster) = nodes(3, "") else { return };
    let nodes = &cluster.nodes;
    let (owner, account) = Person::owner(&nodes[0]);
    let email = format!("{}@example.com", account.get(4..).unwrap());
    let list = format!("/{account}/links");
    let statuses = |people: &mut [Person], path: &str| -> Vec<u16> {
        people.iter_mut().map(|person| person.get(path).status).collect()
    };
    let mut owners = everywhere(&owner, nodes);
    assert_eq!(statuses(&mut owners, &list), [200; 3]);

    // A changed password: the other session ends, and this one goes on with a new token on every node.
    let mut other = Person::at(&nodes[1]);
    other.post("/sign-in", &[("email", &email), ("password", PASSWORD)]).expect_status(303);
    let mut others = everywhere(&other, nodes);
    assert_eq!(statuses(&mut others, &list), [200; 3]);
    owners[2].post("/me/password", &[("password", "another fine password")]).expect_status(303);
    assert_eq!(statuses(&mut others, &list), [303; 3]);
    let mut owners = everywhere(&owners[2], nodes);
    assert_eq!(statuses(&mut owners, &list), [200; 3]);

    // A command on another machine.
    nodes[1].command(&["user", "sign-out", "--json", &email]);
    assert_eq!(statuses(&mut owners, &list), [303; 3]);
    let sign_in = [("email", email.as_str()), ("password", "another fine password")];
    owners[0].post("/sign-in", &sign_in).expect_status(303);
    let mut owners = everywhere(&owners[0], nodes);
    nodes[2].command(&["account", "suspend", "--json", &account]);
    assert_eq!(statuses(&mut owners, &list), [200; 3], "members of a suspended account read");
    for owner in &mut owners {
        owner.post(&format!("/{account}/groups"), &[("name", "x")]).expect_status(409);
    }
    nodes[0].command(&["user", "disable", "--json", &email]);
    assert_eq!(statuses(&mut owners, &list), [303; 3]);
    // The failures of one node count on all of them (D75).
    for node in [0, 1, 2, 0, 1] {
        let wrong = [("email", email.as_str()), ("password", "a wrong password")];
        Person::at(&nodes[node]).post("/sign-in", &wrong).expect_status(422);
    }
    for node in nodes {
        Person::at(node).post("/sign-in", &sign_in).expect_status(429);
    }
}

#[test]
fn d69_a_changed_role_and_a_removal_hold_for_the_next_request_on_every_node() {
    let Some(cluster) = nodes(3, "") else { return };
    let nodes = &cluster.nodes;
    let (mut owner, account) = Person::owner(&nodes[0]);
    let member = Person::invited(&nodes[1], "bob@example.com", &["--account", &account, "--role", "editor"]);
    let users = nodes[0].command(&["user", "list", "--json"]);
    let bob = users.as_array().unwrap().iter().find(|user| user["email"] == "bob@example.com").unwrap();
    let bob = format!("/{account}/members/{}", bob["id"].as_str().unwrap());
    let mut members = everywhere(&member, nodes);
    let mut statuses = |screen: &str| -> Vec<u16> {
        members.iter_mut().map(|person| person.get(&format!("/{account}/{screen}")).status).collect()
    };
    assert_eq!(statuses("links/new"), [200; 3]);
    owner.post(&bob, &[("role", "viewer")]).expect_status(303);
    assert_eq!(statuses("links/new"), [403; 3]);
    owner.post(&bob, &[("role", "owner")]).expect_status(303);
    assert_eq!(statuses("audit"), [200; 3]);
    owner.post(&format!("{bob}/remove"), &[]).expect_status(303);
    assert_eq!(statuses("links"), [404; 3]);
}

/// They leave at once through three nodes; half of them are removed by another one at the same time.
#[test]
fn d68_of_fifty_owners_who_go_at_once_one_stays() {
    const OWNERS: usize = 50;
    let Some(cluster) = nodes(3, "") else { return };
    let nodes = &cluster.nodes;
    let (mut first, account) = Person::owner(&nodes[0]);
    let path = format!("/{account}/members");
    let links: Vec<String> = (1..OWNERS)
        .map(|number| {
            let email = format!("owner-{number}@example.com");
            let made = first.post(&path, &[("email", &email), ("role", "owner")]).expect_status(200);
            let (_, token) = made.body.split_once("/invitation/").unwrap();
            format!("/invitation/{}", token.get(..64).unwrap())
        })
        .collect();
    assert_eq!(links.len(), OWNERS - 1);
    // Two passwords are hashed at once on a node.
    let joined = concurrently(6, |number| {
        let mine = links.iter().skip(number).step_by(6);
        let join = |link: &String| {
            let mut person = Person::at(&nodes[number % 3]);
            let form = [("name", "Ada"), ("password", PASSWORD), ("time_zone", "UTC")];
            person.post(link, &form).expect_status(303);
            person
        };
        mine.map(join).collect::<Vec<_>>()
    });
    let people: Vec<Person> = joined.into_iter().flatten().chain([first]).collect();
    let users = nodes[0].command(&["user", "list", "--json"]);
    let ids: Vec<&str> = users.as_array().unwrap().iter().map(|user| user["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), OWNERS);
    concurrently(OWNERS, |number| {
        let mut person = people[number].also_at(&nodes[(number + 1) % 3]);
        if number % 2 == 0 {
            person.post(&format!("{path}/{}/remove", ids[number]), &[]);
        }
        person.post(&format!("{path}/leave"), &[]);
    });
    let mut left: Vec<Person> = people.iter().map(|person| person.also_at(&nodes[2])).collect();
    let statuses = left.iter_mut().map(|person| person.get(&path).status);
    assert_eq!(statuses.filter(|status| *status == 200).count(), 1);
}

#[test]
fn d12_a_form_sent_to_three_nodes_at_once_makes_one_link() {
    let Some(cluster) = nodes(3, "") else { return };
    let (owner, account) = Person::owner(&cluster.nodes[0]);
    let form = [
        ("idempotency_key", "form-once"),
        ("kind", "redirect"),
        ("target_url", "https://example.com/"),
        ("is_active", "on"),
    ];
    let places = concurrently(20, |number| {
        let mut person = owner.also_at(&cluster.nodes[number % 3]);
        person.post(&format!("/{account}/links"), &form).expect_status(303).location
    });
    assert!(places.iter().all(|place| *place == places[0]), "{places:?}");
    let account = cluster.nodes[1].with_key(&cluster.nodes[0].issue_key(&account));
    assert_eq!(account.get("/v1/account").expect_status(200).body["usage"]["links"], 1);
}

#[test]
fn d70_of_many_nodes_one_takes_a_ticket() {
    let Some(cluster) = nodes(3, "") else { return };
    let account = cluster.nodes[0].account("agency");
    let invite = ["user", "invite", "--json", "--email", "ada@example.com", "--account", account.id()];
    let invitation = cluster.nodes[0].command(&invite);
    let path = invitation["invite_url"].as_str().unwrap().split_once("/invitation/").unwrap().1.to_owned();
    let form = [("name", "Ada"), ("password", PASSWORD), ("time_zone", "UTC")];
    let answers = concurrently(6, |number| {
        let mut person = Person::at(&cluster.nodes[number % 3]);
        let answer = person.post(&format!("/invitation/{path}"), &form);
        (answer.status, answer.location)
    });
    // Whoever comes between the user and the end of the ticket is sent to sign in.
    let is_late = |(status, location): &&(u16, String)| {
        *status == 410 || *status == 303 && location.starts_with("/sign-in?")
    };
    let let_in: Vec<_> = answers.iter().filter(|answer| !is_late(answer)).collect();
    assert_eq!(let_in, [&(303, "/".to_owned())], "{answers:?}");
}

//! A proxy in front of the program signs people in (D77).

use crate::harness::{PASSWORD, Person, Program};

fn behind_proxy(network: &str) -> Program {
    Program::builder()
        .setting_of_all("sign-in-header", "Remote-Email")
        .setting_of_all("sign-in-proxies", network)
        .start()
}

#[test]
fn d77_the_header_of_the_proxy_is_the_only_way_in() {
    let program = behind_proxy("127.0.0.0/8,::1");
    let account = program.account("agency").id().to_owned();
    let email = format!("{}@example.com", account.get(4..).unwrap());
    let invited = ["user", "invite", "--json", "--email", &email, "--account", &account, "--role", "owner"];
    let url = program.command(&invited)["invite_url"].as_str().unwrap().to_owned();
    let invitation = format!("/invitation/{}", url.split_once("/invitation/").unwrap().1);

    let mut nobody = Person::at(&program);
    assert!(nobody.get(&format!("/{account}/links")).location.starts_with("/sign-in?next="));
    let page = nobody.get("/sign-in").expect_status(403);
    assert!(
        page.body.contains("The proxy sent no name") && page.body.contains("Remote-Email"),
        "{}",
        page.body
    );

    let mut person = Person::named(&program, &email);
    let page = person.get("/sign-in").expect_status(403);
    assert!(page.body.contains("No user of Signpost has this address"), "{}", page.body);
    person.post(&invitation, &[("name", "Ada"), ("time_zone", "Europe/Berlin")]).expect_status(303);
    person.get(&format!("/{account}/links")).expect_status(200);
    let key = [("name", "key"), ("expires", "never"), ("all_scopes", "yes")];
    person.post(&format!("/{account}/keys"), &key).expect_status(200);
    assert!(!person.token().is_empty());

    // A cookie without the header is worth nothing, and passwords are off.
    let mut cookie_alone = Person::at(&program);
    cookie_alone.set_token(&person.token());
    assert!(cookie_alone.get("/me").location.starts_with("/sign-in"));
    let typed = [("email", email.as_str()), ("password", PASSWORD)];
    let refused = cookie_alone.post("/sign-in", &typed).expect_status(403);
    assert!(refused.body.contains("Passwords are off"), "{}", refused.body);
    let output = program.run(&["user", "reset", &email]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && message.contains("`sign-in-header`"), "{message}");

    program.command(&["user", "disable", "--json", &email]);
    assert!(person.get("/me").location.starts_with("/sign-in"));
}

#[test]
fn d77_requests_that_do_not_come_from_the_proxy_are_refused() {
    let program = behind_proxy("203.0.113.0/24");
    let mut person = Person::named(&program, "ada@example.com");
    for path in ["/", "/sign-in", "/assets/nothing"] {
        let page = person.get(path).expect_status(403);
        assert!(page.body.contains("sign-in-proxies"), "{}", page.body);
    }
    program.await_log("`sign-in-proxies` does not name");
    assert_eq!(program.log().matches("`sign-in-proxies` does not name").count(), 1);
    let warned = "`trusted-proxies` lacks 203.0.113.0/24 of `sign-in-proxies`";
    program.await_log(warned);
}

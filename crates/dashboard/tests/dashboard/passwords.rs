//! The rules of passwords, as forms tell them (D71).

use crate::harness::Dashboard;

#[actix_web::test]
async fn d71_the_form_says_which_rule_failed_and_keeps_what_was_typed() {
    let dashboard = Dashboard::start().await;
    let path = format!("/start/{}", dashboard.first_start().await.unwrap().expose());
    let browser = dashboard.browser();
    for (password, reason) in [
        ("short", "at least 10 characters"),
        (&"x".repeat(257), "at most 256 characters"),
        ("password123", "too easy to guess"),
        ("ada@example.com", "too easy to guess"),
    ] {
        let form = [
            ("name", "Ada <b>"),
            ("email", "ada@example.com"),
            ("password", password),
            ("time_zone", "Asia/Kolkata"),
        ];
        let answer = browser.post(&path, &form).await;
        assert_eq!(answer.status, 422);
        assert!(answer.body.contains(reason), "{password}: {}", answer.body);
        assert!(answer.body.contains("value=\"Ada &#60;b&#62;\""), "{}", answer.body);
        assert!(
            !answer.body.contains(&format!("value=\"{password}\"")) || password.contains('@'),
            "{password}"
        );
    }
    let wrong =
        [("name", ""), ("email", "ada"), ("password", "plover egg tin"), ("time_zone", "Mars/Olympus")];
    let answer = browser.post(&path, &wrong).await;
    for reason in ["e-mail address", "time zone"] {
        assert!(answer.body.contains(reason), "{reason}: {}", answer.body);
    }
}

//! Health: D63.

use crate::harness::Program;

#[test]
fn d63_live_ready_and_links_answer_without_a_key() {
    let program = Program::start();
    let account = program.first_account();
    for path in ["/health/live", "/health/ready", "/health/links"] {
        let answer = account.send_with("GET", path, &[], None).expect_status(200);
        assert!(answer.body.is_object(), "{answer:?}");
        account.send_with("HEAD", path, &[], None).expect_status(200);
        account.send_with("POST", path, &[], None).expect_error(405, "invalid_request");
    }
}

/// Readiness turns 503 at once on SIGTERM, while liveness does not.
#[test]
fn d64_readiness_turns_503_on_sigterm_while_the_program_goes_on_accepting() {
    let mut program = Program::builder().setting("drain-delay", "20s").start();
    let account = program.first_account();
    account.send_with("GET", "/health/ready", &[], None).expect_status(200);
    program.signal("TERM");
    let mut status = 200;
    for _ in 0..1_000 {
        status = account.send_with("GET", "/health/ready", &[], None).status;
        if status == 503 {
            break;
        }
    }
    assert_eq!(status, 503);
    account.send_with("GET", "/health/live", &[], None).expect_status(200);
    account.get("/v1/account").expect_status(200);
    assert_eq!(program.visitor().open("/nothing").status, 404);
    // A second signal stops it now.
    program.signal("TERM");
    program.wait();
}

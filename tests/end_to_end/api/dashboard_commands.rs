//! "Do this with the API" and "Do this on the command line": each command of these pages is run as it is printed, and what it
//! answers or does is compared with what the pages show.

use std::process::Command;

use serde_json::{Value, json};
use signpost_domain::Timestamp;
use signpost_domain::analytics::{Dimension, RecordedKind};

use crate::harness::domains::path_of;
use crate::harness::{Account, DomainScene, EarlierVisits, PASSWORD, Page, Person, Program, store_visits};

const HOST: &str = "go.shop.test";

/// Runs a command of a page about the API, which must succeed, and returns its answer.
#[track_caller]
fn curl(command: &str, key: &str) -> String {
    assert!(command.starts_with("curl "), "{command}");
    let line = format!("{command} --silent --show-error --fail-with-body");
    let output = Command::new("sh").args(["-c", &line]).env("SIGNPOST_KEY", key).output().unwrap();
    let answer = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{command}: {answer} {}", String::from_utf8_lossy(&output.stderr));
    answer
}

fn parsed(answer: &str) -> Value {
    serde_json::from_str(answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

/// The commands of a page, which has this many.
#[track_caller]
fn commands<const N: usize>(page: &Page) -> [String; N] {
    page.commands().try_into().unwrap_or_else(|all| panic!("not {N} commands: {all:?}"))
}

/// The texts between two marks.
fn between(body: &str, start: &str, end: &str) -> Vec<String> {
    body.split(start).skip(1).map(|rest| rest.split(end).next().unwrap().to_owned()).collect()
}

#[test]
fn commands_of_statistics_domains_and_settings_answer_what_the_pages_show() {
    let scene = DomainScene::start();
    let (mut owner, account) = Person::owner(scene.first());
    let key = scene.first().issue_key(&account);
    let client = scene.first().with_key(&key);
    let clicked = visited_link(scene.first(), &account, &client);
    for path in [
        format!("/{account}/analytics"),
        format!("/{account}/analytics?range=dates&from=2026-01-01&to=2026-01-31&country=-DE"),
        format!("/{account}/analytics?range=7d&show=bots&part=devices&country=DE&group=none"),
        format!("/{account}/links/{clicked}/analytics?interval=week"),
    ] {
        assert_statistics(&owner.get(&path).expect_status(200), &key);
    }
    assert_settings(&mut owner, &account, &client, &key);
    assert_domains(&scene, &mut owner, &account, &key);
}

/// A link with visits of the last days.
fn visited_link(program: &Program, account: &str, client: &Account) -> String {
    let link = client.new_redirect()["id"].as_str().unwrap().to_owned();
    let now = jiff::Timestamp::now().as_millisecond();
    let visits: Vec<_> = (1..6_u8)
        .map(|number| EarlierVisits {
            account,
            link: &link,
            at: Timestamp::from_unix_millis(now - i64::from(number) * 86_400_000 + 60_000).unwrap(),
            kind: [RecordedKind::Click, RecordedKind::Bot][usize::from(number == 4)],
            visitor: number,
            times: usize::from(number),
            values: &[(Dimension::Country, "DE"), (Dimension::Channel, "email")],
        })
        .collect();
    store_visits(program, &visits);
    link
}

#[track_caller]
fn assert_statistics(page: &Page, key: &str) {
    const MEASURES: [&str; 4] = ["clicks", "visitors", "bots", "blocked"];
    let [command] = commands(page);
    let answer = parsed(&curl(&command, key));
    let counts = |of: &Value| MEASURES.map(|name| of[name].to_string());
    assert_eq!(between(&page.body, "<b class=\"big\">", "<"), counts(&answer["totals"]), "{command}");
    let rows = between(&page.body, "<tr><th scope=\"row\">", "\n");
    let rows = rows.iter().map(|row| row.split("<td>").skip(1).take(4).map(str::to_owned).collect());
    let series = answer["series"].as_array().unwrap().iter();
    let is_empty = page.body.contains("<div class=\"empty\">");
    let series = series.map(|bucket| counts(bucket).to_vec()).filter(|_| !is_empty);
    assert_eq!(rows.collect::<Vec<Vec<String>>>(), series.collect::<Vec<_>>(), "{command}");
    let bars = between(&page.body.replace('\u{a0}', " "), "<span class=\"num\"><b>", " <a");
    let dimensions = between(&page.body, "<section class=\"box\" id=\"", "\"");
    let values = dimensions.iter().flat_map(|name| answer["dimensions"][name].as_array().unwrap());
    let values = values.map(|one| format!("{}</b> · {}", one["clicks"], one["visitors"]));
    assert_eq!(bars, values.collect::<Vec<_>>(), "{command}");
}

fn assert_settings(owner: &mut Person, account: &str, client: &Account, key: &str) {
    let page = owner.get(&format!("/{account}/settings")).expect_status(200);
    let [read, clicks] = commands(&page);
    let answer = parsed(&curl(&read, key));
    assert_eq!(answer["id"], account);
    assert_eq!(answer, client.get("/v1/account").expect_status(200).body);
    for shown in ["plan", "email"].map(|field| answer[field].as_str().unwrap_or("agency").to_owned()) {
        assert!(page.body.contains(&shown), "{shown}: {}", page.body);
    }
    let lines = curl(&clicks, key);
    let statistics = owner.get(&format!("/{account}/analytics")).expect_status(200);
    let [command] = commands(&statistics);
    let totals = &parsed(&curl(&command, key))["totals"];
    let counted = ["clicks", "bots", "blocked"].map(|name| totals[name].as_u64().unwrap());
    let exported = u64::try_from(lines.lines().skip(1).count()).unwrap();
    assert_eq!(exported, counted.iter().sum::<u64>(), "{lines}");
}

fn assert_domains(scene: &DomainScene, owner: &mut Person, account: &str, key: &str) {
    let domain = scene.activate(&scene.first().with_key(key), HOST);
    let path = format!("/{account}/domains");
    let [list, connect] = commands(&owner.get(&path).expect_status(200));
    let connected = parsed(&curl(&connect, key));
    assert_eq!(connected["status"], "pending", "{connected}");
    let page = owner.get(&path).expect_status(200);
    let listed = parsed(&curl(&list, key));
    let hostnames = listed["data"].as_array().unwrap().iter().map(|one| one["hostname"].as_str().unwrap());
    let rows = between(&page.body, "<li><div><a class=\"name\"", "</bdi>");
    let rows: Vec<&str> = rows.iter().map(|row| row.split_once("<bdi>").unwrap().1).collect();
    assert_eq!(rows, hostnames.collect::<Vec<_>>());
    assert!(rows.len() == 2 && rows.contains(&HOST), "{rows:?}");

    let path = format!("{path}/{}", path_of(&domain).rsplit_once('/').unwrap().1);
    let page = owner.get(&path).expect_status(200);
    let [read, verify, change, delete] = commands(&page);
    let answer = parsed(&curl(&read, key));
    assert!(page.body.contains(&format!("<bdi>{HOST}</bdi> <b class=\"tag on\">Active")), "{}", page.body);
    assert_eq!((&answer["id"], &answer["status"]), (&domain["id"], &"active".into()));
    let records = answer["dns_instructions"].as_array().unwrap().iter();
    let records = records.flat_map(|record| ["name", "value"].map(|field| record[field].as_str().unwrap()));
    assert_eq!(between(&page.body, "<dd class=\"addr\"><code>", "</code>"), records.collect::<Vec<_>>());
    let verified = parsed(&curl(&verify, key));
    assert!(verified["checked_at"].as_str() >= answer["checked_at"].as_str(), "{verified}");
    assert_eq!(parsed(&curl(&change, key))["root_url"], "https://example.com/");
    assert!(owner.get(&path).expect_status(200).body.contains("value=\"https://example.com/\""));
    assert_eq!(parsed(&curl(&delete, key))["deleted"], true);
    owner.get(&path).expect_status(404);
}

/// The page of a test and its command tell the same.
#[test]
fn d136_commands_of_tests_tell_what_the_pages_tell() {
    let program = Program::builder().start();
    let (mut owner, account) = Person::owner(&program);
    let key = program.issue_key(&account);
    let rules = json!([{"name": "apple", "conditions": [{"type": "os", "in": ["iOS"]}], "target_url": "https://example.com/apple?a=1&b=2"}]);
    let link = json!({"name": "x", "slug": "apps", "target_url": "https://example.com/it's", "rules": rules});
    let link = program.with_key(&key).create_redirect(&link);
    let id = link["id"].as_str().unwrap();
    let url = link["url"].as_str().unwrap();
    let mut told = vec![];
    for path in [
        format!("/{account}/links/{id}/test"),
        format!("/{account}/links/{id}/test?agent=iphone&query=it%27s%3D1"),
        format!("/{account}/test?url={url}&agent=iphone"),
        format!("/{account}/test?url={url}-not&country=DE"),
    ] {
        let page = owner.get(&path).expect_status(200);
        let [command] = commands(&page);
        let answer: Value = serde_json::from_str(&curl(&command, &key)).unwrap();
        let (outcome, _) = page.body.split_once("</section>").unwrap();
        let facts = between(outcome, "<dd>", "</dd>");
        // Of an address without a link of the account, the page tells no status.
        let status = facts.first().map_or_else(|| "404".to_owned(), ToString::to_string);
        assert_eq!(status, answer["status"].to_string(), "{command}");
        let shown = facts.iter().skip(1).map(|fact| {
            between(fact, "<bdi>", "</bdi>").remove(0).replace("&#38;", "&").replace("&#39;", "'")
        });
        let expected = [&answer["location"], &answer["rule"]["name"]].into_iter().filter_map(Value::as_str);
        assert_eq!(shown.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{command}");
        let words = between(&page.body, "<b class=\"tag", "</b>");
        let words = words.iter().filter_map(|tag| match tag.rsplit_once('>')?.1 {
            "Passed" => Some("pass"),
            "Stopped here" => Some("stop"),
            "Not reached" => Some("skip"),
            _ => None,
        });
        let results = answer["steps"].as_array().unwrap().iter().map(|step| step["result"].as_str().unwrap());
        assert_eq!(words.collect::<Vec<_>>(), results.collect::<Vec<_>>(), "{command}");
        told.push(answer["outcome"].as_str().unwrap().to_owned());
    }
    assert_eq!(told, ["redirect", "redirect", "redirect", "not_found"]);
}

/// Runs a command of a page for operators, which must succeed, and returns what it prints.
#[track_caller]
fn run(program: &Program, command: &str) -> String {
    assert!(command.starts_with("signpost "), "{command}");
    let output = program.shell(command).env("SIGNPOST_API_LISTEN", &program.api).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{command}: {printed} {}", String::from_utf8_lossy(&output.stderr));
    printed
}

/// Asserts that a printed link opens for somebody who is not signed in.
#[track_caller]
fn assert_link_opens(program: &Program, printed: &str, of: &str) {
    let (_, rest) = printed.split_once(&format!("/{of}/")).unwrap_or_else(|| panic!("no link: {printed}"));
    let token = rest.split_whitespace().next().unwrap();
    Person::at(program).get(&format!("/{of}/{token}")).expect_status(200);
}

#[test]
fn commands_of_operators_pages_do_what_the_pages_show() {
    let program = Program::builder().start();
    let own = program.account("agency").id().to_owned();
    let member = ["--account", &own, "--role", "owner", "--operator"];
    let mut operator = Person::invited(&program, "ines@example.com", &member);
    assert_commands_of_accounts(&program, &mut operator, &own);
    assert_commands_of_users(&program, &mut operator, &own);

    let [reset] = commands(&operator.get("/operator/sign-ins").expect_status(200));
    assert_link_opens(&program, &run(&program, &reset), "reset");
    let page = operator.get("/operator/health").expect_status(200);
    let [ready, check, certificates] = commands(&page);
    assert!(page.body.contains("Everything that this node depends on works."), "{}", page.body);
    assert_eq!(parsed(&run(&program, &ready))["status"], "ok");
    assert!(check.ends_with(" check"), "{check}");
    run(&program, &certificates);
}

fn assert_commands_of_accounts(program: &Program, operator: &mut Person, own: &str) {
    let path = "/operator/accounts";
    let [list, create] = commands(&operator.get(path).expect_status(200));
    assert_link_opens(program, &run(program, &create), "invitation");
    let page = operator.get(path).expect_status(200);
    let rows = between(&page.body, "<a class=\"name\" href=\"/operator/accounts/", "\"");
    let listed = run(program, &list);
    let mut ids: Vec<&str> =
        listed.lines().filter(|line| line.starts_with("acc_")).map(|line| &line[..36]).collect();
    ids.sort_unstable();
    let mut shown = rows.clone();
    shown.sort_unstable();
    assert_eq!(shown, ids);
    assert!(page.body.contains("owner@example.com"), "{}", page.body);

    let other = rows.iter().find(|id| *id != own).unwrap();
    let path = format!("{path}/{other}");
    let [plan, suspend, _] = commands(&operator.get(&path).expect_status(200));
    run(program, &plan);
    let plan = plan.rsplit_once(' ').unwrap().1.to_owned();
    assert!(operator.get(&path).body.contains(&format!("selected>{plan}")), "{plan}");
    run(program, &suspend);
    let page = operator.get(&path).expect_status(200);
    assert!(page.body.contains("Suspended since"), "{}", page.body);
    let [_, resume, _] = commands(&page);
    run(program, &resume);
    let page = operator.get(&path).expect_status(200);
    assert!(!page.body.contains("Suspended since"), "{}", page.body);
    let [_, _, delete] = commands(&page);
    let [asked] = commands(&operator.get(&format!("{path}/delete")).expect_status(200));
    assert_eq!(delete, asked);
    run(program, &delete);
    operator.get(&path).expect_status(404);
}

fn assert_commands_of_users(program: &Program, operator: &mut Person, own: &str) {
    let path = "/operator/users";
    let [_, invite] = commands(&operator.get(path).expect_status(200));
    // Only the operator knows into which account.
    let invite = invite.replace("acc_…", own).replace("ines@", "bob@");
    let printed = run(program, &invite);
    assert_link_opens(program, &printed, "invitation");
    let token = printed.split_once("/invitation/").unwrap().1.split_whitespace().next().unwrap();
    let mut bob = Person::at(program);
    let form = [("name", "Bob"), ("password", PASSWORD), ("time_zone", "UTC")];
    bob.post(&format!("/invitation/{token}"), &form).expect_status(303);
    let page = operator.get(path).expect_status(200);
    let [list, _] = commands(&page);
    let listed = run(program, &list);
    let rows = between(&page.body, "<a class=\"name\" href=\"/operator/users/", "\"");
    let mut ids: Vec<&str> =
        listed.lines().filter(|line| line.starts_with("usr_")).map(|line| &line[..36]).collect();
    let mut shown: Vec<&str> = rows.iter().map(String::as_str).collect();
    ids.sort_unstable();
    shown.sort_unstable();
    assert!(shown == ids && ids.len() == 2, "{shown:?} {listed}");

    let id = listed.lines().find(|line| line.contains("bob@example.com")).unwrap()[..36].to_owned();
    let path = format!("{path}/{id}");
    let page = operator.get(&path).expect_status(200);
    let all = page.commands();
    let command =
        |name: &str| all.iter().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {all:?}"));
    assert_link_opens(program, &run(program, command(" reset ")), "reset");
    bob.get("/me").expect_status(200);
    run(program, command(" sign-out "));
    bob.get("/me").expect_status(303);
    run(program, command(" disable "));
    let page = operator.get(&path).expect_status(200);
    assert!(page.body.contains("Disabled since"), "{}", page.body);
    let [enable] = commands(&page);
    run(program, &enable);
    let page = operator.get(&path).expect_status(200);
    assert!(!page.body.contains("Disabled since"), "{}", page.body);
    for name in [" remove-second-factor ", " disconnect "] {
        run(program, command(name));
    }
}

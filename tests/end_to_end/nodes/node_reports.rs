//! The list of all nodes, as operators see it at one of them (D69, ADR 91).

use std::time::{Duration, Instant};

use super::nodes;
use crate::harness::Person;

/// Much longer than a node takes for its first report, for a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// The page of health, as soon as it has these words.
fn page_with(operator: &mut Person, words: &str) -> String {
    let ends = Instant::now() + PATIENCE;
    loop {
        let page = operator.get("/operator/health").expect_status(200).body;
        if page.contains(words) {
            return page;
        }
        assert!(Instant::now() < ends, "{words} is not in: {page}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn d69_every_node_lists_all_nodes_until_they_stop() {
    let Some(mut cluster) = nodes(2, "") else { return };
    let mut operator = Person::invited(&cluster.nodes[0], "op@example.com", &["--operator"]);
    let mut at_the_other = operator.also_at(&cluster.nodes[1]);
    let ports = cluster.nodes.iter().map(|node| node.links.rsplit_once(':').unwrap().1.to_owned());
    let names: Vec<String> = ports.map(|port| format!(":{port}</b>")).collect();
    for person in [&mut operator, &mut at_the_other] {
        let both = page_with(person, "Heard from ");
        assert_eq!(both.matches("Heard from ").count(), 1, "{both}");
        assert!(both.contains("This node") && both.contains("report-node"), "{both}");
        assert!(!both.contains("Not heard from"), "{both}");
        // They are on one machine.
        assert!(names.iter().all(|name| both.matches(name).count() == 1), "{names:?}: {both}");
    }

    // A node that stops in order has left when it has ended.
    cluster.nodes[1].signal("TERM");
    assert_eq!(cluster.nodes[1].wait(), Some(0));
    let alone = operator.get("/operator/health").expect_status(200).body;
    assert!(!alone.contains("eard from "), "{alone}");

    // A killed one stays. The test moves its last report back instead of waiting. The other node on the machine does not replace it
    // before the test gives it the same port.
    cluster.nodes[1].start_again();
    page_with(&mut operator, "Heard from ");
    cluster.nodes[1].kill();
    cluster.database.run("UPDATE node_reports SET heard_at = heard_at - interval '3 hours'");
    let silent = operator.get("/operator/health").expect_status(200).body;
    for words in ["One node is silent.", "Not heard from for 3 hours."] {
        assert!(silent.contains(words), "{words} is not in: {silent}");
    }
    let port = cluster.nodes[0].links.rsplit_once(':').unwrap().1;
    let of_the_other = format!("(SELECT host FROM node_reports WHERE host LIKE '%:{port}')");
    cluster.database.run(&format!("UPDATE node_reports SET host = {of_the_other}"));
    let started_since = "Another one has started on this machine since.";
    let replaced = operator.get("/operator/health").expect_status(200).body;
    assert!(replaced.contains(started_since) && !replaced.contains("is silent"), "{replaced}");
}

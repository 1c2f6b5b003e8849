//! The file of statistics (D66).

use crate::analytics::visited;

#[actix_web::test]
async fn d66_cells_of_a_csv_run_no_formulas() {
    let (dashboard, viewer, id) = visited().await;
    let csv = viewer.get(&dashboard.path(&format!("links/{id}/analytics.csv"))).await;
    assert_eq!((csv.status, csv.header("content-type")), (200, "text/csv; charset=utf-8"));
    let name = csv.header("content-disposition");
    assert!(name.starts_with("attachment; filename=\"statistics-team-example-com-autumn-2026-"), "{name}");
    for cell in ["utm_campaign,'=1+1,", "utm_campaign,\"autumn, part 2\",", "utm_campaign,'-50%,"] {
        assert!(csv.body.contains(cell), "{cell}: {}", csv.body);
    }
    assert!(csv.body.contains(",,,'=1+1\r\n"), "names are cells too: {}", csv.body);
    assert!(!csv.body.contains("\r\nlink,"), "one link has no dimension of links");
    let csv = viewer
        .get(&dashboard.path("analytics.csv?from=2026-02-20&to=2026-02-21&country=-DE&country=-AT"))
        .await;
    let about = csv.body.split("\r\n").skip(1).take_while(|line| !line.starts_with("total,"));
    let expected = [
        "first_day,2026-02-20,,,,,",
        "last_day,2026-02-21,,,,,",
        "time_zone,Europe/Berlin,,,,,",
        "filter,\"country=-AT,DE\",,,,,\"Austria, Germany\"",
    ];
    assert_eq!(about.collect::<Vec<_>>(), expected);
    let csv = viewer.get(&dashboard.path("analytics.csv?part=targets")).await;
    let line = csv.body.lines().find(|line| line.starts_with(&format!("link,{id},")));
    assert!(line.is_some_and(|line| line.ends_with(",,,autumn")), "{line:?}");
}

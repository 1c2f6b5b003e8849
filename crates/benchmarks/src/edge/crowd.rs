//! Many simultaneous visitors of one link that is not in memory.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use anyhow::{Context as _, Result, ensure};
use signpost_test_servers::hostile_clients::raise_open_files;

use super::on_postgres::Links;
use super::scenery::path_of;
use super::stage::Stage;
use crate::store::statements::sent_during;

/// The number of visitors; a hundredth at the smallest size. With a limit of 20,000 open files, the program admits about
/// 9,700 visitors at a time.
const VISITORS: usize = 9_000;

/// They arrive while the store is paused, so that none gets an answer before all are there.
pub(super) fn of_one_cold_link(stage: &mut Stage) -> Result<()> {
    raise_open_files();
    let links = Links::of(stage)?;
    let program = links.start()?;
    let count = if stage.load.seconds == 0 { VISITORS / 100 } else { VISITORS };
    let connect = |_| TcpStream::connect(&program.links).context("cannot connect");
    let mut visitors: Vec<TcpStream> = (0..count).map(connect).collect::<Result<_>>()?;
    let request = format!("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", path_of(1));
    let statements = sent_during(links.postgres(), || {
        let held = links.hold()?;
        for visitor in &mut visitors {
            visitor.write_all(request.as_bytes())?;
        }
        drop(held);
        for visitor in &mut visitors {
            let mut status = [0; 12];
            visitor.read_exact(&mut status)?;
            ensure!(status.ends_with(b" 302"), "{}", String::from_utf8_lossy(&status));
        }
        Ok(())
    })?;
    let look_ups = statements.iter().filter(|statement| statement.names("links")).count();
    drop(visitors);
    program.stop()?;
    stage.on_postgres = Some(links);
    stage
        .report
        .note(format!("{count} visitors of one cold link at once: {look_ups} statements that name links"));
    Ok(())
}

//! The cases over TLS, in which nginx and the program serve the same certificate.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use signpost_test_servers::certificates::LocalCertificate;
use signpost_test_servers::hostile_clients::raise_open_files;
use signpost_xtask::program::Program;

use super::contender::{Contender, microseconds};
use super::load::is_installed;
use super::machine;
use super::references::Reference;
use super::stage::Stage;
use super::visits::{Pace, Turn, Visits};
use crate::connection::Connection;
use crate::figure::Goal;
use crate::tls_client::TlsClient;

/// How many connections stay idle, and how many in the smallest run.
const IDLE: u32 = 4_000;
const FEWEST_IDLE: u32 = 20;

/// The goal for an idle connection, in kilobytes.
const KILOBYTES_OF_IDLE: f64 = 10.0;

/// A figure of a turn, by its name and its pace, and its goal as a ratio to nginx.
type Reading = (&'static str, Pace, fn(&Turn) -> f64, Goal);

/// The program with HTTPS, and nginx with the same certificate if it is installed.
struct Secure {
    program: Program,
    address: String,
    nginx: Option<Reference>,
    certificate: String,
}

impl Secure {
    fn start(stage: &Stage) -> Result<Self> {
        let LocalCertificate { certificate, key } = LocalCertificate::new();
        let folder = stage.scenery.folder();
        let files: [PathBuf; 2] = ["https.pem", "https.key"].map(|name| folder.join(name));
        for (file, content) in files.iter().zip([&certificate, &key]) {
            std::fs::write(file, content)?;
        }
        let [certificate_file, key_file] = files.map(|file| file.display().to_string());
        let program = stage.scenery.start(&[
            "--tls-listen",
            "127.0.0.1:0",
            "--tls-certificate",
            &certificate_file,
            "--tls-key",
            &key_file,
            // Idle connections are measured without TLS too.
            "--plain-http",
            "answer",
        ])?;
        let address = program.tls.clone().context("the program does not announce its HTTPS address")?;
        let nginx = is_installed("nginx").then(|| Reference::nginx_over_tls(stage.core, &certificate, &key));
        Ok(Self { program, address, nginx: nginx.transpose()?, certificate })
    }

    /// nginx, if it is installed, and the program as the last one.
    fn contenders(&self, visits: &Visits) -> Result<Vec<Contender>> {
        let nginx = self.nginx.iter().map(|nginx| ("nginx", nginx.address(), nginx.pid()));
        let all = nginx.chain([("ours", self.address.clone(), self.program.pid())]);
        all.map(|(name, address, process)| Contender::new(name, &address, process, visits, 302)).collect()
    }

    /// Lets the contenders take turns, and reports the figures in relation to nginx.
    fn compare(
        &self,
        stage: &mut Stage,
        case: &str,
        visits: &Visits,
        paces: &[Pace],
        readings: &[Reading],
    ) -> Result<()> {
        let mut contenders = self.contenders(visits)?;
        stage.take_turns(&mut contenders, paces)?;
        for contender in &contenders {
            let failures = contender.failures();
            stage.report.note(format!("{case}, {}: {failures:?}", contender.name));
        }
        let [nginx, ours] = contenders.as_slice() else {
            stage.report.note(format!("{case}: nginx is not installed, so there is no comparison"));
            return Ok(());
        };
        for (figure, pace, of, goal) in readings {
            let name = format!("{case}, to nginx: {figure}");
            stage.report.ratio(&name, &nginx.numbers(*pace, of), &ours.numbers(*pace, of), *goal);
        }
        Ok(())
    }
}

/// A thousand links on connections that are kept.
pub(super) fn kept(stage: &mut Stage) -> Result<()> {
    let secure = Secure::start(stage)?;
    let visits = stage.paths.few()?.over_tls(TlsClient::trusting(&secure.certificate, true)?);
    let readings: [Reading; 4] = [
        ("requests a second", Pace::Saturated, Turn::rate, Goal::AtLeast(0.90)),
        ("µs of CPU, saturated", Pace::Saturated, Turn::work_of_one, Goal::None),
        ("µs of CPU, paced", Pace::Paced, Turn::work_of_one, Goal::None),
        ("p99, µs", Pace::Modest, |turn| microseconds(turn.p99), Goal::None),
    ];
    secure.compare(stage, "HTTPS", &visits, &Pace::ALL, &readings)?;
    secure.program.stop()
}

/// A connection for each request: with a full handshake, and with one that uses the ticket of an earlier connection.
pub(super) fn handshakes(stage: &mut Stage) -> Result<()> {
    let secure = Secure::start(stage)?;
    let goal = |resumes| if resumes { Goal::None } else { Goal::AtLeast(0.90) };
    for (case, resumes) in [("full handshakes", false), ("resumed handshakes", true)] {
        let client = TlsClient::trusting(&secure.certificate, resumes)?;
        let visits = stage.paths.few()?.closing().over_tls(client);
        let readings: [Reading; 3] = [
            ("requests a second", Pace::Saturated, Turn::rate, goal(resumes)),
            ("µs of CPU, saturated", Pace::Saturated, Turn::work_of_one, Goal::None),
            ("p99, µs", Pace::Modest, |turn| microseconds(turn.p99), Goal::None),
        ];
        secure.compare(stage, case, &visits, &[Pace::Saturated, Pace::Modest], &readings)?;
    }
    secure.program.stop()
}

/// The memory of connections that stay after one answer.
pub(super) fn idle(stage: &mut Stage) -> Result<()> {
    raise_open_files();
    let count = if stage.load.seconds == 0 { FEWEST_IDLE } else { IDLE };
    for is_tls in [false, true] {
        // Started anew for each, because freed memory would be used again.
        let secure = Secure::start(stage)?;
        let paths = stage.paths.few()?;
        let (visits, address) = if is_tls {
            (paths.over_tls(TlsClient::trusting(&secure.certificate, false)?), &secure.address)
        } else {
            (paths, &secure.program.links)
        };
        let request = visits.requests()?.into_iter().next().context("no paths to visit")?;
        // Otherwise each connection would be charged with a part of the rules that name browsers, which the program loads after its
        // start.
        let before = machine::settled_memory(secure.program.pid())?;
        let mut open = Vec::new();
        for _ in 0..count {
            let mut connection = Connection::open_by(address, visits.tls.as_ref())?;
            connection.send(&request)?;
            open.push(connection);
        }
        let grown = machine::own_memory(secure.program.pid())?.saturating_sub(before);
        let each = f64::from(u32::try_from(grown / u64::from(count))?) / 1_000.0;
        drop(open);
        let name = format!("kB of an idle {} connection, to the goal", if is_tls { "TLS" } else { "plain" });
        let goal = if is_tls { Goal::AtMost(1.0) } else { Goal::None };
        stage.report.ratio(&name, &[KILOBYTES_OF_IDLE], &[each], goal);
        secure.program.stop()?;
    }
    Ok(())
}

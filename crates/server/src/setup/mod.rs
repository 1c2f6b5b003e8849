//! `signpost setup`: from an installed package to a link that opens over HTTPS (D205).
//!
//! Each step says what it did. A second run with the same answers finds everything done, and changes nothing.

mod answers;
mod conclusion;
mod first_link;
mod opening;
mod service;
mod settings_file;

use std::fs;
use std::io::{self, BufReader, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use signpost_app::certificates::{self, ShownCertificate};
use signpost_app::ports::{Clock as _, StoredCertificate};
use signpost_domain::{CertificateStatus, Hostname};
use tempfile::NamedTempFile;
use tokio::time::{Instant, sleep};

use crate::check::{self, Severity};
use crate::commands::{FIRST_START_FILE, Output, Question, UsageError, ask_health, curl};
use crate::local_api::LocalApi;
use crate::settings::{
    CommonSettings, Database, Flags, HealthSettings, SERVICE_FILE as SETTINGS, ServeSettings, Sources,
};
use crate::system::{OsRandomness, SystemClock};
use crate::{upgrade_copies, wiring, with_causes};
pub(crate) use answers::SetupArguments;
use answers::{Answers, Terminal};
use conclusion::{Conclusion, Outcome};
use first_link::FirstAccount;
use settings_file::Written;

/// The folder of the service.
const STATE: &str = "/var/lib/signpost";

/// How long the service may take to start. A large database may have to be upgraded first.
const STARTED_WITHIN: Duration = Duration::from_mins(2);

/// How long the first certificate may take. The authority usually answers within seconds.
const CERTIFIED_WITHIN: Duration = Duration::from_mins(2);

/// How often setup looks whether something has happened.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// The settings of the installation.
struct Planned {
    content: String,
    common: CommonSettings,
    serve: ServeSettings,
    api: LocalApi,
}

/// Sets the installation up. `given` are settings of the command line, which are written to the file too. The exit status is 2 if
/// something must be mended first, and 1 if only the certificate is not there yet.
pub(crate) async fn run(
    arguments: SetupArguments,
    given: Flags,
    output: &mut Output<'_>,
) -> Result<ExitCode> {
    let units: &[&str] =
        if arguments.behind_proxy { &[service::SERVICE] } else { &[service::SOCKET, service::SERVICE] };
    let asks = !arguments.yes && !output.is_json() && io::stdin().is_terminal();
    if !asks && !arguments.yes {
        return Err(UsageError("there is no terminal to ask at; add --yes".to_owned()).into());
    }
    // Nobody should answer questions in vain.
    if asks {
        service::require(units)?;
    }
    let mut terminal = Terminal { input: BufReader::new(io::stdin()), output: io::stderr() };
    let answers = Answers::complete(arguments, asks.then_some(&mut terminal))?;
    service::require(units)?;
    let planned = plan(&answers, &given)?;

    // The service would create it; the checks look at its disk.
    create_private_folder(Path::new(STATE)).with_context(|| format!("cannot create {STATE}"))?;
    let mut findings = check::check(&planned.common, &planned.serve).await;
    if !service::is_active(service::SERVICE)? {
        findings.extend(check::running_without_service(&planned.serve));
    }
    let severity = check::worst(&findings);
    for finding in findings.iter().filter(|finding| finding.severity > Severity::Ok) {
        step(&finding.line())?;
    }
    if severity == Severity::Fail {
        step("Nothing is set up yet. Mend what fails, then run setup again.")?;
        return Ok(severity.exit_code());
    }
    step(&format!("{SETTINGS} will be:\n\n{}", planned.content))?;
    if asks && !terminal.agrees("Write it and start the service?")? {
        step("Nothing was changed.")?;
        return Ok(ExitCode::SUCCESS);
    }
    let written = settings_file::write(Path::new(SETTINGS), &planned.content)
        .with_context(|| format!("cannot write {SETTINGS}"))?;
    step(&told(&written))?;

    let first = first_account(&planned, &answers).await?;
    // The key is shown once, so it must not be lost with an error.
    let outcome = match serve_first_link(&planned, units, &written, first.as_ref(), &answers.hostname).await {
        Ok(outcome) => outcome,
        Err(error) => Outcome::Failed(with_causes(&error)),
    };
    let conclusion = Conclusion {
        settings: SETTINGS,
        hostname: &answers.hostname,
        link: format!("https://{}{}", answers.hostname, first_link::PATH),
        curl: first.as_ref().map(|first| curl(planned.api.address, &first.key)),
        first,
        start_url: take_start_url(&planned.serve.clicks.data_dir),
        outcome,
    };
    output.result(&conclusion.json(), conclusion.text())?;
    Ok(conclusion.exit_code())
}

/// Starts the service, creates the first link if there is a key, waits for the certificate, and opens the link.
async fn serve_first_link(
    planned: &Planned,
    units: &[&str],
    written: &Written,
    first: Option<&FirstAccount>,
    hostname: &Hostname,
) -> Result<Outcome> {
    start(units, written)?;
    await_ready(planned.api).await?;
    step("The service runs.")?;
    if let Some(FirstAccount { key, .. }) = first {
        first_link::create_link(planned.api, key).await?;
    }
    if planned.serve.acme().is_some() && !await_certificate(planned, hostname).await? {
        return Ok(Outcome::NoCertificate);
    }
    Ok(match opening::status(hostname, first_link::PATH).await {
        Ok(status) if status < 400 => Outcome::Opens,
        Ok(status) => Outcome::Answers(status),
        Err(error) => Outcome::Unreachable(format!("{error:#}")),
    })
}

/// Validates the settings in a file of their own, as the service will read them.
fn plan(answers: &Answers, given: &Flags) -> Result<Planned> {
    let database = Path::new(STATE).join("signpost.db");
    let existing = settings_file::read(Path::new(SETTINGS))?;
    let content = settings_file::content(answers, &database, existing, given);
    let mut file = NamedTempFile::new().context("cannot write a temporary file")?;
    file.write_all(content.as_bytes()).context("cannot write a temporary file")?;
    let read = |path: PathBuf| -> Result<_> {
        // The service gets no variables and no flags.
        let sources = Sources::gather(Flags::new(), [], Some(path))?;
        let (common, serve) = (CommonSettings::read(&sources)?, ServeSettings::read(&sources)?);
        Ok((common, serve, LocalApi::of(HealthSettings::read(&sources)?)?))
    };
    let (common, serve, api) = read(file.path().to_path_buf()).map_err(|error| {
        let message = with_causes(&error).replace(&file.path().display().to_string(), SETTINGS);
        UsageError(format!("{message}. Nothing is set up yet"))
    })?;
    Ok(Planned { content, common, serve, api })
}

/// Says what happens, on standard error: standard output has the result.
fn step(text: &str) -> Result<()> {
    Ok(writeln!(io::stderr(), "{text}")?)
}

fn told(written: &Written) -> String {
    match written {
        Written::Unchanged => format!("{SETTINGS} has these settings already."),
        Written::Changed { kept: None } => format!("Wrote {SETTINGS}."),
        Written::Changed { kept: Some(kept) } => {
            format!("Wrote {SETTINGS}; the earlier file is kept as {}.", kept.display())
        }
    }
}

/// Creates the first account, before the service starts, so that the key comes to this terminal instead of a file. An embedded
/// database is created too; one on a server has the tables of this version, or the checks would have failed. `None` if there is
/// an account.
async fn first_account(planned: &Planned, answers: &Answers) -> Result<Option<FirstAccount>> {
    if let Database::File(file) = &planned.common.database
        && !service::is_active(service::SERVICE)?
    {
        let is_new = !file.path().exists();
        upgrade_copies::make(file, planned.common.store_timeout)?;
        signpost_sqlite::migrate(&file.of_clicks(), planned.common.store_timeout)?;
        signpost_sqlite::migrate(file, planned.common.store_timeout)?;
        // With the database, because the service would take a missing one beside it for lost.
        if let Some(key) = &planned.serve.clicks.secrets_key {
            key.keys_or_new(&OsRandomness, is_new)?;
        }
    }
    let app = wiring::operators_application(&planned.common).await?;
    first_link::create_account(&app, &answers.email).await
}

fn create_private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;

    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn start(units: &[&str], written: &Written) -> Result<()> {
    let runs_with_other_settings = service::is_active(service::SERVICE)? && *written != Written::Unchanged;
    for unit in units {
        service::enable(unit)?;
    }
    if runs_with_other_settings { service::restart(service::SERVICE) } else { Ok(()) }
}

async fn await_ready(api: LocalApi) -> Result<()> {
    let ends = Instant::now() + STARTED_WITHIN;
    loop {
        match ask_health(api, Question::Ready).await {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() >= ends => {
                return Err(error.context("the service does not become ready; see `journalctl -u signpost`"));
            }
            Err(_) => sleep(LOOK_INTERVAL).await,
        }
    }
}

/// Waits for the certificate of the links, and says each change of its state. `false` if it does not come in time.
async fn await_certificate(planned: &Planned, hostname: &Hostname) -> Result<bool> {
    let app = wiring::operators_application(&planned.common).await?;
    let ends = Instant::now() + CERTIFIED_WITHIN;
    let mut told = String::new();
    loop {
        let stored = certificates::find(&app, hostname).await?;
        let summary = stored.as_ref().map(StoredCertificate::summary);
        let shown = ShownCertificate::at(summary.as_ref(), SystemClock.now());
        let problem = shown.failure.as_ref().map(|failure| {
            failure.message.as_ref().map_or_else(|| failure.reason.as_str(), |message| message.as_str())
        });
        let problem = problem.map_or_else(String::new, |problem| format!(" ({problem})"));
        let state = format!("Certificate of {hostname}: {}{problem}", shown.status.as_str());
        if state != told {
            step(&state)?;
            told = state;
        }
        if matches!(shown.status, CertificateStatus::Active | CertificateStatus::Renewing) {
            return Ok(true);
        }
        if Instant::now() >= ends {
            return Ok(false);
        }
        sleep(LOOK_INTERVAL).await;
    }
}

/// The address at which the first user is created, from the file in which the service has put it; the file is deleted. `None` if there
/// is a user.
fn take_start_url(data_dir: &Path) -> Option<String> {
    let path: PathBuf = data_dir.join(FIRST_START_FILE);
    let text = fs::read_to_string(&path).ok()?;
    let url = text.split_whitespace().find(|word| word.contains("/start/"))?.to_owned();
    // If it stays, it holds what is shown here.
    let _ = fs::remove_file(&path);
    Some(url)
}

//! `signpost setup`: from an installed package to a link that opens over HTTPS (D205).
//!
//! Each step says what it did. A second run with the same answers finds everything done, and changes nothing.

mod answers;
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
use serde_json::json;
use signpost_app::certificates::{self, ShownCertificate};
use signpost_app::ports::Clock as _;
use signpost_domain::{CertificateStatus, Hostname};
use tempfile::NamedTempFile;
use tokio::time::{Instant, sleep};

use crate::check::{self, Severity};
use crate::commands::{FIRST_START_FILE, Output, Question, UsageError, ask_health};
use crate::local_api::LocalApi;
use crate::settings::{CommonSettings, Database, Flags, HealthSettings, ServeSettings, Sources};
use crate::system::SystemClock;
use crate::{upgrade_copies, wiring};
pub(crate) use answers::SetupArguments;
use answers::{Answers, Terminal};
use first_link::FirstAccount;
use settings_file::Written;

/// Where the units read the settings.
const SETTINGS: &str = "/etc/signpost/signpost.toml";

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
    service::require(units)?;
    let mut terminal = Terminal { input: BufReader::new(io::stdin()), output: io::stderr() };
    let asks = !arguments.yes && !output.is_json() && io::stdin().is_terminal();
    let is_confirmed = arguments.yes;
    if !asks && !is_confirmed {
        return Err(UsageError(
            "nobody can be asked here; add --yes, with --hostname and --email".to_owned(),
        )
        .into());
    }
    let answers = Answers::complete(arguments, asks.then_some(&mut terminal))?;
    let planned = plan(&answers, &given)?;

    let findings = check::check(&planned.common, &planned.serve).await;
    let severity = check::worst(&findings);
    for finding in findings.iter().filter(|finding| finding.severity > Severity::Ok) {
        step(&finding.line())?;
    }
    if severity == Severity::Fail {
        step("Nothing was changed. Mend what fails, then run setup again.")?;
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
    start(units, &written)?;
    await_ready(planned.api).await?;
    step("The service runs.")?;
    if let Some(FirstAccount { key, .. }) = &first {
        first_link::create_link(planned.api, key).await?;
    }
    let is_certified =
        planned.serve.acme().is_none() || await_certificate(&planned, &answers.hostname).await?;
    let opened =
        if is_certified { opening::status(&answers.hostname, first_link::PATH).await } else { Ok(0) };
    conclude(&planned, &answers, first.as_ref(), is_certified, &opened, output)
}

/// Validates the settings in a file of their own, as the service will read them.
fn plan(answers: &Answers, given: &Flags) -> Result<Planned> {
    let database = Path::new(STATE).join("signpost.db");
    let content = settings_file::content(answers, &database, given);
    let mut file = NamedTempFile::new().context("cannot write a temporary file")?;
    file.write_all(content.as_bytes()).context("cannot write a temporary file")?;
    // The service gets no variables and no flags.
    let sources = Sources::gather(Flags::new(), [], Some(file.path().to_path_buf()))?;
    Ok(Planned {
        common: CommonSettings::read(&sources)?,
        serve: ServeSettings::read(&sources)?,
        api: LocalApi::of(HealthSettings::read(&sources)?)?,
        content,
    })
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

/// Creates the database with the first account, before the service starts, so that the key comes to this terminal instead of a
/// file. `None` if there is an account.
async fn first_account(planned: &Planned, answers: &Answers) -> Result<Option<FirstAccount>> {
    let Database::File(file) = &planned.common.database else { return Ok(None) };
    if !service::is_active(service::SERVICE)? {
        create_private_folder(Path::new(STATE)).with_context(|| format!("cannot create {STATE}"))?;
        upgrade_copies::make(file, planned.common.store_timeout)?;
        signpost_sqlite::migrate(&file.of_clicks(), planned.common.store_timeout)?;
        signpost_sqlite::migrate(file, planned.common.store_timeout)?;
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
        let summary = stored.as_ref().map(|stored| stored.summary());
        let shown = ShownCertificate::at(summary.as_ref(), SystemClock.now());
        let state = match &shown.failure {
            Some(failure) => {
                format!("Certificate of {hostname}: {} ({})", shown.status.as_str(), failure.message.as_str())
            }
            None => format!("Certificate of {hostname}: {}", shown.status.as_str()),
        };
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

fn conclude(
    planned: &Planned,
    answers: &Answers,
    first: Option<&FirstAccount>,
    is_certified: bool,
    opened: &Result<u16>,
    output: &mut Output<'_>,
) -> Result<ExitCode> {
    let link = format!("https://{}{}", answers.hostname, first_link::PATH);
    let start_url = take_start_url(&planned.serve.clicks.data_dir);
    let mut text = String::new();
    if let Some(FirstAccount { id, key }) = first {
        text += &format!("Created the account {id}. Its API key, shown once:\n\n  {key}\n\n");
    }
    if let Some(url) = &start_url {
        text += &format!("Create your user of the dashboard within 24 hours:\n\n  {url}\n\n");
    }
    text += &format!(
        "Create another link:\n\n  curl -X POST http://{}/v1/redirects -H 'Authorization: Bearer {}' -H 'Content-Type: \
         application/json' -d '{{\"name\": \"Docs\", \"target_url\": \"https://example.com/docs\"}}'\n\n",
        planned.api.address,
        first.map_or("sp_live_…", |first| first.key.as_str()),
    );
    let code = match (is_certified, opened) {
        (true, Ok(status)) if *status < 400 => {
            text += &format!("It works: {link}");
            ExitCode::SUCCESS
        }
        (true, Ok(status)) => {
            text += &format!("The service runs, but {link} answers {status}. See `journalctl -u signpost`.");
            ExitCode::from(1)
        }
        (true, Err(error)) => {
            text +=
                &format!("The service runs, but from this machine {error:#}. Try it from another network.");
            ExitCode::from(1)
        }
        (false, _) => {
            text += &format!(
                "The service runs, but has no certificate yet. It goes on trying; see `signpost --config {SETTINGS} certificate \
                 show {}`.",
                answers.hostname
            );
            ExitCode::from(1)
        }
    };
    let result = json!({
        "settings": SETTINGS,
        "account": first.map(|first| &first.id),
        "key": first.map(|first| &first.key),
        "start_url": start_url,
        "link": link,
        "opens": code == ExitCode::SUCCESS,
    });
    output.result(&result, text)?;
    Ok(code)
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

//! `signpost secrets`.

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde_json::json;
use signpost_app::{Application, Resealing, reseal};

use super::output::Output;
use crate::secrets_key_file::{SecretsKeyFile, SecretsKeys};
use crate::system::OsRandomness;

/// The subcommands of `signpost secrets`.
#[derive(Debug, Subcommand)]
pub(crate) enum SecretsCommand {
    /// Replace the secrets key. Without --finish: put a new key before the present one into the file `secrets-key`. Copy the
    /// file to all nodes, restart them, and run the command again with --finish.
    Rotate {
        /// Encrypt everything with the new key, and remove the previous one from the file.
        #[arg(long)]
        finish: bool,
    },
}

/// Runs the subcommand.
pub(super) async fn run(
    app: &Application,
    command: SecretsCommand,
    file: Option<&SecretsKeyFile>,
    output: &mut Output<'_>,
) -> Result<()> {
    let file = file
        .context("with these settings there is no secrets key: give the command the settings of `serve`, in the settings file or in the environment")?;
    let keys = file
        .keys()
        .with_context(|| format!("there is no file {}; the first start makes it", file.path().display()))?;
    match command {
        SecretsCommand::Rotate { finish: false } => begin(file, output),
        SecretsCommand::Rotate { finish: true } => finish(app, file, keys, output).await,
    }
}

fn begin(file: &SecretsKeyFile, output: &mut Output<'_>) -> Result<()> {
    let path = file.path().display();
    if !file.begin_rotation(&OsRandomness)? {
        bail!(
            "{path} has a previous key from an earlier rotation: run `signpost secrets rotate --finish` first"
        );
    }
    let json = json!({ "path": file.path(), "finished": false });
    let text = format!(
        "{path} has a new key now, and the previous one behind it. Copy the file to all nodes and restart them. Then run \
         `signpost secrets rotate --finish`."
    );
    Ok(output.result(&json, text)?)
}

async fn finish(
    app: &Application,
    file: &SecretsKeyFile,
    keys: &SecretsKeys,
    output: &mut Output<'_>,
) -> Result<()> {
    let path = file.path().display();
    if keys.previous.is_none() {
        bail!("{path} has no previous key: start with `signpost secrets rotate`");
    }
    let Resealing { resealed, remaining, lost } = reseal(app, &keys.sealer()?).await?;
    if remaining > 0 {
        bail!(
            "{resealed} secrets are encrypted with the new key now, but {remaining} still need the previous one (orders of certificates \
             that run, and what changed at this moment): run the command again in a few minutes; {path} keeps both keys"
        );
    }
    file.end_rotation()?;
    let json = json!({ "path": file.path(), "finished": true, "encrypted": resealed, "lost": lost });
    let lost = match lost {
        0 => String::new(),
        lost => format!(
            " {lost} could be opened with neither key; see `signpost certificate reset` and `signpost user remove-second-factor`."
        ),
    };
    let text = format!(
        "{resealed} secrets are encrypted with the new key, and {path} has no other key any more. Copy the file to all nodes.{lost}"
    );
    Ok(output.result(&json, text)?)
}

//! What the operator answers: on the command line, or at the terminal.

use std::io::{BufRead, Write};

use clap::Args;
use signpost_domain::{Email, Hostname};

use crate::commands::UsageError;

/// The arguments of `signpost setup`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SetupArguments {
    /// Hostname of your links, such as go.example.com. It must lead to this machine.
    #[arg(long, value_parser = hostname)]
    hostname: Option<Hostname>,
    /// Your e-mail address, to which the certificate authority writes. It also becomes that of the first account.
    #[arg(long, value_parser = email)]
    email: Option<Email>,
    /// Hostname of the dashboard, such as dash.example.com. Without one it opens on this machine only.
    #[arg(long, value_parser = hostname)]
    dashboard_hostname: Option<Hostname>,
    /// Hostname of the API, such as api.example.com. Without one it answers on this machine only.
    #[arg(long, value_parser = hostname)]
    api_hostname: Option<Hostname>,
    /// Another program on this machine serves HTTPS and passes requests on.
    #[arg(long)]
    pub(super) behind_proxy: bool,
    /// Ask nothing, and do what is shown.
    #[arg(long)]
    pub(super) yes: bool,
}

fn hostname(text: &str) -> Result<Hostname, String> {
    Hostname::parse(text).map_err(|error| error.message().to_owned())
}

fn email(text: &str) -> Result<Email, String> {
    Email::parse(text).map_err(|error| error.message().to_owned())
}

/// All that the settings need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answers {
    pub(super) hostname: Hostname,
    pub(super) email: Email,
    pub(super) dashboard: Option<Hostname>,
    pub(super) api: Option<Hostname>,
    pub(super) behind_proxy: bool,
}

/// Where questions are asked.
pub(super) struct Terminal<R, W> {
    pub(super) input: R,
    pub(super) output: W,
}

impl<R: BufRead, W: Write> Terminal<R, W> {
    /// Asks until the answer is valid. Without a default an empty answer is not.
    fn ask<T>(&mut self, question: &str, parse: impl Fn(&str) -> Result<T, String>) -> anyhow::Result<T> {
        loop {
            write!(self.output, "{question}: ")?;
            self.output.flush()?;
            let mut line = String::new();
            if self.input.read_line(&mut line)? == 0 {
                writeln!(self.output)?;
                return Err(UsageError(
                    "the input ended before all questions were answered; give --hostname, --email and --yes"
                        .to_owned(),
                )
                .into());
            }
            match parse(line.trim()) {
                Ok(answer) => return Ok(answer),
                Err(problem) => writeln!(self.output, "  {problem}")?,
            }
        }
    }

    /// Whether the operator agrees.
    pub(super) fn agrees(&mut self, question: &str) -> anyhow::Result<bool> {
        self.ask(&format!("{question} [Y/n]"), |answer| match answer.to_ascii_lowercase().as_str() {
            "" | "y" | "yes" => Ok(true),
            "n" | "no" => Ok(false),
            _ => Err("Answer y or n.".to_owned()),
        })
    }
}

impl Answers {
    /// Asks at the terminal for what the command line leaves out. `terminal` is `None` if there is none to ask at.
    ///
    /// # Errors
    /// An answer is missing, and there is no terminal.
    pub(super) fn complete<R: BufRead, W: Write>(
        arguments: SetupArguments,
        mut terminal: Option<&mut Terminal<R, W>>,
    ) -> anyhow::Result<Self> {
        let SetupArguments {
            hostname: host,
            email: mail,
            dashboard_hostname,
            api_hostname,
            behind_proxy,
            yes: _,
        } = arguments;
        let missing =
            |flag: &str| UsageError(format!("{flag} is missing, and there is no terminal to ask at"));
        let asks = host.is_none() || mail.is_none();
        let host = match (host, &mut terminal) {
            (Some(host), _) => host,
            (None, Some(terminal)) => terminal.ask(
                "Hostname of your links, which leads to this machine (such as go.example.com)",
                hostname,
            )?,
            (None, None) => return Err(missing("--hostname").into()),
        };
        let mail = match (mail, &mut terminal) {
            (Some(mail), _) => mail,
            (None, Some(terminal)) => terminal
                .ask("Your e-mail address, for the certificate authority and the first account", email)?,
            (None, None) => return Err(missing("--email").into()),
        };
        let dashboard = match (dashboard_hostname, &mut terminal) {
            (None, Some(terminal)) if asks => terminal.ask(
                "Hostname of the dashboard, another one that leads to this machine (empty: this machine only)",
                |answer| if answer.is_empty() { Ok(None) } else { hostname(answer).map(Some) },
            )?,
            (given, _) => given,
        };
        Ok(Self { hostname: host, email: mail, dashboard, api: api_hostname, behind_proxy })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn arguments(words: &[&str]) -> SetupArguments {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            arguments: SetupArguments,
        }
        let line = <Line as clap::Parser>::try_parse_from([&["setup"], words].concat()).unwrap();
        line.arguments
    }

    fn asked(words: &[&str], input: &str) -> (anyhow::Result<Answers>, String) {
        let mut terminal = Terminal { input: Cursor::new(input.to_owned()), output: Vec::new() };
        let answers = Answers::complete(arguments(words), Some(&mut terminal));
        (answers, String::from_utf8(terminal.output).unwrap())
    }

    #[test]
    fn d205_what_the_command_line_leaves_out_is_asked_until_it_is_valid() {
        let (answers, shown) =
            asked(&[], "not a host\ngo.example.com\nada\nada@example.com\ndash.example.com\n");
        let answers = answers.unwrap();
        assert_eq!(answers.hostname.as_str(), "go.example.com");
        assert_eq!(answers.email.as_str(), "ada@example.com");
        assert_eq!(answers.dashboard.unwrap().as_str(), "dash.example.com");
        assert_eq!(shown.matches("Hostname of your links").count(), 2, "{shown}");
        assert_eq!(shown.matches("Your e-mail").count(), 2, "{shown}");
    }

    #[test]
    fn d205_nothing_is_asked_if_the_command_line_says_all() {
        let words = ["--hostname", "go.example.com", "--email", "ada@example.com", "--yes"];
        let (answers, shown) = asked(&words, "");
        assert_eq!(answers.unwrap().dashboard, None);
        assert_eq!(shown, "");
    }

    #[test]
    fn d205_ended_input_and_missing_answers_name_the_flags() {
        let (answers, _) = asked(&["--email", "ada@example.com"], "");
        assert!(answers.unwrap_err().to_string().contains("--hostname"));
        let nobody: Option<&mut Terminal<Cursor<String>, Vec<u8>>> = None;
        let refused = Answers::complete(arguments(&["--hostname", "go.example.com"]), nobody).unwrap_err();
        assert!(refused.to_string().contains("--email"), "{refused}");
    }
}

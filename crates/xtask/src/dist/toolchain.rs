//! The compiler, and zig as the linker that knows the symbols of old C libraries.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::elf::FLOOR;
use super::processor::Processor;
use crate::tool_folder::{ToolFolder, run, runs};
use crate::workspace::command;

/// The package for Python with zig.
const ZIG: &str = "ziglang==0.17.1\n";

/// The program that makes cargo link with zig.
const ZIGBUILD: (&str, &str) = ("cargo-zigbuild", "0.24.1");

/// The profile of cargo that programs for release are built with, and its folder.
const PROFILE: &str = "packaged";

/// An installed toolchain for one workspace.
pub(super) struct Toolchain<'a> {
    root: &'a Path,
    /// Cargo's target folder.
    target: &'a Path,
    tools: ToolFolder,
}

impl<'a> Toolchain<'a> {
    /// Installs what is missing below the target folder.
    ///
    /// # Errors
    /// If Python is missing or a registry cannot be reached; the message names the part.
    pub(super) fn install(root: &'a Path, target: &'a Path) -> Result<Self> {
        let has_python = runs("python3", "--version");
        ensure!(has_python, "zig comes as a package for Python: apt-get install python3-venv");
        let tools = ToolFolder::at(target.join("tools/dist"))?;
        tools.install_python_packages(ZIG).with_context(|| format!("cannot install {}", ZIG.trim()))?;
        let (name, version) = ZIGBUILD;
        // Built without optimisation, because it only writes arguments.
        tools
            .install_cargo_program(name, version, &["--debug"])
            .with_context(|| format!("cannot install {name} {version}"))?;
        Ok(Self { root, target, tools })
    }

    /// The folder of tools for releases.
    pub(super) fn tools(&self) -> &ToolFolder {
        &self.tools
    }

    /// Builds the program for a processor, and returns its path.
    pub(super) fn build(&self, processor: Processor) -> Result<PathBuf> {
        let target = processor.target();
        self.ensure_standard_library(&target)?;
        let mut build = command(self.tools.cargo_program(ZIGBUILD.0));
        build.args([
            "zigbuild",
            "--profile",
            PROFILE,
            "--locked",
            "--package",
            "signpost",
            "--bin",
            "signpost",
        ]);
        build.args(["--target", &format!("{target}.{}.{}", FLOOR.0, FLOOR.1)]);
        build.arg("--target-dir").arg(self.target);
        // Otherwise it would take a zig on the path first, of whatever version.
        build.env("CARGO_ZIGBUILD_PYTHON_PATH", self.tools.python("python3"));
        build.env("CARGO_ZIGBUILD_CACHE_DIR", self.tools.path().join("cache"));
        run(build.current_dir(self.root)).with_context(|| format!("no program for {target}"))?;
        Ok(self.target.join(target).join(PROFILE).join("signpost"))
    }

    /// Fetches the standard library for a target by rustup, if it is missing.
    fn ensure_standard_library(&self, target: &str) -> Result<()> {
        let is_installed = || -> Result<bool> {
            let mut rustc = Command::new("rustc");
            rustc.args(["--print", "target-libdir", "--target", target]).current_dir(self.root);
            let output = rustc.output().context("cannot start rustc")?;
            Ok(output.status.success() && Path::new(String::from_utf8(output.stdout)?.trim()).is_dir())
        };
        if is_installed()? {
            return Ok(());
        }
        let mut rustup = Command::new("rustup");
        run(rustup.args(["target", "add", target]).current_dir(self.root)).with_context(|| {
            format!("the standard library for {target} is missing, and rustup cannot add it")
        })
    }
}

//! The processors that releases are built for, and their names in each world.

use std::env::consts::{ARCH, OS};

use anyhow::{Result, bail};
use object::elf::{EM_AARCH64, EM_X86_64, Machine};

/// A processor on Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Processor {
    /// 64-bit PCs and servers.
    #[value(name = "x86_64")]
    X86_64,
    /// 64-bit ARM.
    #[value(name = "aarch64")]
    Aarch64,
}

/// All of them.
pub(super) const ALL: [Processor; 2] = [Processor::X86_64, Processor::Aarch64];

impl Processor {
    /// The processor of this machine.
    ///
    /// # Errors
    /// If releases are not built for it, or it does not run Linux.
    pub(super) fn native() -> Result<Self> {
        match ALL.into_iter().find(|processor| OS == "linux" && processor.name() == ARCH) {
            Some(native) => Ok(native),
            None => bail!("releases are built on Linux, on x86_64 or aarch64; this is {OS} on {ARCH}"),
        }
    }

    /// Its name in the names of archives; the kernel's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// Its name in Debian and in images.
    pub(super) fn of_debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    /// The compiler's target.
    pub(super) fn target(self) -> String {
        format!("{}-unknown-linux-gnu", self.name())
    }

    /// The number by which ELF files name it.
    pub(super) fn of_elf(self) -> Machine {
        match self {
            Self::X86_64 => EM_X86_64,
            Self::Aarch64 => EM_AARCH64,
        }
    }
}

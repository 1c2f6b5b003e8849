//! The machinery of `export` and `import`: a file that appears once it is complete, a thread that reads ahead,
//! and a progress bar.

mod new_file;
mod progress;
mod read_ahead;

pub(crate) use new_file::NewFile;
pub(crate) use progress::Progress;
pub(crate) use read_ahead::ReadAhead;

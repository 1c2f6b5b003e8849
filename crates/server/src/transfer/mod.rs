//! What `export` and `import` need of the machine: a file that gets its name when it is whole, a thread
//! that reads ahead, and a bar that shows how far they are.

mod new_file;
mod progress;
mod read_ahead;

pub(crate) use new_file::NewFile;
pub(crate) use progress::Progress;
pub(crate) use read_ahead::ReadAhead;

//! What custom domains promise whatever others do: accounts that want the same hostname, name servers that fail,
//! and requests at the same moment. On servers there are two nodes, and each request is sent to one or the other.

mod at_once;
mod certificates;
mod chains;
mod name_servers;
mod proof;

//! How the name server answers queries.

use std::time::Duration;

/// The behaviour of the name server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Behaviour {
    /// Answers correctly. It marks answers that are too long for a datagram as truncated; over TCP it sends as many records
    /// as fit into 64 KiB.
    #[default]
    Answer,
    /// Answers correctly, but negative answers lack the `SOA` record of the zone.
    AnswerWithoutSoa,
    /// Answers correctly, after this delay.
    Delay(Duration),
    /// Answers that the name does not exist.
    NxDomain,
    /// Answers that the name has no such records.
    NoData,
    /// Answers that it has failed.
    ServFail,
    /// Refuses the query.
    Refused,
    /// Never answers, and keeps connections open.
    Silent,
    /// Sends truncated datagrams without records; answers over TCP.
    TruncateUdp,
    /// Truncates answers over TCP too.
    TruncateAll,
    /// Sends truncated datagrams, and resets connections.
    TruncateUdpAndResetTcp,
    /// Answers with another id.
    WrongId,
    /// Answers a question about another name.
    WrongQuestion,
    /// Answers with records of another name.
    ForeignRecords,
    /// Sends the question back instead of an answer.
    Echo,
    /// Sends the right id, followed by invalid bytes.
    Junk,
    /// Sends answers that end in the middle of a record.
    CutOff,
    /// Refers clients to another server without its address, although it claims to be a resolver.
    Referral,
    /// Answers that there are no records, as neither an authority nor a resolver.
    Ignorant,
}

/// How much of a chain of aliases one answer contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Recursion {
    /// The whole chain and the records at its end, like a resolver.
    #[default]
    WholeChain,
    /// Only the first alias, like a server with authority over its name but not over the next one.
    FirstAlias,
}

//! How the name server treats a query.

use std::time::Duration;

/// What the name server does with a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Behaviour {
    /// Answers what it was told. What is too long for a datagram is marked as truncated there; over TCP it gives as many
    /// records as 64 KiB hold.
    #[default]
    Answer,
    /// Answers so, but a "no" comes without the `SOA` record of the zone.
    AnswerWithoutSoa,
    /// Answers so, after this pause.
    Delay(Duration),
    /// Says that the name does not exist.
    NxDomain,
    /// Says that the name has no such records.
    NoData,
    /// Says that it has failed.
    ServFail,
    /// Says that it does not want to.
    Refused,
    /// Never answers. A connection stays open.
    Silent,
    /// Marks each datagram as truncated, and has no records in it; answers over TCP.
    TruncateUdp,
    /// Marks answers over TCP as truncated too.
    TruncateAll,
    /// Marks each datagram as truncated, and resets connections.
    TruncateUdpAndResetTcp,
    /// Answers with another id.
    WrongId,
    /// Answers as if another name had been asked for.
    WrongQuestion,
    /// Answers with records of another name.
    ForeignRecords,
    /// Sends the question back instead of an answer.
    Echo,
    /// Sends the right id and then bytes that are no message.
    Junk,
    /// Sends answers that end in the middle of a record.
    CutOff,
    /// Sends clients to another server, which it has no address of, although it says that it resolves.
    Referral,
    /// Says that there are no records, and is neither an authority nor a resolver.
    Ignorant,
}

/// How much of a chain of aliases is in one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Recursion {
    /// All of it with the records at its end, as from a resolver.
    #[default]
    WholeChain,
    /// The first alias alone, as from a server that has authority over its name and not over the next.
    FirstAlias,
}

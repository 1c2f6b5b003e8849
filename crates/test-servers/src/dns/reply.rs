//! Writing answers, both correct and malformed ones.

use super::Transport;
use super::behaviour::{Behaviour, Recursion};
use super::query::Query;
use super::records::{NS, Record, SOA, name};
use super::zone::{Known, Zone};

const NO_ERROR: u8 = 0;
const SERV_FAIL: u8 = 2;
const NX_DOMAIN: u8 = 3;
const REFUSED: u8 = 5;

const RESPONSE: u8 = 0x80;
const AUTHORITATIVE: u8 = 0x04;
const TRUNCATED: u8 = 0x02;
const RECURSION_DESIRED: u8 = 0x01;
const RECURSION_AVAILABLE: u8 = 0x80;

/// The reply to the client.
#[derive(Debug)]
pub(super) enum Reply {
    /// Sends these bytes.
    Message(Vec<u8>),
    /// Never answers.
    Silence,
    /// Closes the connection.
    Reset,
}

/// A message before encoding.
struct Draft {
    id: u16,
    question: Vec<u8>,
    flags: [u8; 2],
    answers: Vec<Vec<u8>>,
    authorities: Vec<Vec<u8>>,
    has_edns: bool,
}

/// The reply to a query, by the zone's records and behaviour.
pub(super) fn reply(zone: &Zone, query: &Query, transport: Transport) -> Reply {
    let is_udp = transport == Transport::Udp;
    let mut draft = Draft::answer(zone, query);
    match zone.behaviour_for(&query.name) {
        Behaviour::TruncateUdp | Behaviour::TruncateUdpAndResetTcp if is_udp => draft.truncate(),
        Behaviour::Answer | Behaviour::Delay(_) | Behaviour::TruncateUdp => {}
        Behaviour::AnswerWithoutSoa => draft.authorities.clear(),
        Behaviour::NxDomain => draft.say_no(NX_DOMAIN),
        Behaviour::NoData => draft.say_no(NO_ERROR),
        Behaviour::ServFail => draft.fail(SERV_FAIL),
        Behaviour::Refused => draft.fail(REFUSED),
        Behaviour::Silent => return Reply::Silence,
        Behaviour::TruncateAll => draft.truncate(),
        Behaviour::TruncateUdpAndResetTcp => return Reply::Reset,
        Behaviour::WrongId => draft.id = query.id.wrapping_add(1),
        Behaviour::WrongQuestion => {
            draft.question = [name("elsewhere.example.net"), vec![0, 1, 0, 1]].concat();
        }
        Behaviour::ForeignRecords => {
            let owner = name("elsewhere.example.net");
            draft.answers =
                (0..3).map(|number| record(&owner, query.wanted, &foreign(query.wanted, number))).collect();
        }
        Behaviour::Echo => draft.flags = [RECURSION_DESIRED, 0],
        Behaviour::Junk => {
            let [high, low] = query.id.to_be_bytes();
            return Reply::Message([high, low].into_iter().chain([0xc0; 200]).collect());
        }
        Behaviour::CutOff => {
            draft.answers.push(record(&[0xc0, 12], query.wanted, &[0; 4]));
            let mut message = draft.write(usize::MAX);
            message.truncate(query.question.len() + 20);
            return Reply::Message(message);
        }
        Behaviour::Referral => {
            draft.fail(NO_ERROR);
            draft.authorities = vec![record(&[0xc0, 12], NS, &name("ns.example.net"))];
        }
        Behaviour::Ignorant => {
            draft.fail(NO_ERROR);
            draft.flags = [RESPONSE | RECURSION_DESIRED, NO_ERROR];
        }
    }
    let room = if is_udp { query.max_datagram } else { usize::from(u16::MAX) };
    if is_udp && draft.length() > room {
        draft.truncate();
    }
    Reply::Message(draft.write(room))
}

fn foreign(wanted: u16, number: u8) -> Vec<u8> {
    match wanted {
        1 => vec![192, 0, 2, number],
        28 => vec![0x20; 16],
        _ => vec![1, b'a' + number],
    }
}

impl Draft {
    fn answer(zone: &Zone, query: &Query) -> Self {
        let Known { records, exists } = zone.find(&query.name, query.wanted);
        let ends = records.iter().any(|(_, record)| record.type_number() == query.wanted);
        let is_cut = zone.recursion == Recursion::FirstAlias && !records.is_empty();
        let authorities = if ends || is_cut { Vec::new() } else { vec![soa()] };
        let code = if exists { NO_ERROR } else { NX_DOMAIN };
        let (authority, resolver) = match zone.recursion {
            Recursion::WholeChain => (0, RECURSION_AVAILABLE),
            Recursion::FirstAlias => (AUTHORITATIVE, 0),
        };
        let answers = records.iter().map(|(owner, data)| {
            // Encode the name of the question as a pointer to it.
            let owner = if *owner == query.name { vec![0xc0, 12] } else { name(owner) };
            record(&owner, data.type_number(), &Record::data(data))
        });
        Self {
            id: query.id,
            question: query.question.clone(),
            flags: [RESPONSE | authority | RECURSION_DESIRED, resolver | code],
            answers: answers.collect(),
            authorities,
            has_edns: query.has_edns,
        }
    }

    fn say_no(&mut self, code: u8) {
        self.fail(code);
        self.authorities = vec![soa()];
    }

    fn fail(&mut self, code: u8) {
        self.answers.clear();
        self.authorities.clear();
        self.flags = [RESPONSE | RECURSION_DESIRED, RECURSION_AVAILABLE | code];
    }

    fn truncate(&mut self) {
        self.answers.clear();
        self.authorities.clear();
        self.flags[0] |= TRUNCATED;
    }

    fn length(&self) -> usize {
        let sections = self.answers.iter().chain(&self.authorities).map(Vec::len);
        12 + self.question.len() + sections.sum::<usize>() + EDNS.len()
    }

    /// Encodes the message, with as many answers as fit into `room`.
    fn write(&self, room: usize) -> Vec<u8> {
        let mut left = room.saturating_sub(self.length() - self.answers.iter().map(Vec::len).sum::<usize>());
        let answers: Vec<&Vec<u8>> = self
            .answers
            .iter()
            .take_while(|answer| {
                let fits = answer.len() <= left;
                left = left.saturating_sub(answer.len());
                fits
            })
            .collect();
        let mut message = self.id.to_be_bytes().to_vec();
        message.extend(self.flags);
        for count in [1, answers.len(), self.authorities.len(), usize::from(self.has_edns)] {
            message.extend(u16::try_from(count).unwrap().to_be_bytes());
        }
        message.extend(&self.question);
        answers.into_iter().chain(&self.authorities).for_each(|record| message.extend(record));
        if self.has_edns {
            message.extend(EDNS);
        }
        message
    }
}

/// The EDNS record: accepts datagrams of 1232 bytes, without options.
const EDNS: [u8; 11] = [0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0, 0, 0];

fn record(owner: &[u8], number: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).expect("a record has at most 64 KiB");
    let mut record = owner.to_vec();
    record.extend(number.to_be_bytes());
    // Class IN, and a TTL of one hour.
    record.extend([0, 1, 0, 0, 0x0e, 0x10]);
    record.extend(length.to_be_bytes());
    record.extend(data);
    record
}

/// The SOA record of the root for negative answers, with a TTL of one hour.
fn soa() -> Vec<u8> {
    let mut data = [name("ns.example.net"), name("admin.example.net")].concat();
    for number in [1_u32, 3600, 600, 86_400, 3600] {
        data.extend(number.to_be_bytes());
    }
    record(&[0], SOA, &data)
}

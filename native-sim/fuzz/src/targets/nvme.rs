//! The NVMe front end: any entries in any queue with any buffers end in completions, never in a panic.

use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Unstructured};
use meldsim::nvme::Controller;
use meldsim::nvme::wire::Sqe;
use meldsim::nvme::wire::admin::{CreateQueue, opcode};
use meldsim::{Device, Time};

use super::exercise::tiny_profile;

const STEPS: usize = 200;
const NAMESPACE_BYTES: u64 = 16 << 20;

/// A field: mostly small, sometimes all ones shifted, sometimes anything.
#[derive(Clone, Copy, Debug)]
struct Dword(u32);

impl<'a> Arbitrary<'a> for Dword {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Dword> {
        let small = u.arbitrary::<u8>()?;
        Ok(Dword(match small {
            0..=0xAF => u32::from(small),
            0xB0..=0xCF => u32::MAX >> (small & 31),
            _ => u.arbitrary()?,
        }))
    }
}

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Entry {
    opcode: u8,
    flags: bool,
    cid: u8,
    nsid: Dword,
    cdw: [Dword; 6],
}

#[derive(Arbitrary, Clone, Debug)]
enum Step {
    Admin(Entry, Buffer),
    Submit(u8, Entry, Buffer),
    Advance(u16),
    Complete,
    Pop(u8),
}

/// A command's data: short enough to be made often, also of lengths that no command asks for.
#[derive(Clone, Debug)]
struct Buffer(Vec<u8>);

impl<'a> Arbitrary<'a> for Buffer {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Buffer> {
        let length = [0, 16, 32, 64, 511, 512, 4095, 4096][usize::from(u.arbitrary::<u8>()?) % 8];
        let start: [u8; 16] = u.arbitrary()?;
        let mut bytes = vec![0; length];
        let filled = length.min(start.len());
        bytes[..filled].copy_from_slice(&start[..filled]);
        Ok(Buffer(bytes))
    }
}

const ADMIN: [u8; 16] = [
    0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x08, 0x09, 0x0A, 0x0C, 0x0D, 0x15, 0x18, 0x19, 0x1A, 0x80,
];
const IO: [u8; 8] = [0x00, 0x01, 0x02, 0x09, 0x08, 0x04, 0x0C, 0x80];

impl Entry {
    /// Seven of eight opcodes are known ones.
    fn sqe(self, known: &[u8]) -> Sqe {
        let opcode = match self.opcode {
            any @ 0xE0.. => any,
            index => known[usize::from(index) % known.len()],
        };
        let cdw = self.cdw.map(|dword| dword.0);
        Sqe {
            opcode,
            flags: u8::from(self.flags),
            cid: self.cid.into(),
            nsid: match self.nsid.0 {
                small @ 0..=0xAF => small % 4,
                any => any,
            },
            cdw10: cdw[0],
            cdw11: cdw[1],
            cdw12: cdw[2],
            cdw13: cdw[3],
            cdw14: cdw[4],
            cdw15: cdw[5],
            ..Sqe::default()
        }
    }
}

/// Reads `data` as steps of a host driver and makes them.
pub fn run(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let mut controller = controller();
    let mut waiting = BTreeMap::<(u16, u16), u32>::new();
    for _ in 0..STEPS {
        let step = match input.arbitrary() {
            Ok(step) if !input.is_empty() => step,
            _ => break,
        };
        match step {
            Step::Admin(entry, mut buffer) => {
                let sqe = entry.sqe(&ADMIN);
                let cqe = controller.admin(&sqe, &mut buffer.0);
                assert_eq!(cqe.cid, sqe.cid);
            }
            Step::Submit(queue, entry, buffer) => {
                let (sqid, sqe) = (u16::from(queue % 4), entry.sqe(&IO));
                if controller.submit(sqid, &sqe, &buffer.0).is_ok() {
                    *waiting.entry((sqid, sqe.cid)).or_default() += 1;
                }
            }
            Step::Advance(us) => {
                let until = controller.device().now() + Time::from_us(us.into());
                controller.advance_to(until);
            }
            Step::Complete => drop(controller.run_until_completion()),
            Step::Pop(queue) => drop(pop(&mut controller, u16::from(queue % 4), &mut waiting)),
        }
    }
    while controller.run_until_completion() {}
    for queue in 0..4 {
        while pop(&mut controller, queue, &mut waiting) {}
    }
    assert_eq!(controller.device().outstanding(), 0);
}

/// A controller over a tiny device with two namespaces, of whose queues 1 and 2 exist.
fn controller() -> Controller {
    let mut device = Device::new(&tiny_profile()).unwrap_or_else(|error| panic!("{error}"));
    for _ in 0..2 {
        let created = device.create_namespace(NAMESPACE_BYTES);
        assert!(created.is_ok(), "{created:?}");
    }
    let mut controller = Controller::new(device);
    for qid in 1..3 {
        let queue = CreateQueue {
            qid,
            qsize: 7,
            contiguous: true,
            cqid: qid,
            ..CreateQueue::default()
        };
        for create in [opcode::CREATE_IO_CQ, opcode::CREATE_IO_SQ] {
            let cqe = controller.admin(&queue.encode(create, 0), &mut []);
            assert!(cqe.status_code().is_success());
        }
    }
    controller
}

/// Takes a completion, which must be of a command that was submitted and has not completed.
fn pop(controller: &mut Controller, cqid: u16, waiting: &mut BTreeMap<(u16, u16), u32>) -> bool {
    let Some(posted) = controller.pop_completion(cqid) else {
        return false;
    };
    let count = waiting.get_mut(&(posted.cqe.sqid, posted.cqe.cid));
    match count {
        Some(count @ 1..) => *count -= 1,
        _ => panic!("a completion of a command that was never submitted: {posted:?}"),
    }
    assert!(posted.submitted <= posted.completed);
    true
}

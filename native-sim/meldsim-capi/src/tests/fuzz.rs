//! Random calls with random arguments: any outcome but a crash, a hang or a panic of the model is fine.

use std::ffi::CString;

use meldsim_experiments::workload::Random;

use super::support::*;
use crate::*;

/// Mostly plausible, sometimes at an edge, sometimes anything.
fn number(random: &mut Random, plausible: u64) -> u64 {
    match random.below(8) {
        0 => [
            0,
            1,
            u64::MAX,
            i64::MAX as u64,
            1 << 32,
            u64::from(u32::MAX),
        ][random.below(6) as usize],
        1 => random.next_u64(),
        _ => random.below(plausible),
    }
}

#[test]
fn random_calls_never_crash_and_never_panic_inside() {
    for seed in 0..40 {
        run(seed);
    }
}

fn run(seed: u64) {
    let mut random = Random::new(seed);
    let mut handles = vec![0, -1];
    let mut tickets = vec![0i64, -1];
    let names = [PROFILE, "melded-tlc-16x4", "", "/", "no such profile"];
    for _ in 0..400 {
        let handle = match random.below(12) {
            0 => random.next_u64() as i64,
            _ => handles[random.below(handles.len() as u64) as usize],
        };
        let ticket = match random.below(12) {
            0 => random.next_u64() as i64,
            _ => tickets[random.below(tickets.len() as u64) as usize],
        };
        let code = match random.below(16) {
            0 => {
                let name = CString::new(names[random.below(5) as usize]).unwrap();
                let mut opened = 0;
                // SAFETY: a NUL-terminated name and a writable handle.
                let code = unsafe { meldsim_open(MELDSIM_ABI_VERSION, name.as_ptr(), &mut opened) };
                if code == MELDSIM_OK {
                    handles.push(opened);
                }
                i64::from(code)
            }
            1 if random.below(4) == 0 => i64::from(meldsim_close(handle)),
            1 | 2 => {
                let dilation = [1.0, 0.001, 0.0, f64::NAN, -1.0][random.below(5) as usize];
                i64::from(meldsim_set_mode(
                    handle,
                    number(&mut random, 3) as u32,
                    dilation,
                ))
            }
            3 | 4 => {
                let mut nsid = 0;
                // SAFETY: `nsid` is writable.
                i64::from(unsafe {
                    meldsim_namespace_create(handle, number(&mut random, 1 << 30), &mut nsid)
                })
            }
            5 => {
                let mut out = [0; 4];
                let n = random.below(5) as u32;
                // SAFETY: `n` is at most the length of `out`.
                i64::from(unsafe {
                    meldsim_namespace_info(
                        handle,
                        number(&mut random, 4) as u32,
                        out.as_mut_ptr(),
                        n,
                    )
                })
            }
            6 => {
                let mut out = [0; 40];
                let n = random.below(41) as u32;
                // SAFETY: `n` is at most the length of `out`.
                i64::from(unsafe { meldsim_stats(handle, out.as_mut_ptr(), n) })
            }
            7 => i64::from(meldsim_forget(handle, ticket)),
            8 | 9 => meldsim_wait(handle, ticket, random.below(1_000_000)),
            10 => i64::from(meldsim_preload(
                handle,
                number(&mut random, 4) as u32,
                number(&mut random, 1 << 14),
                number(&mut random, 1 << 14),
                number(&mut random, 4) as u32 | 0x000F_0000,
            )),
            11 => {
                let commands: Vec<_> = (0..random.below(40))
                    .map(|_| command(&mut random))
                    .collect();
                let count = commands.len() as u32;
                // SAFETY: a slice is as long as it says.
                let got = unsafe {
                    meldsim_submit_batch(
                        handle,
                        commands.as_ptr(),
                        count,
                        number(&mut random, 2) as u32,
                    )
                };
                tickets.push(got);
                got
            }
            _ => {
                let c = command(&mut random);
                let flags = number(&mut random, 2) as u32;
                let got =
                    meldsim_submit(handle, c.opcode, c.nsid, c.slba, c.nlb, c.directive, flags);
                tickets.push(got);
                got
            }
        };
        assert_ne!(
            code,
            i64::from(MELDSIM_ERR_PANIC),
            "seed {seed}: {}",
            last_error()
        );
    }
    for handle in handles {
        meldsim_close(handle);
    }
}

fn command(random: &mut Random) -> meldsim_command {
    meldsim_command {
        opcode: [0, 1, 2, 9, number(random, 16) as u32][random.below(5) as usize],
        nsid: number(random, 4) as u32,
        slba: number(random, 1 << 14),
        nlb: number(random, 1 << 10) as u32,
        directive: [0, 0x000F_0001, 0x000F_0002, number(random, 1 << 22) as u32]
            [random.below(4) as usize],
        dsm: [0, 0x43, number(random, 256) as u32][random.below(3) as usize],
        queue: u32::from(random.below(20) == 0),
    }
}

//! Preconditioning through the ABI.

use super::support::*;
use crate::*;

#[test]
fn a_used_device_is_full_and_collects_at_once() {
    let rig = Rig::new();
    let lost = rig.submit(MELDSIM_READ, 0, MIB, 0);
    ok(meldsim_precondition(rig.handle, 100, 100));
    assert!(
        meldsim_wait(rig.handle, lost, FOREVER) > 0,
        "completed before"
    );
    assert_eq!(rig.stat("mapped_pages"), (1 << 30) / 4096);
    let before_ps = rig.stat("now_ps");
    ok(meldsim_precondition(rig.handle, 50, 0));
    assert_eq!(rig.stat("mapped_pages"), (1 << 29) / 4096);
    assert_eq!(rig.stat("now_ps"), before_ps, "takes no simulated time");
    rig.read(0, MIB);
}

#[test]
fn shares_beyond_the_whole_are_refused() {
    let rig = Rig::new();
    for (fill, random) in [(0, 0), (101, 0), (50, 101), (u32::MAX, u32::MAX)] {
        let outcome = meldsim_precondition(rig.handle, fill, random);
        assert_eq!(outcome, MELDSIM_ERR_ARGUMENT, "{fill} {random}");
    }
}

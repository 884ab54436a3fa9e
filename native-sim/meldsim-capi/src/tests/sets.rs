//! NVM sets through the ABI.

use meldsim::Profile;
use meldsim::profile::SetLayout;

use super::support::*;
use crate::*;

/// A device of four vertical sets.
fn divided() -> (i64, tempfile::TempPath) {
    let mut profile = Profile::builtin(PROFILE).unwrap();
    profile.sets.layout = SetLayout::Vertical;
    profile.sets.count = 4;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), profile.to_toml()).unwrap();
    let handle = open(file.path().to_str().unwrap()).unwrap();
    (handle, file.into_temp_path())
}

fn set_info(handle: i64, set: u32) -> Result<[u64; 13], i32> {
    let mut values = [0; MELDSIM_SET_INFO_COUNT as usize];
    // SAFETY: as long as it says.
    let count =
        unsafe { meldsim_set_info(handle, set, values.as_mut_ptr(), MELDSIM_SET_INFO_COUNT) };
    if count < 0 { Err(count) } else { Ok(values) }
}

#[test]
fn a_namespace_is_where_it_was_created() {
    let (handle, _file) = divided();
    assert_eq!(meldsim_sets(handle), 4);
    for set in [2, 0, 3] {
        let mut nsid = 0;
        // SAFETY: `nsid` is writable.
        ok(unsafe { meldsim_namespace_create_in(handle, set, 1 << 30, &mut nsid) });
        let lba_bytes = info(handle, nsid)[0];
        assert_eq!(info(handle, nsid)[5], u64::from(set));
        ok(meldsim_preload(handle, nsid, 0, MIB / lba_bytes, 0));
        let [capacity, mapped, free, ..] = set_info(handle, set).unwrap();
        assert_eq!(mapped, MIB / info(handle, nsid)[2]);
        assert!(capacity > mapped && free > 0);
    }
    assert_eq!(set_info(handle, 1).unwrap()[1], 0, "nothing is there");
    ok(meldsim_close(handle));
}

#[test]
fn a_set_that_does_not_exist_is_an_error() {
    let rig = Rig::new();
    assert_eq!(meldsim_sets(rig.handle), 1);
    let mut nsid = 0;
    // SAFETY: `nsid` is writable.
    let code = unsafe { meldsim_namespace_create_in(rig.handle, 1, 1 << 30, &mut nsid) };
    assert_eq!(code, MELDSIM_ERR_ARGUMENT);
    assert!(last_error().contains("NVM set 1"), "{}", last_error());
    assert_eq!(set_info(rig.handle, 1), Err(MELDSIM_ERR_ARGUMENT));
    // SAFETY: null is the error under test.
    let null = unsafe { meldsim_namespace_create_in(rig.handle, 0, 1 << 30, std::ptr::null_mut()) };
    assert_eq!(null, MELDSIM_ERR_ARGUMENT);
}

//! Whether a profile describes a device that can be.

use super::{Profile, ProfileError, ProfileErrors};

impl Profile {
    /// Everything that makes the device impossible, all at once.
    pub fn validate(&self) -> Result<(), ProfileErrors> {
        let mut errors: Vec<ProfileError> = Vec::new();
        if self.geometry.channels == 0 {
            errors.push(ProfileError::new(
                "geometry.channels",
                "is 0",
                "must be at least 1",
            ));
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(ProfileErrors(errors))
        }
    }
}

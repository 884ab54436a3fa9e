//! The profiles that come with the simulator.

use super::{Profile, ProfileError, ProfileErrors};

const BUILTIN: [(&str, &str); 9] = [
    (
        "melded-tlc-8x8",
        include_str!("../../profiles/melded-tlc-8x8.toml"),
    ),
    (
        "melded-tlc-16x4",
        include_str!("../../profiles/melded-tlc-16x4.toml"),
    ),
    (
        "melded-qlc-8x8",
        include_str!("../../profiles/melded-qlc-8x8.toml"),
    ),
    (
        "palloc-mlc-8x8x2",
        include_str!("../../profiles/palloc-mlc-8x8x2.toml"),
    ),
    ("nvmset-2tb", include_str!("../../profiles/nvmset-2tb.toml")),
    (
        "enterprise-8tb",
        include_str!("../../profiles/enterprise-8tb.toml"),
    ),
    (
        "optane-900p",
        include_str!("../../profiles/optane-900p.toml"),
    ),
    (
        "flash-970pro",
        include_str!("../../profiles/flash-970pro.toml"),
    ),
    ("deepflash", include_str!("../../profiles/deepflash.toml")),
];

impl Profile {
    /// The built-in profile of that name.
    pub fn builtin(name: &str) -> Result<Profile, ProfileErrors> {
        match BUILTIN.iter().find(|(builtin, _)| *builtin == name) {
            Some((_, text)) => Profile::from_toml(text),
            None => Err(not_built_in(name)),
        }
    }

    /// The built-in profile of that name as it was written, with its comments on where each number
    /// comes from.
    pub fn builtin_text(name: &str) -> Option<&'static str> {
        let found = BUILTIN.iter().find(|(builtin, _)| *builtin == name);
        found.map(|(_, text)| *text)
    }

    /// The names of the built-in profiles.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }
}

fn not_built_in(name: &str) -> ProfileErrors {
    let names: Vec<&str> = Profile::builtin_names().collect();
    let message = format!("\"{name}\" is not a built-in profile");
    let remedy = format!("use one of {}, or the path of a file", names.join(", "));
    ProfileError::new("profile", message, remedy).into()
}

//! Profiles from and to TOML.

use super::base::over_base;
use super::{Kind, Profile, ProfileError, ProfileErrors, Setting};

impl Profile {
    /// Reads a profile. The text's own mistakes (unknown keys, wrong units or types) are refused
    /// here; whether the device is possible is said by [`Profile::validate`]. With `base`, the name
    /// of a built-in profile, the text says only what differs from it.
    pub fn from_toml(text: &str) -> Result<Profile, ProfileErrors> {
        Profile::from_toml_with(text, &[])
    }

    /// As [`Profile::from_toml`], with `settings` in place of what the text says of the same keys.
    pub fn from_toml_with(text: &str, settings: &[Setting]) -> Result<Profile, ProfileErrors> {
        let mut own: toml::Table = text.parse().map_err(|error| syntax(&error))?;
        for setting in settings {
            setting.lay_over(&mut own);
        }
        let table = over_base(own)?;
        let kind = kind(&table);
        refuse_foreign(&table, kind)?;
        let profile = serde_path_to_error::deserialize(toml::Value::Table(table.clone()))
            .map_err(|error| described(&error.path().to_string(), error.inner().message()))?;
        // Last, for a misspelt section is both unknown and missing, and the first is what helps.
        require_sections(&table, kind)?;
        Ok(profile)
    }

    /// The profile as TOML, every key with its value.
    pub fn to_toml(&self) -> String {
        // Nothing in a profile is beyond TOML: no map with odd keys, no value before a table.
        match self.kind {
            Kind::Nand => toml::to_string(self),
            Kind::Xpoint => toml::to_string(&self.as_xpoint_file()),
        }
        .unwrap_or_default()
    }
}

/// The kind of device that a profile says it is; none when it says nothing known.
fn kind(profile: &toml::Table) -> Option<Kind> {
    match profile.get("kind").map(toml::Value::as_str) {
        None | Some(Some("nand")) => Some(Kind::Nand),
        Some(Some("xpoint")) => Some(Kind::Xpoint),
        // Refused as any other wrong value.
        Some(_) => None,
    }
}

/// Each kind of device has sections of its own: those of another kind would be ignored.
fn refuse_foreign(profile: &toml::Table, kind: Option<Kind>) -> Result<(), ProfileError> {
    let Some(kind) = kind else { return Ok(()) };
    let has = |key: &&&str| match key.split_once('.') {
        None => profile.contains_key(**key),
        Some((section, key)) => {
            let section = profile.get(section).and_then(toml::Value::as_table);
            section.is_some_and(|section| section.contains_key(key))
        }
    };
    match kind.foreign().iter().find(has) {
        Some(key) => {
            let message = format!("does not belong to a device of kind \"{}\"", kind.name());
            Err(ProfileError::new(
                *key,
                message,
                "remove it, or change kind",
            ))
        }
        None => Ok(()),
    }
}

/// The sections of flash have no defaults.
fn require_sections(profile: &toml::Table, kind: Option<Kind>) -> Result<(), ProfileError> {
    let required: &[&str] = match kind {
        Some(Kind::Nand) => &["geometry", "bus", "timing"],
        Some(Kind::Xpoint) | None => &[],
    };
    match required.iter().find(|key| !profile.contains_key(**key)) {
        Some(key) => Err(missing(key)),
        None => Ok(()),
    }
}

fn missing(key: &str) -> ProfileError {
    ProfileError::new(key, "is missing", "it has no default, add it")
}

fn syntax(error: &toml::de::Error) -> ProfileErrors {
    let message = format!(
        "is not TOML: {}",
        error.to_string().trim().replace('\n', " ")
    );
    ProfileError::new("(file)", message, "correct the line").into()
}

/// Splits serde's message into what was read and what to do.
fn described(key: &str, message: &str) -> ProfileError {
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let known = rest.split_once(", ").map_or("", |(_, known)| known);
        return ProfileError::new(key, "is not a key of a profile", format!("{known} here"));
    }
    if let Some(rest) = message.strip_prefix("missing field ") {
        let field = rest.trim_matches('`');
        let key = if key == "." {
            field.to_owned()
        } else {
            format!("{key}.{field}")
        };
        return missing(&key);
    }
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        let (found, known) = rest.split_once(", ").unwrap_or((rest, "use a known name"));
        let found = found.replace('`', "\"");
        return ProfileError::new(key, format!("is {found}, which is unknown"), known);
    }
    match message.split_once("; ") {
        Some((message, remedy)) => ProfileError::new(key, message, remedy),
        None => match message.split_once(", expected ") {
            Some((message, expected)) => {
                ProfileError::new(key, message, format!("write {expected}"))
            }
            None => ProfileError::new(key, message, "correct the value"),
        },
    }
}

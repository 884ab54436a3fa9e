//! What is set from outside, over a profile and over the sections of a job file: `KEY=VALUE` of either.

use meldsim::profile::Setting;

/// What the key of a job's option begins with.
pub(super) const JOB: &str = "job.";

/// Settings in their order: a later one goes before an earlier one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Keys of the profile.
    pub profile: Vec<Setting>,
    /// Options of jobs, and their values.
    pub job: Vec<(String, String)>,
}

impl Settings {
    /// Adds one, such as `geometry.channels=4`; `job.iodepth=8` is the option `iodepth` of every job. The value of an option may
    /// be in quotes.
    ///
    /// # Errors
    ///
    /// When it is no setting: what was found, and the remedy.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let Some((option, value)) = option(text) else {
            self.profile.push(text.parse()?);
            return Ok(());
        };
        if option.is_empty() || value.is_empty() {
            return Err(format!(
                "is \"{text}\", which is no setting; write {JOB}OPTION=VALUE, such as {JOB}iodepth=8"
            ));
        }
        self.job.push((option.to_owned(), value.to_owned()));
        Ok(())
    }
}

/// The option of a job and its value; nothing of what is of the profile.
fn option(text: &str) -> Option<(&str, &str)> {
    let (option, value) = text.trim_start().strip_prefix(JOB)?.split_once('=')?;
    let value = value.trim();
    let quoted = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    Some((option.trim(), quoted('"').or(quoted('\'')).unwrap_or(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_jobs_and_of_profiles_are_told_apart() {
        let mut settings = Settings::default();
        for text in ["geometry.channels=4", "job.bs = \"4k,8k\"", "job.iodepth=8"] {
            settings.add(text).expect(text);
        }
        let own = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(settings.job, [own("bs", "4k,8k"), own("iodepth", "8")]);
        assert_eq!(settings.profile.len(), 1);
        for text in ["job.=3", "job.bs=", "job.bs", "channels", ""] {
            let error = settings.add(text).expect_err(text);
            assert!(error.contains("is no setting; write "), "{error}");
        }
    }
}

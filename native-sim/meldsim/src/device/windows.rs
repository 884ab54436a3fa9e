//! Predictable latency: the windows of the NVM sets, where the medium has any.

use super::medium::Medium;
use super::nand::NandMedium;
use super::xpoint::XpointMedium;
use super::{Device, DeviceError};
use crate::engine::Time;
use crate::nvme::Window;
use crate::nvme::wire::sets::{PredictableLatencyConfig, PredictableLatencyLog};

impl Device {
    /// What a read of one page takes on an idle device, on average over the pages of a wordline.
    pub fn random_read_typical(&self) -> Time {
        match &self.medium {
            Medium::Nand(_) => NandMedium::random_read_typical(&self.front.profile),
            Medium::Xpoint(_) => XpointMedium::random_read_typical(&self.front.profile),
        }
    }

    /// Bytes of a write that fills a wordline: the optimal write size of an NVM set.
    pub fn optimal_write_bytes(&self) -> u64 {
        self.medium.optimal_write_bytes()
    }

    /// Bytes of one wordline of every plane, or of one chunk of every die.
    pub fn stripe_bytes(&self) -> u64 {
        self.medium.stripe_bytes()
    }

    /// Enables or disables predictable latency mode for an NVM set, as Feature 13h does.
    pub fn configure_windows(
        &mut self,
        set: u32,
        enable: bool,
        config: PredictableLatencyConfig,
    ) -> Result<(), DeviceError> {
        self.known_set(set)?;
        match &mut self.medium {
            Medium::Nand(nand) => nand.configure_windows(&mut self.front, set, enable, config),
            Medium::Xpoint(_) => return Err(DeviceError::WindowsUnsupported),
        }
        Ok(())
    }

    /// The window an NVM set is in, and what is to be reported of it.
    pub fn window(&self, set: u32) -> Result<(Window, PredictableLatencyConfig), DeviceError> {
        self.known_set(set)?;
        match &self.medium {
            Medium::Nand(nand) => Ok(nand.window(set)),
            Medium::Xpoint(_) => Ok((Window::Disabled, PredictableLatencyConfig::default())),
        }
    }

    /// Moves an NVM set to the deterministic window, or out of it, as Feature 14h does. In the
    /// deterministic window the set collects no garbage unless writes leave it no choice; the window
    /// ends by itself when its budget (`[predictable_latency]`) is used up.
    pub fn enter_window(&mut self, set: u32, deterministic: bool) -> Result<(), DeviceError> {
        self.known_set(set)?;
        match &mut self.medium {
            Medium::Nand(nand) => nand.enter_window(&mut self.front, set, deterministic),
            Medium::Xpoint(_) => Err(DeviceError::WindowsUnsupported),
        }
    }

    /// The Predictable Latency log page of an NVM set. Events are cleared unless `retain`.
    pub fn latency_log(
        &mut self,
        set: u32,
        retain: bool,
    ) -> Result<PredictableLatencyLog, DeviceError> {
        let now = self.now();
        self.known_set(set)?;
        match &mut self.medium {
            Medium::Nand(nand) => Ok(nand.latency_log(set, now, retain)),
            Medium::Xpoint(_) => Err(DeviceError::WindowsUnsupported),
        }
    }
}

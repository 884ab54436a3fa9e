//! Set Features, Get Features and Get Log Page.

use super::queues::MAX_QUEUES;
use super::{Controller, refused};
use crate::device::DeviceError;
use crate::nvme::Window;
use crate::nvme::wire::admin::{ArbitrationFeature, GetLogPage, feature, log};
use crate::nvme::wire::sets::{EnduranceGroupLog, PredictableLatencyConfig};
use crate::nvme::wire::{Sqe, StatusCode};

const AVAILABLE_SPARE_PERCENT: u8 = 100;

impl Controller {
    /// Nothing can be saved: the simulated controller has no power cycles.
    pub(super) fn set_features(&mut self, sqe: &Sqe, data: &[u8]) -> Result<u32, StatusCode> {
        if sqe.cdw10 & 1 << 31 != 0 {
            return Err(StatusCode::FEATURE_NOT_SAVEABLE);
        }
        match sqe.cdw10 as u8 {
            feature::ARBITRATION => {
                let set = ArbitrationFeature::parse(sqe.cdw11);
                let burst = match set.burst {
                    ArbitrationFeature::NO_LIMIT => 0,
                    exponent => 1 << exponent,
                };
                let weights = [set.high, set.medium, set.low].map(|weight| u32::from(weight) + 1);
                self.device.set_arbitration(burst, weights);
                Ok(0)
            }
            feature::NUMBER_OF_QUEUES if sqe.cdw11 as u16 == u16::MAX => {
                Err(StatusCode::INVALID_FIELD)
            }
            feature::NUMBER_OF_QUEUES => Ok(number_of_queues()),
            feature::PREDICTABLE_LATENCY_CONFIG => {
                let set = set_of(sqe.cdw11 as u16)?;
                let config = data.first_chunk().ok_or(StatusCode::DATA_TRANSFER_ERROR)?;
                let config = PredictableLatencyConfig::parse(config);
                let enable = sqe.cdw12 & 1 != 0;
                let configured = self.device.configure_windows(set, enable, config);
                done(configured)
            }
            feature::PREDICTABLE_LATENCY_WINDOW => {
                let set = set_of(sqe.cdw11 as u16)?;
                let deterministic = match (sqe.cdw12 & 0x7) as u8 {
                    1 => true,
                    2 => false,
                    _ => return Err(StatusCode::INVALID_FIELD),
                };
                done(self.device.enter_window(set, deterministic))
            }
            _ => Err(StatusCode::INVALID_FIELD),
        }
    }

    /// Current values only (SEL, CDW10 bits 10:8, is zero).
    pub(super) fn get_features(&mut self, sqe: &Sqe, data: &mut [u8]) -> Result<u32, StatusCode> {
        if sqe.cdw10 >> 8 & 0x7 != 0 {
            return Err(StatusCode::INVALID_FIELD);
        }
        match sqe.cdw10 as u8 {
            feature::ARBITRATION => {
                let (burst, [high, medium, low]) = self.device.arbitration();
                let weight = |weight: u32| (weight - 1) as u8;
                let feature = ArbitrationFeature {
                    burst: match burst {
                        0 => ArbitrationFeature::NO_LIMIT,
                        burst => burst.ilog2() as u8,
                    },
                    low: weight(low),
                    medium: weight(medium),
                    high: weight(high),
                };
                Ok(feature.encode())
            }
            feature::NUMBER_OF_QUEUES => Ok(number_of_queues()),
            feature::PREDICTABLE_LATENCY_CONFIG => {
                let set = set_of(sqe.cdw11 as u16)?;
                let to = data.get_mut(..PredictableLatencyConfig::BYTES);
                let to = to.ok_or(StatusCode::DATA_TRANSFER_ERROR)?;
                let (window, config) = self.window(set)?;
                to.copy_from_slice(&config.encode());
                Ok(u32::from(window != Window::Disabled))
            }
            feature::PREDICTABLE_LATENCY_WINDOW => {
                let set = set_of(sqe.cdw11 as u16)?;
                Ok(self.window(set)?.0 as u32)
            }
            _ => Err(StatusCode::INVALID_FIELD),
        }
    }

    pub(super) fn get_log_page(&mut self, sqe: &Sqe, data: &mut [u8]) -> Result<u32, StatusCode> {
        let get = GetLogPage::parse(sqe);
        let page = match get.lid {
            log::ENDURANCE_GROUP => self.endurance_log(get.lsi)?.encode(),
            log::PREDICTABLE_LATENCY => {
                let set = set_of(get.lsi)?;
                let log = self.device.latency_log(set, get.retain);
                log.map_err(|error| refused(&error))?.encode()
            }
            _ => return Err(StatusCode::INVALID_LOG_PAGE),
        };
        let rest = usize::try_from(get.offset)
            .ok()
            .and_then(|at| page.get(at..));
        let rest = rest.filter(|_| get.offset % 4 == 0);
        let rest = rest.ok_or(StatusCode::INVALID_FIELD)?;
        let bytes = (get.numd as usize).saturating_add(1).saturating_mul(4);
        let data = data
            .get_mut(..bytes)
            .ok_or(StatusCode::DATA_TRANSFER_ERROR)?;
        let length = bytes.min(rest.len());
        data[..length].copy_from_slice(&rest[..length]);
        data[length..].fill(0);
        Ok(0)
    }

    fn window(&self, set: u32) -> Result<(Window, PredictableLatencyConfig), StatusCode> {
        self.device.window(set).map_err(|error| refused(&error))
    }

    /// Blocks do not fail and have no rated cycles, so spare and estimate say nothing.
    fn endurance_log(&self, group: u16) -> Result<EnduranceGroupLog, StatusCode> {
        if !self.set_ids().any(|id| id == group) {
            return Err(StatusCode::INVALID_FIELD);
        }
        let usage = self.device.set_usage(set_of(group)?);
        let total = self.set_capacity(group);
        Ok(EnduranceGroupLog {
            available_spare: AVAILABLE_SPARE_PERCENT,
            data_units_read: EnduranceGroupLog::units(usage.read_bytes),
            data_units_written: EnduranceGroupLog::units(usage.written_bytes),
            media_units_written: EnduranceGroupLog::units(usage.programmed_bytes),
            host_read_commands: u128::from(usage.read_commands),
            host_write_commands: u128::from(usage.write_commands),
            total_capacity: u128::from(total),
            unallocated_capacity: u128::from(total.saturating_sub(self.set_allocated(group))),
            ..EnduranceGroupLog::default()
        })
    }
}

/// As many as there are, whatever was asked for: submission 15:0, completion 31:16, zero-based.
fn number_of_queues() -> u32 {
    let most = u32::from(MAX_QUEUES - 1);
    most | most << 16
}

/// The device's number of the NVM set with this identifier.
fn set_of(id: u16) -> Result<u32, StatusCode> {
    let set = u32::from(id).checked_sub(1);
    set.ok_or(StatusCode::INVALID_FIELD)
}

fn done(result: Result<(), DeviceError>) -> Result<u32, StatusCode> {
    result.map(|()| 0).map_err(|error| refused(&error))
}

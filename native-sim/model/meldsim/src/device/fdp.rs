//! Flexible data placement: handles, statistics and events of a device.

use super::{Device, DeviceError};
use crate::nvme::fdp::{FdpEvent, FdpEventType, FdpStatistics, HandleStatus};
use crate::nvme::{Command, NamespaceId};

impl Device {
    /// Reclaim unit handles of each NVM set; none without flexible data placement.
    pub fn handles(&self) -> u16 {
        self.profile.fdp.handles as u16
    }

    /// The reclaim unit handles that a namespace may use, which are all of its NVM set, by placement identifier.
    ///
    /// # Errors
    ///
    /// A namespace that does not exist, [`DeviceError::FdpDisabled`].
    pub fn handle_status(&self, nsid: NamespaceId) -> Result<Vec<HandleStatus>, DeviceError> {
        let (set, _) = self.namespaces.space(nsid)?;
        self.check_handle(0)?;
        let lbas_per_page = self.medium.page_bytes() / self.profile.controller.lba_size.0;
        let is_persistently_isolated = self.profile.isolates_handles();
        let status = |pid| HandleStatus {
            pid,
            is_persistently_isolated,
            available_lbas: self.medium.left_in_superblock(set, pid as u8) * lbas_per_page,
        };
        Ok((0..self.handles()).map(status).collect())
    }

    /// Has a reclaim unit handle refer to an empty reclaim unit, as Reclaim Unit Handle Update does: what is gathered for it
    /// is programmed, with padding, and its reclaim unit is closed. Namespaces of an NVM set share handles.
    ///
    /// # Errors
    ///
    /// A namespace that does not exist, [`DeviceError::FdpDisabled`], [`DeviceError::PlacementIdentifier`].
    pub fn update_handle(&mut self, nsid: NamespaceId, pid: u16) -> Result<(), DeviceError> {
        let (set, _) = self.namespaces.space(nsid)?;
        self.check_handle(pid)?;
        let (queue, requests) = (&mut self.queue, &mut self.requests);
        self.medium.release_stream(queue, requests, set, pid as u8);
        self.take_outcomes();
        Ok(())
    }

    /// The FDP Statistics log page of an NVM set, since the device was built.
    ///
    /// # Errors
    ///
    /// A set that does not exist, [`DeviceError::FdpDisabled`].
    pub fn fdp_statistics(&self, set: u32) -> Result<FdpStatistics, DeviceError> {
        self.known_set(set)?;
        self.check_handle(0)?;
        let usage = self.set_usage(set);
        Ok(FdpStatistics {
            host_bytes_written: usage.written_bytes,
            media_bytes_written: usage.programmed_bytes,
            media_bytes_erased: usage.erases * self.profile.block_size().0,
        })
    }

    /// The FDP Events log page of an NVM set, the oldest first: the host's events or the controller's. All types are enabled;
    /// reading clears nothing.
    ///
    /// # Errors
    ///
    /// A set that does not exist, [`DeviceError::FdpDisabled`].
    pub fn fdp_events(&self, set: u32, host: bool) -> Result<Vec<FdpEvent>, DeviceError> {
        self.known_set(set)?;
        self.check_handle(0)?;
        let events = self.medium.fdp_events(set);
        Ok(events.map_or(Vec::new(), |events| events.log(host).copied().collect()))
    }

    /// How many events of each type there were in an NVM set, those that its log has no room for too; none without flexible
    /// data placement.
    pub fn fdp_event_counts(&self, set: u32) -> impl Iterator<Item = (FdpEventType, u64)> {
        let events = self.medium.fdp_events(set);
        let counts = events.map(|events| FdpEventType::ALL.into_iter().zip(events.counts()));
        counts.into_iter().flatten()
    }

    fn check_handle(&self, pid: u16) -> Result<(), DeviceError> {
        match self.handles() {
            0 => Err(DeviceError::FdpDisabled),
            handles if pid >= handles => Err(DeviceError::PlacementIdentifier { pid, handles }),
            _ => Ok(()),
        }
    }

    /// Logs a write with a placement identifier that does not exist: it goes to handle 0.
    #[inline]
    pub(super) fn note_placement(&mut self, write: &Command) {
        if !write.directive.names_handle(self.handles()) {
            self.note_invalid_placement(write);
        }
    }

    #[cold]
    fn note_invalid_placement(&mut self, write: &Command) {
        let Ok((set, _)) = self.namespaces.space(write.nsid) else {
            return;
        };
        let event = FdpEvent {
            kind: FdpEventType::InvalidPlacementIdentifier,
            time: self.queue.now(),
            pid: Some(write.directive.dspec),
            nsid: Some(write.nsid),
            pages: 0,
        };
        if let Some(events) = self.medium.fdp_events_mut(set) {
            events.note(event);
        }
    }
}

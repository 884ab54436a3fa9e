//! Windows of predictable latency mode (NVM Express Base Specification), and what they do to a set's garbage collection.

use super::{Map, NandMedium};
use crate::device::DeviceError;
use crate::device::medium::{Medium, Windowed};
use crate::device::request::Request;
use crate::engine::{EventQueue, Instant};
use crate::event::Event;
use crate::nand::Owner;
use crate::nvme::wire::sets::{PredictableLatencyConfig, PredictableLatencyLog};
use crate::nvme::{Opcode, Window, WindowError};

/// The unit of the reads of a deterministic window.
const READ_BYTES: u64 = 4096;

impl<M: Map> Windowed for NandMedium<M> {
    fn configure_windows(
        &mut self,
        queue: &mut EventQueue<Event>,
        set: u32,
        enable: bool,
        config: PredictableLatencyConfig,
    ) -> Result<(), DeviceError> {
        let windows = &mut self.sets[set as usize].windows;
        windows.configure(enable, config, queue.now());
        self.follow_window(queue, set);
        Ok(())
    }

    fn window(&self, set: u32) -> (Window, PredictableLatencyConfig) {
        let windows = &self.sets[set as usize].windows;
        (windows.window(), windows.config())
    }

    fn enter_window(
        &mut self,
        queue: &mut EventQueue<Event>,
        set: u32,
        deterministic: bool,
    ) -> Result<(), DeviceError> {
        let windows = &mut self.sets[set as usize].windows;
        windows
            .enter(deterministic, queue.now())
            .map_err(|error| match error {
                WindowError::NotEnabled => DeviceError::WindowsDisabled { set },
                WindowError::NotEarned => DeviceError::WindowNotEarned { set },
            })?;
        self.follow_window(queue, set);
        Ok(())
    }

    fn latency_log(
        &mut self,
        set: u32,
        now: Instant,
        retain: bool,
    ) -> Result<PredictableLatencyLog, DeviceError> {
        Ok(self.sets[set as usize].windows.log(now, retain))
    }
}

impl<M: Map> NandMedium<M> {
    /// Takes a command that begins off the budget of its set's window.
    #[inline(always)]
    pub(super) fn account(&mut self, queue: &mut EventQueue<Event>, request: &Request) {
        if !matches!(request.opcode, Opcode::Read | Opcode::Write) {
            return;
        }
        let set = request.range.set;
        if self.sets[set as usize].windows.alternate(queue.now()) {
            self.follow_window(queue, set);
        }
        if self.sets[set as usize].windows.window() == Window::Deterministic {
            self.account_window(queue, request);
        }
    }

    fn account_window(&mut self, queue: &mut EventQueue<Event>, request: &Request) {
        let (reads, writes) = match request.opcode {
            Opcode::Read => (request.bytes.div_ceil(READ_BYTES), 0),
            _ => (0, request.bytes.div_ceil(self.optimal_write_bytes())),
        };
        let (set, now) = (request.range.set, queue.now());
        if self.sets[set as usize].windows.account(reads, writes, now) {
            self.follow_window(queue, set);
        }
    }

    /// The time of a deterministic window may be up.
    pub(super) fn window_due(&mut self, queue: &mut EventQueue<Event>, set: u32) {
        if self.sets[set as usize].windows.expire(queue.now()) {
            self.follow_window(queue, set);
        }
    }

    /// The set could not put off its garbage collection any longer.
    #[inline]
    pub(super) fn note_excursion(&mut self, queue: &mut EventQueue<Event>, set: u32) {
        let of = &mut self.sets[set as usize];
        if of.ftl.take_excursion() && of.windows.excursion(queue.now()) {
            self.follow_window(queue, set);
        }
    }

    /// The set's garbage collection does as the window says.
    fn follow_window(&mut self, queue: &mut EventQueue<Event>, set: u32) {
        let windows = &self.sets[set as usize].windows;
        if let Some(deadline) = windows.deadline() {
            queue.schedule(deadline, Event::Window(set));
        }
        let deterministic = windows.window() == Window::Deterministic;
        self.sets[set as usize].ftl.set_deterministic(deterministic);
        if !deterministic {
            self.dispatch(queue, set, Owner::gc(set));
        }
    }
}

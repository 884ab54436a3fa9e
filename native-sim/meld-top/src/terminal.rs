//! The terminal: keys, and a thread that looks at the DataNodes.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, Result};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::datanode::{Answer, DataNode};
use crate::screen::Screen;
use crate::usage::Usage;

/// How soon a key is seen.
const KEY_WAIT: Duration = Duration::from_millis(50);

/// Shows until the user has seen enough.
pub(crate) fn run(datanodes: &[DataNode], interval: Duration) -> Result<()> {
    let looks = look(datanodes.to_vec(), interval);
    let mut terminal = ratatui::try_init().context("no terminal; give --once for a text")?;
    let shown = show(&mut terminal, &looks);
    ratatui::restore();
    shown
}

/// Looks again and again, until nobody listens.
fn look(datanodes: Vec<DataNode>, interval: Duration) -> Receiver<Usage> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut before = Vec::new();
        loop {
            let after = Answer::of_all(&datanodes);
            if sender.send(Usage::between(&before, &after)).is_err() {
                return;
            }
            before = after;
            std::thread::sleep(interval);
        }
    });
    receiver
}

fn show(terminal: &mut DefaultTerminal, looks: &Receiver<Usage>) -> Result<()> {
    let mut screen = Screen::default();
    loop {
        terminal.draw(|frame| screen.draw(frame))?;
        match looks.recv_timeout(Duration::ZERO) {
            Ok(usage) => screen.show(usage),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        if event::poll(KEY_WAIT)? {
            let is_last = match event::read()? {
                Event::Key(key) if key.kind == KeyEventKind::Press => !press(&mut screen, key),
                _ => false,
            };
            if is_last {
                return Ok(());
            }
        }
    }
}

/// Returns whether to go on.
fn press(screen: &mut Screen, key: KeyEvent) -> bool {
    match key.code {
        KeyCode::Char('q') | KeyCode::Esc => return false,
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return false,
        KeyCode::Up | KeyCode::Char('k') => screen.choose(-1),
        KeyCode::Down | KeyCode::Char('j') => screen.choose(1),
        KeyCode::Char('s') => screen.sort_by_next(),
        _ => {}
    }
    true
}

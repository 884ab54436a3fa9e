//! What a Spark application recorded: its stages, tasks, and what each task read of which block.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use super::JoinError;
use super::lines::{self, Line};

#[derive(Debug, Default, Deserialize)]
pub(super) struct Header {
    meld_spark_timeline: u32,
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Other {
    Stage(Stage),
    Task(Task),
    Read(Read),
    Dropped(Dropped),
}

#[derive(Debug, Deserialize)]
pub(super) struct Stage {
    pub(super) id: i64,
    #[serde(default)]
    pub(super) name: String,
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Task {
    pub(super) id: i64,
    pub(super) stage: i64,
    pub(super) index: i64,
    pub(super) executor: String,
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
}

/// What a stream read of one block; the task is -1 where no task did.
#[derive(Debug, Deserialize)]
pub(super) struct Read {
    pub(super) task: i64,
    pub(super) path: String,
    pub(super) pool: String,
    pub(super) block: i64,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    pub(super) waited_ns: u64,
}

#[derive(Debug, Deserialize)]
struct Dropped {
    reads: u64,
}

/// The file of one application.
#[derive(Debug, Default)]
pub(super) struct Application {
    pub(super) header: Header,
    pub(super) dropped: u64,
    pub(super) stages: Vec<Stage>,
    pub(super) tasks: Vec<Task>,
    reads: Vec<Read>,
    reads_by_task: HashMap<i64, Vec<usize>>,
}

impl Application {
    pub(super) fn read(path: &Path) -> Result<Application, JoinError> {
        let mut application = Application::default();
        lines::each(path, |line| application.add(line))?;
        lines::check_found(path, application.header.meld_spark_timeline)?;
        application
            .stages
            .sort_by_key(|stage| (stage.begin_ns, stage.id));
        application
            .tasks
            .sort_by_key(|task| (task.begin_ns, task.id));
        application.reads.sort_by_key(|read| read.begin_ns);
        application.reads_by_task = lines::places(application.reads.iter().map(|read| read.task));
        Ok(application)
    }

    fn add(&mut self, line: Line<Header, Other>) -> Result<(), String> {
        match line {
            Line::Header(header) => {
                lines::check(header.meld_spark_timeline)?;
                self.header = header;
            }
            Line::Other(Other::Stage(stage)) => self.stages.push(stage),
            Line::Other(Other::Task(task)) => self.tasks.push(task),
            Line::Other(Other::Read(read)) => self.reads.push(read),
            Line::Other(Other::Dropped(dropped)) => self.dropped += dropped.reads,
        }
        Ok(())
    }

    /// When the first of its tasks began.
    pub(super) fn begin_ns(&self) -> Option<u64> {
        self.tasks.first().map(|task| task.begin_ns)
    }

    /// The reads of a task; -1 for those of none.
    pub(super) fn reads_of(&self, task: i64) -> impl Iterator<Item = &Read> {
        let found = self.reads_by_task.get(&task);
        found.into_iter().flatten().map(|&at| &self.reads[at])
    }
}

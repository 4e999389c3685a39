//! The file of a trace: Chrome's trace event format, an object with a list of events of one line each.
//!
//! Events are written as they come, so that a process that dies leaves a list that only lacks its end, which viewers forgive.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::gpu::trace::{Span, Track};

/// The viewer's processes.
const HOST: u32 = 1;
const GPU: u32 = 2;
const COMPILER: u32 = 3;
/// Tracks of a stream at most; what runs beside more is shown on the last.
const LANES: u64 = 64;

pub(super) struct TraceFile {
    path: PathBuf,
    out: BufWriter<File>,
    threads: HashMap<ThreadId, u64>,
    /// Streams and lanes that have a name.
    lanes: HashSet<u64>,
    /// When the driver's compilations of each track end.
    compilers: Vec<Duration>,
    first: bool,
}

impl TraceFile {
    pub fn create(path: &Path) -> Result<TraceFile> {
        let out = File::create(path).map_err(|error| failed(path, &error))?;
        let mut file = TraceFile {
            path: path.to_path_buf(),
            out: BufWriter::new(out),
            threads: HashMap::new(),
            lanes: HashSet::new(),
            compilers: Vec::new(),
            first: true,
        };
        file.put("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        for (process, name) in [(HOST, "host"), (GPU, "GPU"), (COMPILER, "driver's compiler")] {
            file.name("process_name", process, 0, name)?;
        }
        Ok(file)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Something that the calling thread did.
    pub fn host_span(
        &mut self,
        name: &str,
        start: Duration,
        length: Duration,
        count: Option<(&'static str, u64)>,
    ) -> Result<()> {
        let track = self.thread()?;
        let arguments = count.map_or(String::new(), |(what, count)| format!("\"{what}\":{count}"));
        self.span(name, HOST, track, start, length, &arguments)
    }

    /// What the GPU and its driver did.
    pub fn gpu_spans(&mut self, spans: &[Span]) -> Result<()> {
        for span in spans {
            let groups = span.groups.map_or(String::new(), |[x, y, z]| format!("\"workgroups\":[{x},{y},{z}]"));
            let (process, track) = match span.track {
                Track::Stream { number, lane } => (GPU, self.lane(number, lane)?),
                Track::Compiler => (COMPILER, self.compiler(span.start, span.start + span.length)),
            };
            self.span(&span.name, process, track, span.start, span.length, &groups)?;
        }
        Ok(())
    }

    /// Ends the list.
    pub fn end(&mut self) -> Result<()> {
        self.put("\n]}\n")?;
        self.out.flush().map_err(|error| failed(&self.path, &error))
    }

    fn thread(&mut self) -> Result<u64> {
        let current = thread::current();
        if let Some(&track) = self.threads.get(&current.id()) {
            return Ok(track);
        }
        let track = self.threads.len() as u64 + 1;
        self.threads.insert(current.id(), track);
        let name = current.name().map_or_else(|| format!("thread {track}"), String::from);
        self.name("thread_name", HOST, track, &name)?;
        Ok(track)
    }

    fn lane(&mut self, stream: u64, lane: u32) -> Result<u64> {
        let track = stream * LANES + u64::from(lane).min(LANES - 1);
        if self.lanes.insert(track) {
            let beside = if lane == 0 { String::new() } else { format!(", side by side {lane}") };
            self.name("thread_name", GPU, track, &format!("stream {stream}{beside}"))?;
        }
        Ok(track)
    }

    /// A track on which nothing is compiled in that time. They are told of in the order in which they end.
    fn compiler(&mut self, start: Duration, end: Duration) -> u64 {
        let free = self.compilers.iter().position(|&before| before <= start);
        let track = free.unwrap_or(self.compilers.len());
        if free.is_none() {
            self.compilers.push(end);
        }
        self.compilers[track] = end;
        track as u64
    }

    fn span(
        &mut self,
        name: &str,
        process: u32,
        track: u64,
        start: Duration,
        length: Duration,
        arguments: &str,
    ) -> Result<()> {
        let (start, length) = (micros(start), micros(length));
        self.event(&format!(
            "{{\"ph\":\"X\",\"pid\":{process},\"tid\":{track},\"ts\":{start},\"dur\":{length},\"name\":{},\"args\":{{{arguments}}}}}",
            quoted(name)
        ))
    }

    fn name(&mut self, what: &str, process: u32, track: u64, name: &str) -> Result<()> {
        let name = quoted(name);
        self.event(&format!(
            "{{\"ph\":\"M\",\"pid\":{process},\"tid\":{track},\"name\":\"{what}\",\"args\":{{\"name\":{name}}}}}"
        ))
    }

    fn event(&mut self, event: &str) -> Result<()> {
        let separator = if std::mem::take(&mut self.first) { "\n" } else { ",\n" };
        self.put(separator)?;
        self.put(event)
    }

    fn put(&mut self, text: &str) -> Result<()> {
        self.out.write_all(text.as_bytes()).map_err(|error| failed(&self.path, &error))
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::Io(format!("[trace] the file {} must be writable but: {error}.", path.display()))
}

/// Microseconds with three decimals.
fn micros(time: Duration) -> String {
    let nanoseconds = time.as_nanos();
    format!("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)
}

/// A text as JSON has it.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_as_json_has_them() {
        assert_eq!(quoted("a\"b\\c\nd"), "\"a\\\"b\\\\c\\u000ad\"");
    }

    #[test]
    fn times_are_microseconds() {
        assert_eq!(micros(Duration::from_nanos(1_234_056)), "1234.056");
    }

    #[test]
    fn compilations_at_the_same_time_have_tracks_of_their_own() {
        let path = std::env::temp_dir().join(format!("pumice-trace-{}.json", std::process::id()));
        let mut file = TraceFile::create(&path).expect("a file");
        let at = Duration::from_millis;
        assert_eq!(
            [(0, 5), (2, 6), (5, 9), (6, 10)].map(|(start, end)| file.compiler(at(start), at(end))),
            [0, 1, 0, 1]
        );
        std::fs::remove_file(path).expect("it was made");
    }

    #[test]
    fn a_file_that_cannot_be_made_is_named() {
        let error = TraceFile::create(Path::new("/no/such/folder/t.json")).err().expect("there is no such folder");
        assert!(error.to_string().starts_with("[trace] the file /no/such/folder/t.json must be writable but: "));
    }
}

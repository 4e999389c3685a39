//! Traces and the other looks inside: what they tell is what was done. One process, one trace at a time.

mod rig;

use std::path::PathBuf;
use std::process::Command;

use pumice::ops::binary::{add, multiply};
use pumice::ops::full::full;
use pumice::ops::matmul::matmul;
use pumice::ops::reduce::sum;
use pumice::{Array, Device, Result, default_stream, trace, with_stream};

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("pumice-{name}-{}.json", std::process::id()))
}

/// Some work of every kind.
fn work(device: Device) -> Result<f32> {
    with_stream(default_stream(device)?, || {
        let x = full(&[64, 64], Array::scalar(0.5f32), None)?;
        x.eval()?;
        let y = add(matmul(&x, &x)?, multiply(&x, 2.0)?)?;
        sum(&y, None, false)?.item()
    })
}

/// An event of a trace: a line of the file.
struct Event {
    process: u32,
    track: u64,
    name: String,
    /// From when to when, in microseconds.
    time: Option<[f64; 2]>,
}

/// The value after a key, up to where it ends.
fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let value = &line[line.find(&format!("\"{key}\":"))? + key.len() + 3..];
    match value.strip_prefix('"') {
        Some(text) => text.split('"').next(),
        None => value.split([',', '}']).next(),
    }
}

fn number<T: std::str::FromStr>(line: &str, key: &str) -> Option<T> {
    field(line, key)?.parse().ok()
}

fn events(text: &str) -> Vec<Event> {
    let lines = text.lines().filter(|line| line.starts_with("{\"ph\""));
    let event = |line: &str| Event {
        process: number(line, "pid").expect("a process"),
        track: number(line, "tid").expect("a track"),
        name: field(line, "name").expect("a name").to_string(),
        time: number(line, "ts")
            .zip(number::<f64>(line, "dur"))
            .map(|(start, length): (f64, f64)| [start, start + length]),
    };
    lines.map(event).collect()
}

#[test]
fn a_trace_tells_what_the_host_and_the_gpu_did_and_when() {
    for device in rig::devices() {
        let path = path("trace");
        trace::start(&path).expect("a trace");
        let refused = trace::start(&path).expect_err("one is open").to_string();
        assert!(refused.starts_with("[trace] one trace at a time must be open but "), "{refused}");
        let traced = work(device).expect("it computes");
        trace::stop().expect("the file is written");
        trace::stop().expect("there is nothing to end");
        assert_eq!(traced, work(device).expect("it computes"), "tracing changes nothing");
        let text = std::fs::read_to_string(&path).expect("the file is there");
        std::fs::remove_file(&path).expect("it was made");
        assert!(text.starts_with("{\"displayTimeUnit\"") && text.ends_with("]}\n"));
        let events = events(&text);
        let named = |process: u32, name: &str| events.iter().filter(|e| e.process == process && e.name == name).count();
        // The first has nothing to do.
        assert_eq!([named(1, "eval"), named(1, "plan"), named(1, "run")], [2, 1, 1]);
        match device == Device::CPU {
            true => assert!(named(1, "matmul") == 1, "steps of the CPU have their ops' names"),
            false => gpu_events_are_in_order(&events),
        }
        for event in events.iter().filter_map(|event| event.time) {
            assert!(event[0] >= 0.0 && event[1] >= event[0]);
        }
    }
}

fn gpu_events_are_in_order(events: &[Event]) {
    let launches: Vec<&Event> = events.iter().filter(|e| e.process == 2 && e.time.is_some()).collect();
    assert!(launches.iter().any(|event| event.name.starts_with("matmul")), "launches have their kernels' names");
    let last = events.iter().filter_map(|e| e.time.filter(|_| e.name == "eval")).map(|t| t[1]).fold(0.0, f64::max);
    for pair in launches.windows(2) {
        let [earlier, later] = [pair[0], pair[1]].map(|event| event.time.expect("it has one"));
        assert!(pair[0].track != pair[1].track || later[0] >= earlier[1] - 0.01, "what needs another follows it");
    }
    // The clocks agree to far less than this, also where they are a software driver's.
    assert!(launches.iter().all(|event| event.time.expect("it has one")[1] < last + 50_000.0));
}

/// What a process that runs `this` test alone prints on the standard error, with something in its environment.
fn another_process(name: &str, value: &str) -> String {
    let test = std::env::current_exe().expect("this program");
    let mut command = Command::new(test);
    command.args(["--exact", "work_for_another_process", "--include-ignored", "--nocapture"]).env(name, value);
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
#[ignore = "run by the other tests, with an environment of its own"]
fn work_for_another_process() {
    for device in rig::devices() {
        work(device).expect("it computes");
    }
}

#[test]
fn the_environment_asks_for_a_trace_of_the_whole_process() {
    let path = path("environment");
    another_process("PUMICE_TRACE", path.to_str().expect("a path of letters"));
    let text = std::fs::read_to_string(&path).expect("the file is there");
    std::fs::remove_file(&path).expect("it was made");
    assert!(text.ends_with("]}\n") && events(&text).iter().any(|event| event.name == "eval"));
}

#[test]
fn the_environment_asks_for_statistics_at_the_end() {
    let said = another_process("PUMICE_STATS", "1");
    assert!(said.contains(&format!("evaluations {}, ", rig::devices().len())), "{said}");
    assert!(said.contains("CPU: block programs ") && said.contains("  matmul"), "{said}");
    assert_eq!(said.contains("GPU: launches "), rig::devices().contains(&Device::GPU), "{said}");
}

#[test]
fn every_level_of_debugging_tells_more() {
    let said = ["0", "1", "2", "3", "4", "5"].map(|level| another_process("PUMICE_DEBUG", level));
    let has = |text: &str| said.each_ref().map(|said| said.contains(text)).iter().position(|&found| found);
    assert_eq!([has(" us  "), has("graph of "), has("kernel ")], [Some(1), Some(2), Some(3)]);
    if rig::devices().contains(&Device::GPU) {
        assert_eq!([has("after cse"), has("OpEntryPoint")], [Some(4), Some(5)]);
    }
    assert!(
        another_process("PUMICE_DEBUG", "much").contains("the level must be a number from 0 to 5 but is \"much\".")
    );
}

//! Whatever public functions are given, they answer: with arrays, or with an error that says `[op] what must hold.` They never
//! panic, overflow, abort or hang, they raise the user's errors when the graph is built, and shapes that no memory could hold fail
//! when they are evaluated, by [`Error::Memory`].
//!
//! `PUMICE_SEEDS=7..8 cargo test -p pumice --test arguments` tries one seed with every function; `PUMICE_SLOW=1` many.

mod calls;
mod draw;
mod huge;
#[path = "../rig/mod.rs"]
mod rig;
mod transforms;

use std::io::Write;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use calls::{FOLDS, PLACES, RANDOM, Row, VALUES, VIEWS};
use draw::Draw;
use pumice::ops::catalogue::catalogue;
use pumice::{Array, Device, Error, Result, default_stream, eval, with_stream};
use transforms::TRANSFORMS;

/// Times every function is called in the quick and in the slow suite.
const QUICK: u64 = 40;
const SLOW: u64 = 4_000;

/// Elements that are computed without a thought.
const SMALL: usize = 4096;

/// How long one call may take: beyond that it hangs.
const PATIENCE: Duration = Duration::from_secs(120);

fn seeds() -> Range<u64> {
    let all = 0..if rig::slow() { SLOW } else { QUICK };
    let Ok(text) = std::env::var("PUMICE_SEEDS") else { return all };
    let (first, end) = text.split_once("..").expect("PUMICE_SEEDS must be two numbers with .. between");
    first.parse().expect("a number")..end.parse().expect("a number")
}

/// Why a call's answer is none, if it is not.
type Complaint = Option<String>;

/// Makes calls, names those with a complaint, and ends the process with the name of one that hangs.
fn complaints(calls: impl Iterator<Item = (String, Box<dyn FnOnce() -> Complaint>)> + Send) -> Vec<String> {
    let current = Mutex::new((String::new(), Instant::now()));
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let mut found = Vec::new();
            for (name, call) in calls {
                *current.lock().expect("nobody panics with it") = (name.clone(), Instant::now());
                found.extend(caught(call).map(|why| format!("{name}: {why}")));
            }
            found
        });
        while !worker.is_finished() {
            std::thread::sleep(Duration::from_millis(20));
            let (name, since) = &*current.lock().expect("nobody panics with it");
            if !name.is_empty() && since.elapsed() > PATIENCE {
                // Straight to the terminal: a test's prints are shown when it ends, which this one does not.
                let _ = writeln!(std::io::stderr(), "{name} hangs");
                std::process::exit(101);
            }
        }
        worker.join().expect("calls' panics are caught")
    })
}

fn caught(call: Box<dyn FnOnce() -> Complaint>) -> Complaint {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Some(format!("panic: {}", text.unwrap_or("without a text")))
    })
}

/// What is wrong with an answer. What is small is computed on the CPU too: then nothing may be refused any more.
fn complaint(device: Device, draw: &Draw, answer: Result<Vec<Array>>) -> Complaint {
    match answer {
        Err(error) => ill_formed(&error),
        Ok(arrays) if arrays.iter().any(|a| a.shape().iter().any(|&n| n < 0)) => {
            Some(format!("not shapes: {arrays:?}"))
        }
        Ok(arrays)
            if draw.huge().load(Ordering::Relaxed)
                || device != Device::CPU
                || arrays.iter().any(|a| a.size() > SMALL) =>
        {
            None
        }
        Ok(arrays) => eval(&arrays).err().map(|error| format!("refused only when it was evaluated: {error}")),
    }
}

/// What is wrong with an error: it must be the user's, and say whose it is.
fn ill_formed(error: &Error) -> Complaint {
    let text = error.to_string();
    let name = text.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map(|(name, _)| name);
    let named =
        name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    let whole = named && text.ends_with('.');
    let of_the_user = matches!(error, Error::Value(_) | Error::Type(_) | Error::Index(_) | Error::Runtime(_));
    (!whole || !of_the_user).then(|| format!("not an error for users: {error:?}"))
}

fn assert_answered(rows: &'static [Row], devices: &[Device]) {
    let devices = devices.to_vec();
    let calls = seeds().flat_map(move |seed| {
        let devices = devices.clone();
        rows.iter().enumerate().flat_map(move |(i, &(name, call))| {
            let devices = devices.clone();
            devices.into_iter().map(move |device| {
                let own_seed = seed.wrapping_mul(1009).wrapping_add(i as u64 + 1);
                let run = move || {
                    let stream = default_stream(device).expect("the device is there");
                    let mut draw = Draw::new(own_seed);
                    with_stream(stream, || {
                        let answer = call(&mut draw);
                        complaint(device, &draw, answer)
                    })
                };
                (format!("{name}, seed {seed}, {device}"), Box::new(run) as Box<dyn FnOnce() -> Complaint>)
            })
        })
    });
    let found = complaints(calls);
    assert!(found.is_empty(), "{} calls:\n{}", found.len(), found[..found.len().min(40)].join("\n"));
}

#[test]
fn views_answer_whatever_they_are_given() {
    assert_answered(VIEWS, &rig::devices());
}

#[test]
fn values_answer_whatever_they_are_given() {
    assert_answered(VALUES, &rig::devices());
}

#[test]
fn reductions_and_products_answer_whatever_they_are_given() {
    assert_answered(FOLDS, &rig::devices());
}

#[test]
fn places_answer_whatever_they_are_given() {
    assert_answered(PLACES, &rig::devices());
}

#[test]
fn random_numbers_answer_whatever_they_are_given() {
    assert_answered(RANDOM, &rig::devices());
}

#[test]
fn transforms_answer_whatever_they_are_given() {
    assert_answered(TRANSFORMS, &[Device::CPU]);
}

/// Every call of the catalogue with inputs of other shapes and types than it expects.
#[test]
fn every_op_of_the_catalogue_answers_whatever_it_is_given() {
    let calls = seeds().flat_map(|seed| {
        catalogue().into_iter().flat_map(move |entry| {
            let cases = entry.cases.len();
            entry.cases.into_iter().enumerate().skip(seed as usize % cases).take(1).map(move |(i, case)| {
                let run = move || {
                    let mut draw = Draw::new(seed.wrapping_mul(1013).wrapping_add(i as u64));
                    let stream = default_stream(Device::CPU).expect("the CPU is there");
                    with_stream(stream, || {
                        let inputs: Vec<Array> = case.inputs.iter().map(|_| draw.array()).collect();
                        complaint(Device::CPU, &draw, (case.call)(&inputs))
                    })
                };
                (format!("{}, seed {seed}", entry.name), Box::new(run) as Box<dyn FnOnce() -> Complaint>)
            })
        })
    });
    let found = complaints(calls);
    assert!(found.is_empty(), "{} calls:\n{}", found.len(), found[..found.len().min(40)].join("\n"));
}

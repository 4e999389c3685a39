//! Evaluation as a whole: random graphs give the same bits however they are grouped, on whichever device and streams.

mod rig;

use pumice::eval::{Tier, set_interrupt, set_tier};
use pumice::ops::arg_reduce::{argmax, argmin};
use pumice::ops::astype::astype;
use pumice::ops::binary::{add, multiply, subtract};
use pumice::ops::broadcast_to::broadcast_to;
use pumice::ops::create::arange;
use pumice::ops::matmul::matmul;
use pumice::ops::reduce::{any, max, mean, sum};
use pumice::ops::slices::slice;
use pumice::ops::softmax::{logsumexp, softmax};
use pumice::ops::unary::{negative, rsqrt, sin, square, tanh};
use pumice::ops::views::{reshape, transpose};
use pumice::{Array, Device, Dtype, Error, Result, Stream, compile, default_stream, eval, new_stream, with_stream};
use rig::{devices, slow};
use std::cell::Cell;
use std::sync::Mutex;

/// The tier is the process's: tests that set it take turns.
static TIER: Mutex<()> = Mutex::new(());

/// A small generator of its own, so that a seed names a graph for ever.
struct Source(u64);

impl Source {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }
}

const DTYPES: [Dtype; 6] = [Dtype::F32, Dtype::BF16, Dtype::F16, Dtype::I32, Dtype::U8, Dtype::I64];

/// Which calls a random graph is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Calls {
    Maps,
    /// Reductions too, each broadcast back; their bits are a device's own.
    Reductions,
}

/// Builds a random graph; every call goes to one of the streams. Gives the arrays that are looked at.
fn random_graph(seed: u64, streams: &[Stream], calls: Calls) -> Vec<Array> {
    grown(seed, &leaves(seed, 0, streams[0]), streams, calls)
}

/// What a seed's graph grows from, with other values in every round.
fn leaves(seed: u64, round: u64, stream: Stream) -> Vec<Array> {
    let mut source = Source((seed ^ round << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let leaf = |i| {
        let values: Vec<f32> = (0..35).map(|_| source.next(200) as f32 / 16.0 - 4.0).collect();
        let x = Array::from_slice(&values, &[7, 5]).expect("35 values");
        with_stream(stream, || astype(&x, DTYPES[(seed as usize + i) % DTYPES.len()])).expect("a type")
    };
    (0..3).map(leaf).collect()
}

fn grown(seed: u64, leaves: &[Array], streams: &[Stream], calls: Calls) -> Vec<Array> {
    let mut source = Source(seed.wrapping_mul(0xd129_0d3b_3f11_2a9b) | 1);
    let mut arrays = leaves.to_vec();
    for _ in 0..4 + source.next(30) {
        let (a, b) = (arrays[source.next(arrays.len())].clone(), arrays[source.next(arrays.len())].clone());
        let stream = streams[source.next(streams.len())];
        let kinds = if calls == Calls::Maps { 7 } else { 11 };
        let made = with_stream(stream, || match source.next(kinds) {
            0 => add(&a, &b),
            1 => subtract(&a, &b),
            2 => multiply(&a, &b),
            3 => negative(&a),
            4 => astype(&a, DTYPES[source.next(DTYPES.len())]),
            5 => transpose(&reshape(&a, &[5, 7])?, None),
            6 => add(&a, 3),
            _ => reduced(&a, &mut source),
        });
        arrays.push(made.expect("the call is well formed"));
    }
    // What is dropped here is intermediate, what stays is held.
    arrays.into_iter().filter(|_| source.next(4) == 0).collect()
}

/// A reduction along an axis, on its own or with a map after it, beside the array it was made of.
fn reduced(x: &Array, source: &mut Source) -> Result<Array> {
    let axis = source.next(2) as i32;
    let reduced = match source.next(7) {
        0 => max(x, Some(&[axis]), true),
        1 => astype(&argmin(x, Some(axis), true)?, x.dtype()),
        2 => astype(&any(x, Some(&[axis]), true)?, x.dtype()),
        3 => mean(x, Some(&[axis]), true),
        4 => softmax(x, Some(&[axis]), false),
        5 => logsumexp(x, Some(&[axis]), true),
        _ => sum(x, Some(&[axis]), true),
    }?;
    match source.next(2) {
        0 => broadcast_to(&reduced, &[7, 5]),
        _ => subtract(x, &reduced),
    }
}

fn bytes(arrays: &[Array]) -> Vec<Vec<u8>> {
    eval(arrays).expect("it evaluates");
    arrays.iter().map(|a| a.to_bytes().expect("it has values")).collect()
}

fn graphs() -> u64 {
    if slow() { 1000 } else { 60 }
}

#[test]
fn fused_and_unfused_graphs_give_the_same_bits_on_every_device() {
    let _turn = TIER.lock();
    for seed in 0..graphs() {
        let mut first: Option<Vec<Vec<u8>>> = None;
        for device in devices() {
            let stream = default_stream(device).expect("the device is there");
            for tier in [Tier::Never, Tier::Now] {
                set_tier(tier);
                let found = bytes(&random_graph(seed, &[stream], Calls::Maps));
                let expected = first.get_or_insert_with(|| found.clone());
                assert_eq!(expected, &found, "seed {seed} on {device}, {tier:?}");
            }
        }
    }
    set_tier(Tier::WhenReady);
}

#[test]
fn reductions_fused_with_maps_give_the_bits_of_their_parts() {
    let _turn = TIER.lock();
    for device in devices() {
        let stream = default_stream(device).expect("the device is there");
        // Every graph has kernels of its own, and drivers take their time.
        for seed in 0..graphs() / 2 {
            let [parts, fused] = [Tier::Never, Tier::Now].map(|tier| {
                set_tier(tier);
                bytes(&random_graph(seed, &[stream], Calls::Reductions))
            });
            assert_eq!(parts, fused, "seed {seed} on {device}");
        }
    }
    set_tier(Tier::WhenReady);
}

#[test]
fn rows_computed_in_bands_have_the_bits_of_their_parts() {
    let _turn = TIER.lock();
    let cpu = default_stream(Device::CPU).expect("the CPU is there");
    // More than a band of them, and than a task of bands; rows that are no multiple of anything.
    for (shape, dtype) in [(&[70_001, 5], Dtype::F32), (&[3000, 129], Dtype::F32), (&[4001, 64], Dtype::BF16)] {
        let graph = || -> Result<Vec<Array>> {
            let n = shape[0] * shape[1];
            let x = reshape(&astype(&sin(&arange(0.0, n as f64, 1.0, None)?)?, dtype)?, shape)?;
            let weight = reshape(&slice(&reshape(&x, &[n])?, &[0], &[shape[1]], &[1])?, &[1, shape[1]])?;
            let apart = subtract(&x, mean(&x, Some(&[1]), true)?)?;
            let scale = rsqrt(&add(mean(&square(&apart)?, Some(&[1]), true)?, 1e-5)?)?;
            let norm = multiply(multiply(&apart, &scale)?, &weight)?;
            let soft = softmax(&multiply(&norm, 0.5)?, Some(&[1]), false)?;
            let best = argmax(&add(&soft, &x)?, Some(1), true)?;
            let total = add(&best, sum(&soft, Some(&[0]), true)?)?;
            // What somebody holds lies whole in memory.
            Ok(vec![norm, scale, total])
        };
        let [parts, bands] = [Tier::Never, Tier::Now].map(|tier| {
            set_tier(tier);
            bytes(&with_stream(cpu, graph).expect("a graph"))
        });
        assert!(parts == bands, "{shape:?} of {dtype}");
    }
    set_tier(Tier::WhenReady);
}

#[test]
fn graphs_over_several_streams_and_devices_give_the_single_streams_bits() {
    let _turn = TIER.lock();
    set_tier(Tier::WhenReady);
    let mut streams = Vec::new();
    for device in devices() {
        streams.extend([default_stream(device), new_stream(device)].map(|s| s.expect("the device is there")));
    }
    for seed in 0..graphs() {
        let expected = bytes(&random_graph(seed, &streams[..1], Calls::Maps));
        assert_eq!(expected, bytes(&random_graph(seed, &streams, Calls::Maps)), "seed {seed}");
    }
}

#[test]
fn compiled_graphs_give_the_same_bits_every_time_they_are_called() {
    let _turn = TIER.lock();
    for device in devices() {
        let stream = default_stream(device).expect("the device is there");
        for seed in 0..graphs() / 2 {
            set_tier(if seed % 8 == 0 { Tier::Now } else { Tier::Never });
            let compiled = compile(move |x: &[Array]| Ok(grown(seed, x, &[stream], Calls::Maps)));
            // Results of earlier rounds are held, and must stay as they are.
            let mut kept = Vec::new();
            for round in 0..5 {
                let expected = bytes(&grown(seed, &leaves(seed, round, stream), &[stream], Calls::Maps));
                // Evaluated before the call, in the call's graph, and given up by it.
                let x = leaves(seed, round, stream);
                if round % 3 != 0 {
                    eval(&x).expect("they evaluate");
                }
                let found = with_stream(stream, || compiled(&x)).expect("it is called");
                drop(x);
                eval(&found).expect("it evaluates");
                kept.push((expected, found));
            }
            for (round, (expected, found)) in kept.iter().enumerate() {
                assert_eq!(expected, &bytes(found), "seed {seed} on {device}, round {round}");
            }
        }
    }
    set_tier(Tier::WhenReady);
}

#[test]
fn a_compiled_function_is_recorded_once_and_replayed() {
    let Some(gpu) = devices().into_iter().find(|&device| device == Device::GPU) else { return };
    let _turn = TIER.lock();
    set_tier(Tier::Never);
    let stream = default_stream(gpu).expect("the device is there");
    let compiled = compile(|x: &[Array]| {
        let mut y = x[0].clone();
        for _ in 0..20 {
            y = add(&y, &x[1])?;
        }
        Ok(vec![y])
    });
    let replays = || pumice::eval::stats().gpu.map_or(0, |gpu| gpu.replays);
    let before = replays();
    with_stream(stream, || {
        for round in 0..6 {
            let x = [round as f32, 2.0].map(|value| Array::from_slice(&[value; 8], &[8]).expect("eight values"));
            let y = compiled(&x).expect("it is called").swap_remove(0);
            assert_eq!(y.to_vec::<f32>().expect("floats"), [round as f32 + 40.0; 8]);
        }
    });
    set_tier(Tier::WhenReady);
    assert_eq!(replays() - before, 5, "all but the first evaluation are replays");
}

#[test]
fn a_graph_of_a_hundred_thousand_nodes_builds_evaluates_and_drops() {
    for device in devices() {
        let stream = default_stream(device).expect("the device is there");
        with_stream(stream, || {
            let mut x = Array::from_slice(&[0i32; 3], &[3]).expect("three values");
            for _ in 0..100_000 {
                x = add(&x, 1).expect("they add");
            }
            assert_eq!(x.to_vec::<i32>().expect("ints"), [100_000; 3], "{device}");
        });
    }
}

#[test]
fn what_nobody_holds_is_overwritten_and_what_is_held_is_not() {
    for device in devices() {
        let stream = default_stream(device).expect("the device is there");
        with_stream(stream, || {
            let held = Array::from_slice(&[1f32, 2.0], &[2]).expect("two values");
            let sum = add(&held, &held).expect("they add");
            let kept = add(&sum, 1.0).expect("they add");
            let last = multiply(&kept, &sum).expect("they multiply");
            drop(sum);
            eval(std::slice::from_ref(&last)).expect("it evaluates");
            assert_eq!(held.to_vec::<f32>().expect("floats"), [1.0, 2.0], "{device}");
            assert_eq!(kept.to_vec::<f32>().expect("floats"), [3.0, 5.0], "{device}");
            assert_eq!(last.to_vec::<f32>().expect("floats"), [6.0, 20.0], "{device}");
        });
    }
}

#[test]
fn eight_threads_evaluate_beside_each_other() {
    let seconds = if slow() { 60 } else { 2 };
    let end = std::time::Instant::now() + std::time::Duration::from_secs(seconds);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                for device in devices().into_iter().cycle() {
                    let stream = default_stream(device).expect("the device is there");
                    let x = Array::from_slice(&[thread as f32; 100], &[100]).expect("a hundred values");
                    let y = with_stream(stream, || (0..20).try_fold(x, |x, i| add(&x, i as f32)).expect("they add"));
                    assert_eq!(y.to_vec::<f32>().expect("floats"), [thread as f32 + 190.0; 100], "{device}");
                    if std::time::Instant::now() > end {
                        break;
                    }
                }
            });
        }
    });
}

#[test]
fn a_second_evaluation_of_an_equal_graph_finds_its_plan() {
    let stream = default_stream(Device::CPU).expect("the CPU is there");
    let evaluate = |value: f32| {
        with_stream(stream, || {
            let x = Array::from_slice(&[value; 4], &[4]).expect("four values");
            let y = multiply(add(&x, 1.0).expect("they add"), &x).expect("they multiply");
            y.to_vec::<f32>().expect("floats")
        })
    };
    assert_eq!(evaluate(1.0), [2.0; 4]);
    let before = pumice::eval::stats().plan_hits;
    assert_eq!(evaluate(2.0), [6.0; 4]);
    assert!(pumice::eval::stats().plan_hits > before, "the second evaluation must find the plan of the first");
}

thread_local! {
    /// Whether this thread's next question, whether to go on, is answered with no.
    static ENOUGH: Cell<bool> = const { Cell::new(false) };
}

#[test]
fn an_evaluation_that_was_given_up_can_be_made_again() {
    set_interrupt(|| match ENOUGH.replace(false) {
        true => Err(Error::Runtime("[test] enough.".into())),
        false => Ok(()),
    });
    let x = Array::from_slice(&vec![0.25f32; 1 << 14], &[128, 128]).expect("as many");
    let graph = |calls: u32| (0..calls).try_fold(x.clone(), |x, _| tanh(&matmul(&x, &x)?)).expect("squares fit");
    for device in devices() {
        with_stream(default_stream(device).expect("the device is there"), || {
            ENOUGH.set(true);
            let mut calls = 64;
            // Nobody is asked before 50 ms are over.
            let (given_up, error) = loop {
                let y = graph(calls);
                match y.eval() {
                    Ok(()) => calls *= 2,
                    Err(error) => break (y, error),
                }
            };
            assert_eq!(error.to_string(), "[test] enough.");
            let [found, expected] = [given_up, graph(calls)].map(|y| y.to_bytes().expect("it evaluates"));
            assert!(found == expected, "{device}: it is another after it was given up");
        });
    }
}

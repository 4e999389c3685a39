//! Maps computed in the kernels of the ops beside them: fewer launches, the same bits. And independent work under one barrier.

mod rig;

use pumice::eval::{Tier, set_tier, stats};
use pumice::ops::arg_reduce::argmax;
use pumice::ops::astype::astype;
use pumice::ops::binary::{add, divide, greater, maximum, multiply, subtract};
use pumice::ops::broadcast_to::broadcast_to;
use pumice::ops::create::arange;
use pumice::ops::reduce::{any, max, mean, min, prod, sum};
use pumice::ops::softmax::{logsumexp, softmax};
use pumice::ops::unary::{abs, exp, negative, rsqrt, sqrt, square};
use pumice::ops::views::{as_strided, reshape, transpose};
use pumice::{Array, Device, Dtype, Result, compile, default_stream, eval, with_stream};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The tier and the statistics are the process's: tests take turns.
static TURN: Mutex<()> = Mutex::new(());

/// Waits for the turn; none where there is no GPU.
fn turn() -> Option<MutexGuard<'static, ()>> {
    rig::gpu().map(|_| TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

fn on_gpu<R>(f: impl FnOnce() -> R) -> R {
    with_stream(default_stream(Device::GPU).expect("the GPU is there"), f)
}

/// Numbers around zero that have no short sums.
fn values(n: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    (0..n).map(next).collect()
}

fn array(shape: &[i32], dtype: Dtype, seed: u32) -> Array {
    let n = shape.iter().product::<i32>() as usize;
    let x = Array::from_slice(&values(n, seed), shape).expect("as many as the shape says");
    let scale = if dtype.is_inexact() { 1.0 } else { 50.0 };
    let x = on_gpu(|| astype(&multiply(&x, scale)?, dtype)).expect("a type");
    eval(std::slice::from_ref(&x)).expect("it evaluates");
    x
}

/// Launches of an evaluation under a tier, and what it gives.
fn evaluated(tier: Tier, make: &dyn Fn() -> Result<Vec<Array>>) -> (u64, u64, Vec<Vec<u8>>) {
    set_tier(tier);
    let made = on_gpu(make).expect("the calls are well formed");
    let before = stats();
    eval(&made).expect("it evaluates");
    let after = stats();
    set_tier(Tier::WhenReady);
    let counted = |stats: &pumice::eval::Stats| {
        let gpu = stats.gpu.as_ref().expect("there is a GPU");
        (gpu.total_launches(), gpu.barriers)
    };
    let ((launches, barriers), (was, had)) = (counted(&after), counted(&before));
    (launches - was, barriers - had, made.iter().map(|a| a.to_bytes().expect("it has values")).collect())
}

/// Evaluates a graph as its parts and fused: the bits must be the same, the launches these.
fn check(name: &str, launches: u64, make: impl Fn() -> Result<Vec<Array>>) {
    let (_, _, parts) = evaluated(Tier::Never, &make);
    let (found, _, fused) = evaluated(Tier::Now, &make);
    assert_eq!(parts, fused, "{name}: fusion must not change bits");
    assert_eq!(found, launches, "{name}: launches");
}

#[test]
fn maps_are_computed_as_reductions_load() {
    let Some(_turn) = turn() else { return };
    for dtype in [Dtype::F32, Dtype::F16, Dtype::BF16, Dtype::C64, Dtype::I8, Dtype::U16, Dtype::I64, Dtype::Bool] {
        let x = array(&[37, 130], dtype, 1);
        check("sum of squares", 1, || Ok(vec![sum(&multiply(&x, &x)?, Some(&[-1]), false)?]));
    }
    let x = array(&[37, 130], Dtype::F32, 2);
    check("greatest distance", 1, || Ok(vec![max(&abs(&x)?, None, false)?]));
    check("a column's product", 1, || Ok(vec![prod(&add(&x, 0.5)?, Some(&[0]), true)?]));
    check("least", 1, || Ok(vec![min(&negative(&astype(&x, Dtype::F16)?)?, Some(&[0]), false)?]));
    check("bytes of wide numbers", 1, || Ok(vec![any(&greater(&x, 0.99)?, Some(&[1]), false)?]));
    check("where", 1, || Ok(vec![argmax(&multiply(&x, -2.0)?, Some(0), false)?]));
    check("numbers", 1, || Ok(vec![sum(&add(&arange(0.0, 5000.0, 1.0, Some(Dtype::F32))?, 1.5)?, None, false)?]));
    check("logsumexp", 1, || Ok(vec![logsumexp(&multiply(&x, 3.0)?, Some(&[1]), false)?]));
}

#[test]
fn maps_are_computed_as_results_are_stored() {
    let Some(_turn) = turn() else { return };
    for dtype in [Dtype::F32, Dtype::F16, Dtype::I32] {
        let x = array(&[41, 70], dtype, 3);
        check("mean of rows", 1, || Ok(vec![mean(&x, Some(&[1]), false)?]));
        check("mean of columns", 1, || Ok(vec![mean(&x, Some(&[0]), true)?]));
        check("mean of all", 1, || Ok(vec![mean(&x, None, false)?]));
    }
    let (x, y) = (array(&[41, 70], Dtype::F32, 4), array(&[41, 1], Dtype::F32, 5));
    check("length", 1, || Ok(vec![sqrt(&sum(&square(&x)?, Some(&[1]), true)?)?]));
    check("with another array", 1, || Ok(vec![multiply(&y, add(sum(&x, Some(&[1]), true)?, 1.0)?)?]));
    check("where, as floats", 1, || Ok(vec![multiply(astype(&argmax(&x, Some(1), true)?, Dtype::F32)?, &y)?]));
    let column = transpose(&y, None).expect("two axes");
    check("with an array of strides", 1, || Ok(vec![subtract(sum(&x, Some(&[1]), false)?, reversed(&column)?)?]));
}

/// The 41 elements of a row, the last first.
fn reversed(row: &Array) -> Result<Array> {
    as_strided(row, Some(&[41]), Some(&[-1]), 40)
}

#[test]
fn maps_reach_reductions_through_reshapes() {
    let Some(_turn) = turn() else { return };
    let (x, of_column) = (array(&[6, 8, 10], Dtype::F32, 28), array(&[10], Dtype::F32, 29));
    check("groups", 1, || {
        let squares = reshape(&square(&subtract(&x, &of_column)?)?, &[12, 40])?;
        Ok(vec![mean(&squares, Some(&[1]), true)?])
    });
    check("two views", 1, || {
        let rows = reshape(&reshape(&exp(&x)?, &[480])?, &[48, 1, 10])?;
        Ok(vec![max(&rows, Some(&[0]), false)?])
    });
    check("a view that moves elements", 2, || Ok(vec![sum(&transpose(&square(&x)?, None)?, Some(&[0]), false)?]));
    check("a view that is held", 2, || {
        let rows = reshape(&square(&x)?, &[48, 10])?;
        Ok(vec![sum(&rows, Some(&[0]), false)?, rows])
    });
}

#[test]
fn segments_take_maps_before_the_first_launch_and_after_the_last() {
    let Some(_turn) = turn() else { return };
    let x = array(&[2, 70_000], Dtype::F32, 6);
    check("long rows", 2, || Ok(vec![sqrt(&sum(&square(&x)?, Some(&[1]), false)?)?]));
    let x = array(&[9000, 6], Dtype::F16, 7);
    check("long columns", 2, || Ok(vec![mean(&square(&x)?, Some(&[0]), false)?]));
}

#[test]
fn operands_of_maps_may_lie_anyhow() {
    let Some(_turn) = turn() else { return };
    for (rows, n) in [(30, 64), (31, 37), (64, 2), (3, 1000)] {
        for dtype in [Dtype::F32, Dtype::F16] {
            let x = array(&[rows, n], dtype, 8);
            let (of_row, of_column) = (array(&[rows, 1], dtype, 9), array(&[n], dtype, 10));
            let across = transpose(&array(&[n, rows], dtype, 11), None).expect("two axes");
            let memory = array(&[rows * n + 3], dtype, 12);
            let shifted = || as_strided(&memory, Some(&[rows, n]), Some(&[n as i64, 1]), 3);
            let backwards = || as_strided(&memory, Some(&[rows, n]), Some(&[n as i64, -1]), n as i64 - 1);
            for axis in [0, 1] {
                let along = |y: Array| Ok(vec![sum(&multiply(&y, 2)?, Some(&[axis]), false)?]);
                let name = format!("{dtype:?} ({rows}, {n}) along {axis}");
                check(&name, 1, || along(subtract(&x, &of_row)?));
                check(&name, 1, || along(multiply(&x, &of_column)?));
                check(&name, 1, || along(add(&x, &across)?));
                check(&name, 1, || along(add(&x, shifted()?)?));
                check(&name, 1, || along(maximum(backwards()?, &of_row)?));
            }
        }
    }
}

#[test]
fn maps_of_operands_that_lie_anyhow_have_the_cpus_bits() {
    let Some(_turn) = turn() else { return };
    for (rows, n) in [(30, 64), (31, 37), (5, 6), (700, 2), (1, 9)] {
        for dtype in [Dtype::F32, Dtype::F16, Dtype::U8, Dtype::C64] {
            let x = array(&[rows, n], dtype, 23);
            let (of_row, of_column) = (array(&[rows, 1], dtype, 24), array(&[n], dtype, 25));
            let across = transpose(&array(&[n, rows], dtype, 26), None).expect("two axes");
            let memory = array(&[rows * n + 3], dtype, 27);
            let shifted = || as_strided(&memory, Some(&[rows, n]), Some(&[n as i64, 1]), 3);
            let all = || {
                let near = subtract(multiply(&x, &of_column)?, &of_row)?;
                Ok(vec![near, add(&x, &across)?, multiply(shifted()?, &x)?, add(shifted()?, &of_column)?])
            };
            let (_, _, found) = evaluated(Tier::Now, &all);
            let cpu = default_stream(Device::CPU).expect("the CPU is there");
            let expected = with_stream(cpu, || all().expect("the calls are well formed"));
            let expected: Vec<Vec<u8>> = expected.iter().map(|a| a.to_bytes().expect("it has values")).collect();
            assert_eq!(found, expected, "{dtype:?} ({rows}, {n})");
        }
    }
}

#[test]
fn softmax_computes_maps_before_and_after() {
    let Some(_turn) = turn() else { return };
    for n in [16, 67, 640, 9000] {
        let (scores, mask) = (array(&[5, n], Dtype::F16, 13), array(&[n], Dtype::F16, 14));
        let launches = if n < 8192 { 1 } else { 2 };
        check(&format!("attention over {n}"), launches, || {
            let weights = softmax(&add(multiply(&scores, 0.125)?, &mask)?, Some(&[-1]), true)?;
            Ok(vec![astype(&multiply(&weights, 2.0)?, Dtype::F32)?])
        });
    }
}

#[test]
fn a_cheap_map_is_computed_again_rather_than_stored() {
    let Some(_turn) = turn() else { return };
    let x = array(&[33, 96], Dtype::F32, 15);
    let (weight, bias) = (array(&[96], Dtype::F32, 16), array(&[96], Dtype::F32, 17));
    check("layer norm", 3, || {
        let apart = subtract(&x, mean(&x, Some(&[-1]), true)?)?;
        let scale = rsqrt(&add(mean(&square(&apart)?, Some(&[-1]), true)?, 1e-5)?)?;
        Ok(vec![add(multiply(multiply(&apart, &scale)?, &weight)?, &bias)?])
    });
    check("softmax by hand", 3, || {
        let powers = exp(&subtract(&x, max(&x, Some(&[-1]), true)?)?)?;
        Ok(vec![divide(&powers, sum(&powers, Some(&[-1]), true)?)?])
    });
    check("two reductions of one map", 2, || {
        let squares = square(&x)?;
        Ok(vec![sum(&squares, Some(&[0]), false)?, max(&squares, Some(&[1]), false)?])
    });
}

#[test]
fn what_somebody_looks_at_is_stored() {
    let Some(_turn) = turn() else { return };
    let x = array(&[20, 30], Dtype::F32, 18);
    check("the maps' result", 2, || {
        let squares = square(&x)?;
        Ok(vec![sum(&squares, Some(&[1]), false)?, squares])
    });
    check("the reduction's result", 2, || {
        let total = sum(&x, Some(&[1]), false)?;
        Ok(vec![multiply(&total, 0.5)?, total])
    });
    check("results within the maps after", 1, || {
        let half = multiply(&sum(&x, Some(&[1]), false)?, 0.5)?;
        Ok(vec![sqrt(&abs(&half)?)?, half])
    });
}

#[test]
fn a_fused_reduction_is_compiled_in_the_background() {
    let Some(_turn) = turn() else { return };
    let x = array(&[12, 34], Dtype::F32, 19);
    let make = || Ok(vec![sum(&subtract(&exp(&x)?, 0.123)?, Some(&[1]), false)?]);
    let (first, _, parts) = evaluated(Tier::WhenReady, &make);
    assert!(first > 1, "a graph seen first runs as its parts");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let (launches, _, found) = evaluated(Tier::WhenReady, &make);
        assert_eq!(found, parts);
        if launches == 1 {
            return;
        }
        assert!(std::time::Instant::now() < end, "the fused kernel must take over");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn independent_chains_share_barriers() {
    let Some(_turn) = turn() else { return };
    // Launches of a checked build write their reports behind each other.
    if std::env::var_os("PUMICE_CHECKED").is_some() {
        return;
    }
    let starts: Vec<Array> = (0..2).map(|seed| array(&[100], Dtype::F32, 20 + seed)).collect();
    let chains = || {
        let chain = |x: &Array| (0..10).try_fold(x.clone(), |x, i| add(&x, i as f32));
        starts.iter().map(chain).collect::<Result<Vec<Array>>>()
    };
    let (launches, barriers, side_by_side) = evaluated(Tier::Never, &chains);
    assert_eq!(launches, 20);
    assert!(barriers <= 11, "two chains of ten need about ten barriers but had {barriers}");
    pumice::eval::set_disabled("schedule", true);
    let (_, barriers, in_turn) = evaluated(Tier::Never, &chains);
    pumice::eval::set_disabled("schedule", false);
    assert!(barriers >= 18, "one after the other they need about twenty but had {barriers}");
    assert_eq!(side_by_side, in_turn);
}

#[test]
fn chains_of_a_replayed_function_share_barriers_too() {
    let Some(_turn) = turn() else { return };
    if std::env::var_os("PUMICE_CHECKED").is_some() {
        return;
    }
    let starts: Vec<Array> = (0..2).map(|seed| array(&[16, 16], Dtype::F32, 30 + seed)).collect();
    let chain =
        |x: &Array| (0..10).try_fold(x.clone(), |x, i| broadcast_to(&sum(&x, Some(&[i % 2]), true)?, &[16, 16]));
    let compiled = compile(move |x: &[Array]| x.iter().map(chain).collect::<Result<Vec<Array>>>());
    for _ in 0..4 {
        let (launches, barriers, _) = evaluated(Tier::Now, &|| compiled(&starts));
        assert_eq!(launches, 20);
        assert!(barriers <= 11, "two chains of ten need about ten barriers but had {barriers}");
    }
    assert!(stats().gpu.expect("there is a GPU").replays > 0, "the function is replayed");
}

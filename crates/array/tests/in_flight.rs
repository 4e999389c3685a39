//! What `async_eval` gives to the CPU: the caller goes on, and whoever looks waits, is told of failures and finds the same values.

use std::thread;

use pumice::ops::binary::{add, multiply};
use pumice::ops::full::full;
use pumice::ops::matmul::matmul;
use pumice::ops::reduce::sum;
use pumice::ops::slices::{slice, slice_update};
use pumice::{Array, Device, Error, Result, async_eval, eval, synchronize, with_stream};

fn on_cpu<R>(body: impl FnOnce() -> R) -> R {
    with_stream(pumice::default_stream(Device::CPU).expect("the CPU is there"), body)
}

/// An array that takes a while to compute, and its sum.
fn long_work(seed: f32) -> Result<[Array; 2]> {
    let x = full(&[1024, 1024], Array::scalar(seed), None)?;
    let mut y = x.clone();
    for _ in 0..4 {
        y = multiply(matmul(&y, &x)?, 1.0 / 1024.0)?;
    }
    Ok([y.clone(), sum(&y, None, false)?])
}

#[test]
fn the_caller_goes_on_while_the_cpu_computes() {
    on_cpu(|| {
        let [y, total] = long_work(1.0).expect("a graph");
        async_eval(&[y.clone(), total.clone()]).expect("it starts");
        assert!(!y.is_evaluated(), "four products take longer than a call");
        assert_eq!(total.item::<f32>().expect("it is waited for"), 1024.0 * 1024.0);
        assert!(y.is_evaluated(), "one job computes both");
    });
}

#[test]
fn arrays_in_flight_can_be_used_in_graphs_and_views() {
    on_cpu(|| {
        let [y, _] = long_work(1.0).expect("a graph");
        async_eval(std::slice::from_ref(&y)).expect("it starts");
        let part = slice(&y, &[1, 2], &[3, 4], &[1, 1]).expect("a view of what is not there yet");
        let more = add(&part, 1.0).expect("a graph");
        async_eval(&[more.clone(), y.clone()]).expect("it starts");
        assert_eq!(more.to_vec::<f32>().expect("it is computed"), [2.0; 4]);
    });
}

#[test]
fn the_gpu_waits_for_what_the_cpu_has_in_flight() {
    let [y, _] = on_cpu(|| long_work(1.0)).expect("a graph");
    async_eval(std::slice::from_ref(&y)).expect("it starts");
    // On the default device, which is the GPU where there is one.
    let total = sum(&add(&y, 1.0).expect("a graph"), None, false).expect("a graph");
    async_eval(std::slice::from_ref(&total)).expect("it starts");
    assert_eq!(total.item::<f32>().expect("it is waited for"), 2.0 * 1024.0 * 1024.0);
}

#[test]
fn a_cache_that_grows_in_flight_is_updated_in_place_and_right() {
    on_cpu(|| {
        let rows = 64;
        let mut cache = full(&[rows, 4096], Array::scalar(0f32), None).expect("a graph");
        eval(std::slice::from_ref(&cache)).expect("it evaluates");
        let mut before = None;
        for i in 0..rows {
            let row = full(&[1, 4096], Array::scalar(i as f32 + 1.0), None).expect("a graph");
            cache = slice_update(&cache, &row, &[i, 0], &[i + 1, 4096], &[1, 1]).expect("a graph");
            async_eval(std::slice::from_ref(&cache)).expect("it starts");
            if i % 16 == 15 {
                eval(std::slice::from_ref(&cache)).expect("it evaluates");
                let address = cache.shared_memory().expect("memory").address();
                assert_eq!(*before.get_or_insert(address), address, "updates are made in place");
            }
        }
        let values = cache.to_vec::<f32>().expect("it is computed");
        for (i, row) in values.chunks(4096).enumerate() {
            assert!(row.iter().all(|&x| x == i as f32 + 1.0), "row {i}");
        }
    });
}

#[test]
fn a_failure_is_told_to_who_looks_and_the_array_can_be_evaluated_again() {
    on_cpu(|| {
        let huge = || full(&[i32::MAX, 1 << 30], Array::scalar(1f32), None);
        let copied = |x: &Array| pumice::ops::views::contiguous(x, false);
        let (x, y) = (huge().expect("a graph"), huge().expect("a graph"));
        let [x, y] = [copied(&x).expect("a graph"), copied(&y).expect("a graph")];
        async_eval(std::slice::from_ref(&x)).expect("it starts");
        for _ in 0..2 {
            assert!(matches!(x.eval(), Err(Error::Memory(_))), "no memory holds it");
        }
        let stream = pumice::default_stream(Device::CPU).expect("the CPU is there");
        synchronize(stream).expect("who looked was told");
        async_eval(std::slice::from_ref(&y)).expect("it starts");
        assert!(matches!(synchronize(stream), Err(Error::Memory(_))), "nobody else was told");
        synchronize(stream).expect("it is told once");
    });
}

#[test]
fn what_nobody_holds_any_longer_is_computed_and_gone() {
    on_cpu(|| {
        for _ in 0..8 {
            let [y, total] = long_work(1.0).expect("a graph");
            async_eval(&[y, total]).expect("it starts");
        }
        synchronize(pumice::default_stream(Device::CPU).expect("the CPU is there")).expect("it is waited for");
    });
}

#[test]
fn streams_that_are_cleared_or_end_finish_their_work() {
    let started = |clear: bool| {
        let start = move || {
            let [y, total] = on_cpu(|| long_work(1.0)).expect("a graph");
            async_eval(&[y.clone(), total.clone()]).expect("it starts");
            if clear {
                pumice::clear_streams().expect("it is waited for");
                assert!(y.is_evaluated());
            }
            total
        };
        thread::spawn(start).join().expect("the thread ends well")
    };
    for clear in [true, false] {
        assert_eq!(started(clear).item::<f32>().expect("it is computed"), 1024.0 * 1024.0);
    }
}

#[test]
fn whoever_knows_a_stream_may_wait_for_its_work() {
    let (tell, told) = std::sync::mpsc::channel();
    let (done, wait) = std::sync::mpsc::channel::<()>();
    let working = thread::spawn(move || {
        let stream = pumice::default_stream(Device::CPU).expect("the CPU is there");
        let [y, _] = on_cpu(|| long_work(1.0)).expect("a graph");
        async_eval(std::slice::from_ref(&y)).expect("it starts");
        tell.send((stream, y)).expect("somebody listens");
        wait.recv().expect("the other is through");
    });
    let (stream, y) = told.recv().expect("it tells");
    synchronize(stream).expect("it is waited for");
    assert!(y.is_evaluated());
    done.send(()).expect("it listens");
    working.join().expect("the thread ends well");
    synchronize(stream).expect("there is nothing to wait for");
}

#[test]
fn threads_that_evaluate_in_flight_agree_with_those_that_wait() {
    let expected: Vec<Vec<f32>> = (0..4)
        .map(|i| on_cpu(|| long_work(1.0 + i as f32 / 8.0).expect("a graph")[0].to_vec().expect("it is computed")))
        .collect();
    thread::scope(|scope| {
        for (i, expected) in expected.iter().enumerate() {
            scope.spawn(move || {
                on_cpu(|| {
                    let mut last: Option<Array> = None;
                    for _ in 0..4 {
                        let [y, total] = long_work(1.0 + i as f32 / 8.0).expect("a graph");
                        async_eval(&[y.clone(), total]).expect("it starts");
                        if let Some(last) = last.replace(y) {
                            assert_eq!(&last.to_vec::<f32>().expect("it is computed"), expected);
                        }
                    }
                });
            });
        }
    });
}

#[test]
fn while_a_transform_traces_nothing_is_in_flight() {
    on_cpu(|| {
        let loss = |x: &[Array]| {
            let [y, _] = long_work(1.0)?;
            async_eval(std::slice::from_ref(&y))?;
            assert!(y.is_evaluated());
            Ok(vec![sum(&multiply(&x[0], &y)?, None, false)?])
        };
        let [x, _] = long_work(1.0).expect("a graph");
        async_eval(std::slice::from_ref(&x)).expect("it starts");
        let gradient =
            pumice::grad(loss, &[0])(&[x]).expect("it is derived")[0].to_vec::<f32>().expect("it is computed");
        assert!(gradient.iter().all(|&g| g == 1.0));
    });
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

/// A program that computes, overwrites, drops and looks at arrays by chance; `start` is what it does now and then. What it saw.
fn by_chance(seed: u64, start: impl Fn(&[Array]) -> Result<()>) -> Result<Vec<f32>> {
    let mut dice = Dice(seed);
    let mut pool = vec![full(&[64, 256], Array::scalar(1f32), None)?, full(&[64, 256], Array::scalar(-0.5f32), None)?];
    let mut saw = Vec::new();
    for _ in 0..200 {
        let [i, j, row] = [pool.len(), pool.len(), 60].map(|n| dice.below(n));
        let (x, y) = (pool[i].clone(), pool[j].clone());
        match dice.below(8) {
            0 | 1 => pool.push(add(&x, &multiply(&y, 0.5)?)?),
            2 => pool.push(multiply(matmul(&x, &full(&[256, 256], Array::scalar(1f32), None)?)?, 1.0 / 512.0)?),
            3 | 4 => {
                let part = slice(&y, &[2, 0], &[4, 256], &[1, 1])?;
                drop(x);
                let old = pool.swap_remove(i);
                let row = row as i32;
                pool.push(slice_update(&old, &add(&part, 1.0)?, &[row, 0], &[row + 2, 256], &[1, 1])?);
            }
            5 if pool.len() > 3 => drop(pool.swap_remove(i)),
            6 => saw.push(sum(&x, None, false)?.item()?),
            _ => start(&[x, y])?,
        }
    }
    saw.extend(pool.iter().map(|x| sum(x, None, false)?.item()).collect::<Result<Vec<f32>>>()?);
    Ok(saw)
}

#[test]
fn programs_that_start_work_by_chance_see_what_those_see_that_wait() {
    on_cpu(|| {
        for seed in 0..30 {
            let waiting = by_chance(seed, eval).expect("it computes");
            assert_eq!(waiting, by_chance(seed, async_eval).expect("it computes"), "seed {seed}");
            assert_eq!(waiting, by_chance(seed, |_| Ok(())).expect("it computes"), "seed {seed}");
        }
    });
}

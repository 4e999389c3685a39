//! Parts of arrays that are elsewhere in every turn of a loop, as where a cache of keys and values grows: one plan serves them all.

mod rig;

use std::sync::{Mutex, PoisonError};

use pumice::eval::{Tier, set_tier, stats};
use pumice::ops::binary::{add, multiply};
use pumice::ops::fast::{Rope, rope};
use pumice::ops::slices::{slice, slice_update};
use pumice::ops::views::transpose;
use pumice::{Array, Device, Result, compile, default_stream, with_stream};

/// Plans are counted for the whole process: one test at a time.
static TURN: Mutex<()> = Mutex::new(());

fn numbers(shape: &[i32], from: i32) -> Array {
    let n: i32 = shape.iter().product();
    Array::from_slice(&(from..from + n).map(|i| i as f32).collect::<Vec<_>>(), shape).expect("as many")
}

fn floats(x: &Array) -> Vec<f32> {
    x.to_vec().expect("floats")
}

/// Runs turns of a loop on each device, and expects that no more than `plans` plans are made by all of them.
fn turns(plans: u64, turn: impl Fn(i32) -> Result<()>) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for device in rig::devices() {
        set_tier(Tier::Never);
        let before = stats().plan_misses;
        with_stream(default_stream(device).expect("the device is there"), || {
            (0..12).try_for_each(&turn).unwrap_or_else(|error| panic!("{device}: {error}"))
        });
        let made = stats().plan_misses - before;
        assert!(made <= plans, "{device}: {made} plans were made");
    }
    set_tier(Tier::WhenReady);
}

/// The values of an array of rows of `n` with one of them replaced.
fn with_row(x: &Array, row: i32, values: &[f32]) -> Vec<f32> {
    let (mut all, n) = (floats(x), values.len());
    all[row as usize * n..][..n].copy_from_slice(values);
    all
}

#[test]
fn updates_of_one_row_after_the_other_share_a_plan() {
    let cache = Mutex::new(numbers(&[12, 8], 0));
    turns(2, |row| {
        let mut cache = cache.lock().expect("nobody panicked");
        let new = numbers(&[1, 8], 100 * row);
        let expected = with_row(&cache, row, &floats(&new));
        let before = std::mem::replace(&mut *cache, Array::scalar(0f32));
        *cache = slice_update(&before, &new, &[row, 0], &[row + 1, 8], &[1, 1])?;
        drop(before);
        pumice::eval(&[cache.clone()])?;
        assert_eq!(floats(&cache), expected, "row {row}");
        Ok(())
    });
}

#[test]
fn updates_of_rows_of_any_width_are_right() {
    // Rows of three begin at addresses of three kinds of alignment.
    turns(8, |row| {
        let (x, new) = (numbers(&[12, 3], 0), numbers(&[3], 50));
        let expected = with_row(&x, row, &floats(&new));
        let y = slice_update(&add(&x, 0.0)?, &new, &[row, 0], &[row + 1, 3], &[1, 1])?;
        assert_eq!(floats(&y), expected, "row {row}");
        Ok(())
    });
}

#[test]
fn updates_that_go_backwards_are_right() {
    turns(8, |at| {
        let y = slice_update(&numbers(&[16], 0), &numbers(&[3], 100), &[at + 4], &[at - 2], &[-2])?;
        let mut expected: Vec<f32> = (0..16).map(|i| i as f32).collect();
        (0..3).for_each(|i| expected[(at + 4 - 2 * i) as usize] = (100 + i) as f32);
        assert_eq!(floats(&y), expected, "from {at}");
        Ok(())
    });
}

#[test]
fn slices_share_a_plan_wherever_they_begin() {
    turns(2, |row| {
        let x = add(numbers(&[13, 8], 0), 1.0)?;
        let y = multiply(slice(&x, &[row, 0], &[row + 2, 8], &[1, 1])?, 2.0)?;
        let expected: Vec<f32> = (0..16).map(|i| 2.0 * (8 * row + i + 1) as f32).collect();
        assert_eq!(floats(&y), expected, "row {row}");
        Ok(())
    });
}

#[test]
fn slices_of_slices_of_other_looks_are_right() {
    turns(20, |at| {
        let x = transpose(&add(numbers(&[5, 14], 0), 0.0)?, None)?;
        let part = slice(&x, &[at, 4], &[at + 2, -1], &[1, -1])?;
        let y = add(slice(&part, &[0, at % 3], &[2, at % 3 + 2], &[1, 1])?, 0.5)?;
        let place = |row: i32, column: i32| (14 * (4 - at % 3 - column) + at + row) as f32 + 0.5;
        assert_eq!(floats(&y), [place(0, 0), place(0, 1), place(1, 0), place(1, 1)], "from {at}");
        // What is only looked at has no step, and is still where it should be.
        let look = slice(&part, &[0, at % 3], &[2, at % 3 + 2], &[1, 1])?;
        assert_eq!(floats(&look), [place(0, 0), place(0, 1), place(1, 0), place(1, 1)].map(|x| x - 0.5), "from {at}");
        Ok(())
    });
}

#[test]
fn replayed_functions_of_parts_that_move_are_right() {
    let compiled = compile(|x: &[Array]| {
        let mut y = x[0].clone();
        for _ in 0..8 {
            y = add(&y, &x[1])?;
        }
        Ok(vec![y])
    });
    turns(2, |row| {
        let x = add(numbers(&[12, 4], 0), 0.0)?;
        let part = slice(&x, &[row, 0], &[row + 1, 4], &[1, 1])?;
        let grown = compiled(&[part, numbers(&[1, 4], 1)])?.swap_remove(0);
        let expected: Vec<f32> = (0..4).map(|i| (4 * row + i + 8 * (i + 1)) as f32).collect();
        assert_eq!(floats(&grown), expected, "row {row}");
        Ok(())
    });
    let replayed = || stats().gpu.is_some_and(|gpu| gpu.replays > 0);
    assert!(!rig::devices().contains(&Device::GPU) || replayed(), "the function is replayed");
}

#[test]
fn positions_one_after_the_other_share_a_plan() {
    let turn = Rope { dims: 4, traditional: false, base: Some(10.0), scale: 1.0, freqs: None };
    let x = numbers(&[1, 1, 4], 1);
    turns(1, |offset| {
        let angle = |pair: i32| offset as f32 * 10f32.powf(-pair as f32 / 2.0);
        let found = floats(&rope(&x, offset, turn)?);
        for pair in 0..2 {
            let (sin, cos) = angle(pair).sin_cos();
            let (a, b) = ((pair + 1) as f32, (pair + 3) as f32);
            let expected = [a * cos - b * sin, a * sin + b * cos];
            let got = [found[pair as usize], found[pair as usize + 2]];
            assert!(got.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-5), "{got:?} instead of {expected:?}");
        }
        Ok(())
    });
}

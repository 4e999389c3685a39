//! Index expressions against the wheel's: tests/oracle/indexing.txt, made by the script beside it.

use super::*;
use crate::dtype::Dtype;
use crate::ops::views::tests::on_each_device;
use crate::transforms::vjp;

const WHEEL: &str = include_str!("../../tests/oracle/indexing.txt");

fn shape_of(text: &str) -> Vec<i32> {
    text.split('x').filter(|n| !n.is_empty() && *n != "()").map(|n| n.parse().expect("a size")).collect()
}

fn ints(text: &str) -> Vec<i32> {
    text.split(',').filter(|n| !n.is_empty()).map(|n| n.parse().expect("an int")).collect()
}

/// The numbers from `start` on, in a shape.
fn numbers(shape: &[i32], start: i32) -> Array {
    let n: i32 = shape.iter().product();
    Array::from_slice(&(start..start + n).collect::<Vec<i32>>(), shape).expect("as many as the shape has")
}

fn index_of(word: &str) -> Index {
    let number = |text: &str| text.parse::<i64>().ok();
    match word {
        "None" => Index::NewAxis,
        "..." => Index::Ellipsis,
        _ if word.starts_with('@') => {
            let (shape, elements) = word[1..].split_once('=').expect("a shape and elements");
            Index::Array(Array::from_slice(&ints(elements), &shape_of(shape)).expect("it fits"))
        }
        _ if word.contains(':') => {
            let mut parts = word.split(':').map(number).chain([None]);
            let mut next = || parts.next().flatten();
            Index::Slice { start: next(), stop: next(), step: next() }
        }
        _ => Index::Int(number(word).expect("an int")),
    }
}

fn apply(kind: &str, x: &Array, expression: &[Index], value: &[i32]) -> Result<Array> {
    let updates = numbers(value, 2);
    match kind {
        "get" => get(x, expression),
        "set" => set(x, expression, numbers(value, 1000)),
        "add" => at(x, expression).add(&updates),
        "subtract" => at(x, expression).subtract(&updates),
        "multiply" => at(x, expression).multiply(&updates),
        "maximum" => at(x, expression).maximum(&updates),
        _ => at(x, expression).minimum(&updates),
    }
}

#[test]
fn expressions_select_and_assign_what_the_wheels_do() {
    on_each_device(|| {
        let mut wrong = Vec::new();
        for line in WHEEL.lines() {
            let parts: Vec<&str> = line.split(';').collect();
            let [kind, shape, words, value, wheel] = parts[..] else { panic!("five parts: {line}") };
            let expression: Vec<Index> = words.split(' ').map(index_of).collect();
            let value = if value == "-" { Vec::new() } else { shape_of(value) };
            let ours = match apply(kind, &numbers(&shape_of(shape), 0), &expression, &value) {
                Ok(y) => (y.shape().to_vec(), Some(y.to_vec::<i32>().expect("ints"))),
                Err(Error::Value(_) | Error::Index(_)) => (Vec::new(), None),
                Err(error) => panic!("{line}: {error}"),
            };
            // What only NumPy accepts stands behind a ~.
            let wheel = match wheel.trim_start_matches('~').split_once(' ') {
                Some((shape, elements)) => (shape_of(shape), Some(ints(elements))),
                None => (Vec::new(), None),
            };
            if ours != wheel {
                wrong.push(format!("{line}\n    ours: {ours:?}"));
            }
        }
        assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    });
}

#[test]
fn expressions_are_written_as_rust_values() {
    let x = numbers(&[2, 3, 4], 0);
    let rows = Array::from_slice(&[0i32, 0], &[2]).expect("two");
    let get = |y: Result<Array>| {
        let y = y.expect("it selects");
        (y.shape().to_vec(), y.to_vec::<i32>().expect("ints"))
    };
    assert_eq!(get(x.index((1, 2, 3))), (vec![], vec![23]));
    assert_eq!(get(x.index((0, .., 1..3))), (vec![3, 2], vec![1, 2, 5, 6, 9, 10]));
    assert_eq!(get(x.index((Ellipsis, -1, ..2))), (vec![2, 2], vec![8, 9, 20, 21]));
    assert_eq!(get(x.index((1, 2, Slice::every(-2)))), (vec![2], vec![23, 21]));
    assert_eq!(get(x.index((&rows, 1, NewAxis, 2..=3))), (vec![2, 1, 2], vec![6, 7, 6, 7]));
    assert_eq!(get(x.index_set(0, 9).expect("it assigns").index((.., 0, 0))), (vec![2], vec![9, 12]));
    assert_eq!(get(x.at((&rows, 0, 0)).add(5).expect("it adds").index((0, 0, 0))), (vec![], vec![10]));
}

#[test]
fn what_cannot_be_indexed_is_an_error() {
    let x = numbers(&[3, 4], 0);
    let mask = Array::from_bools(&[true, false, true], &[3]).expect("three");
    let error = x.index(&mask).expect_err("masks do not select");
    assert_eq!(error.to_string(), "[index] boolean indices are not yet supported.");
    assert!(matches!(x.index(3), Err(Error::Index(_))));
    assert!(matches!(x.index((0, -5)), Err(Error::Index(_))));
    assert!(matches!(x.index(Slice::every(0)), Err(Error::Value(_))));
    assert!(matches!(x.index(Array::scalar(0.5f32)), Err(Error::Value(_))));
    assert!(matches!(x.index_set((&mask, 1), 0), Err(Error::Value(_))));
}

/// From the wheel: `x[mask] = value` for `x = mx.arange(12).reshape(3, 4)`.
#[test]
fn masks_are_assigned_a_value_or_one_row_after_the_other() {
    on_each_device(|| {
        let x = numbers(&[3, 4], 0);
        let rows = Array::from_bools(&[true, false, true], &[3]).expect("three");
        let set =
            |mask: &Array, value: &Array| x.index_set(mask, value).expect("it assigns").to_vec::<i32>().expect("ints");
        assert_eq!(set(&rows, &Array::scalar(7i32)), [7, 7, 7, 7, 4, 5, 6, 7, 7, 7, 7, 7]);
        assert_eq!(set(&rows, &numbers(&[4], 0)), [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3]);
        assert_eq!(set(&rows, &numbers(&[2, 4], 20)), [20, 21, 22, 23, 4, 5, 6, 7, 24, 25, 26, 27]);
        let above = crate::ops::binary::greater(&x, 8).expect("a mask");
        assert_eq!(set(&above, &numbers(&[3], 1)), [0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3]);
        let short = Array::from_bools(&[true, false], &[2]).expect("two");
        assert!(matches!(x.index_set(&short, 7), Err(Error::Value(_))));
        assert!(matches!(x.index_set(&above, numbers(&[2, 2], 0)), Err(Error::Value(_))));
    });
}

#[test]
fn long_masks_count_across_stretches() {
    on_each_device(|| {
        let n = 1000;
        let bools: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
        let mask = Array::from_bools(&bools, &[n]).expect("bools");
        let x = crate::ops::full::zeros(&[n], Dtype::I32).expect("zeros");
        let y = x.index_set(&mask, numbers(&[n], 1)).expect("it assigns").to_vec::<i32>().expect("ints");
        assert!(y.iter().enumerate().all(|(i, &y)| y == if i % 3 == 0 { i as i32 / 3 + 1 } else { 0 }));
    });
}

#[test]
fn derivatives_flow_through_reading_and_assigning() {
    on_each_device(|| {
        let x = Array::from_slice(&[1f32, 2.0, 3.0, 4.0], &[4]).expect("four");
        let v = Array::from_slice(&[5f32, 6.0], &[2]).expect("two");
        let g = Array::from_slice(&[1f32, 10.0, 100.0, 1000.0], &[4]).expect("four");
        let f = |x: &[Array]| Ok(vec![x[0].index_set(1..3, &x[1])?]);
        let (_, both) = vjp(f, &[x.clone(), v], std::slice::from_ref(&g)).expect("it has one");
        assert_eq!(both[0].to_vec::<f32>().expect("floats"), [1.0, 0.0, 0.0, 1000.0]);
        assert_eq!(both[1].to_vec::<f32>().expect("floats"), [10.0, 100.0]);
        let back = |x: &[Array]| Ok(vec![x[0].index(Slice::every(-1))?]);
        let (_, dx) = vjp(back, &[x], &[g]).expect("it has one");
        assert_eq!(dx[0].to_vec::<f32>().expect("floats"), [1000.0, 100.0, 10.0, 1.0]);
    });
}

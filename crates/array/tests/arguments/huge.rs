//! Shapes that no memory could hold are fine until somebody computes them; then they are an [`Error::Memory`] that tells the size.

use pumice::ops::binary::add;
use pumice::ops::broadcast_to::broadcast_to;
use pumice::ops::create::eye;
use pumice::ops::full::{full, zeros};
use pumice::ops::gather::take;
use pumice::ops::joins::concatenate;
use pumice::ops::matmul::outer;
use pumice::ops::reduce::sum;
use pumice::ops::softmax::softmax;
use pumice::ops::unary::exp;
use pumice::ops::views::{as_strided, contiguous, reshape, transpose};
use pumice::{Array, Dtype, Error, Result, default_stream, random, with_stream};

use crate::rig;

const FAR: i32 = i32::MAX;

/// One value over 2^62 elements: a view, which needs no memory.
fn endless() -> Result<Array> {
    broadcast_to(&Array::from_slice(&[1f32], &[1])?, &[FAR, FAR])
}

type Making = fn() -> Result<Array>;

/// Every way to compute: maps, reductions, products, copies, writes, host functions.
const RESULTS: &[(&str, Making)] = &[
    ("add", || add(endless()?, 1.0)),
    ("exp", || exp(&endless()?)),
    ("add of ints", || add(full(&[FAR, FAR], 1, Some(Dtype::U8))?, zeros(&[FAR, FAR], Dtype::U8)?)),
    ("contiguous", || contiguous(&endless()?, false)),
    ("sum", || sum(&broadcast_to(&Array::from_slice(&[1f32], &[1])?, &[FAR, FAR, 2])?, Some(&[2]), false)),
    ("softmax", || softmax(&endless()?, Some(&[1]), false)),
    ("outer", || {
        let row = broadcast_to(&Array::from_slice(&[1f32], &[1])?, &[FAR])?;
        outer(&row, &row)
    }),
    ("concatenate", || {
        let part = broadcast_to(&Array::from_slice(&[1f32], &[1])?, &[FAR / 2, FAR])?;
        concatenate(&[part.clone(), part], 0)
    }),
    ("take", || {
        let table = broadcast_to(&Array::from_slice(&[1f32], &[1])?, &[4, 1 << 30])?;
        take(&table, &broadcast_to(&Array::from_slice(&[3i32], &[1])?, &[1 << 20])?, Some(0))
    }),
    ("eye", || eye(1 << 30, Some(1 << 30), 0, Dtype::F32)),
    ("bits", || random::bits(&[1 << 30, 1 << 20], 4, Some(&random::key(1)?))),
];

#[test]
fn what_no_memory_could_hold_is_refused_when_it_is_computed() {
    for device in rig::devices() {
        let stream = default_stream(device).expect("the device is there");
        for (name, make) in RESULTS {
            with_stream(stream, || {
                let array = make().unwrap_or_else(|error| panic!("{name} on {device} is a graph but: {error}"));
                match array.eval() {
                    Err(Error::Memory(text)) => assert!(text.starts_with("[allocate] "), "{name} on {device}: {text}"),
                    other => panic!("{name} on {device} needs more memory than there is but: {other:?}"),
                }
            });
        }
    }
}

#[test]
fn a_view_without_end_cannot_be_read_but_a_part_of_it_can() {
    for device in rig::devices() {
        let stream = default_stream(device).expect("the device is there");
        with_stream(stream, || {
            let view = endless().expect("a view");
            assert!(matches!(view.to_bytes(), Err(Error::Memory(_))), "{device}");
            assert!(matches!(view.to_vec::<f32>(), Err(Error::Memory(_))), "{device}");
            let corner = view.index((FAR - 1, (FAR - 3)..FAR)).expect("it has that many elements");
            assert_eq!(corner.to_vec::<f32>().expect("three values"), [1.0; 3], "{device}");
        });
    }
}

#[test]
fn more_elements_than_can_be_counted_are_refused_when_the_graph_is_built() {
    let makings: &[Making] = &[
        || contiguous(&broadcast_to(&Array::from_slice(&[1f32], &[1])?, &[FAR, FAR, FAR])?, false),
        || exp(&full(&[FAR, FAR, 4], 1f32, None)?),
        || contiguous(&transpose(&zeros(&[FAR, FAR, FAR, FAR], Dtype::Bool)?, None)?, true),
        || add(broadcast_to(&endless()?, &[2, FAR, FAR])?, broadcast_to(&endless()?, &[FAR, 1, FAR])?),
        || outer(&reshape(&broadcast_to(&Array::scalar(1f32), &[1 << 30, 1])?, &[1 << 30])?, &endless()?),
        || exp(&as_strided(&Array::from_slice(&[1f32], &[1])?, Some(&[FAR, FAR, FAR]), Some(&[0, 0, 0]), 0)?),
        || as_strided(&Array::from_slice(&[1f32], &[1])?, Some(&[FAR, FAR, FAR]), None, 0),
        || random::bits(&[FAR, FAR, FAR], 4, Some(&random::key(1)?)),
    ];
    for device in rig::devices() {
        let stream = default_stream(device).expect("the device is there");
        for (number, make) in makings.iter().enumerate() {
            with_stream(stream, || match make() {
                Err(Error::Value(text)) => assert!(text.starts_with('['), "{number} on {device}: {text}"),
                other => panic!("{number} on {device} has more than 2^63 elements but: {other:?}"),
            });
        }
    }
}

#[test]
fn arrays_of_nothing_may_have_any_sizes_beside_the_zero() {
    for device in rig::devices() {
        let stream = default_stream(device).expect("the device is there");
        with_stream(stream, || {
            for shape in [[0, FAR, FAR, FAR], [FAR, FAR, FAR, 0], [FAR, 0, FAR, FAR]] {
                let nothing = zeros(&shape, Dtype::F32).expect("no elements");
                let turned = transpose(&exp(&nothing).expect("a graph"), None).expect("a view");
                assert_eq!(contiguous(&turned, false).and_then(|x| x.to_vec::<f32>()).expect("nothing"), [0f32; 0]);
            }
        });
    }
}

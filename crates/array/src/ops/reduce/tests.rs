//! Reductions on both devices against plain loops.

use super::{max, prod, sum};
use crate::ops::arg_reduce::argmax;
use crate::ops::astype::astype;
use crate::ops::binary::multiply;
use crate::ops::joins::stack;
use crate::ops::slices::slice;
use crate::ops::views::transpose;
use crate::{Array, Device, Dtype, Result, default_stream, grad, vmap, with_stream};

fn on_both(f: impl Fn() -> Array, check: impl Fn(&Array, Device)) {
    for device in crate::device::test_devices() {
        let stream = default_stream(device).expect("the device is there");
        let y = with_stream(stream, || {
            let y = f();
            y.eval().expect("it evaluates");
            y
        });
        check(&y, device);
    }
}

/// Whole numbers, so that every order of summation gives the same.
fn whole(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 7919) % 23) as f32 - 11.0).collect()
}

fn expected(x: &[f32], shape: [usize; 3], axis: usize) -> Vec<f32> {
    let strides = [shape[1] * shape[2], shape[2], 1];
    let [a, b] = match axis {
        0 => [1, 2],
        1 => [0, 2],
        _ => [0, 1],
    };
    let one =
        |i: usize, j: usize| (0..shape[axis]).map(move |k| x[i * strides[a] + j * strides[b] + k * strides[axis]]);
    (0..shape[a]).flat_map(|i| (0..shape[b]).map(move |j| (i, j))).map(|(i, j)| one(i, j).sum()).collect()
}

#[test]
fn sums_along_every_axis_are_those_of_a_loop() {
    for shape in [[2, 3, 4], [1, 1, 1], [5, 129, 7], [3, 2, 1030], [2, 700, 36], [1, 1, 100_003], [70, 3, 33]] {
        let values = whole(shape.iter().product());
        for axis in 0..3 {
            let build = || {
                let x = Array::from_slice(&values, &shape.map(|n| n as i32)).expect("as many");
                sum(&x, Some(&[axis as i32]), false).expect("it has the axis")
            };
            let wanted = expected(&values, shape, axis);
            on_both(build, |y, device| {
                assert_eq!(y.to_vec::<f32>().expect("floats"), wanted, "{shape:?} along {axis} on {device}");
            });
        }
    }
}

#[test]
fn a_whole_array_sums_in_two_launches() {
    let values = whole(1_000_003);
    let wanted: f64 = values.iter().map(|&x| x as f64).sum();
    let build = || sum(&Array::from_slice(&values, &[1_000_003]).expect("as many"), None, false).expect("sums");
    on_both(build, |y, device| {
        assert_eq!(y.shape(), [0i32; 0]);
        assert_eq!(y.to_vec::<f32>().expect("one")[0] as f64, wanted, "{device}");
    });
}

#[test]
fn transposed_rows_are_columns() {
    let values = whole(40 * 300);
    let build = || {
        let x = Array::from_slice(&values, &[40, 300]).expect("as many");
        sum(&transpose(&x, None).expect("two axes"), Some(&[1]), true).expect("it has the axis")
    };
    let wanted = expected(&values, [1, 40, 300], 1);
    on_both(build, |y, device| {
        assert_eq!(y.shape(), [300, 1]);
        assert_eq!(y.to_vec::<f32>().expect("floats"), wanted, "{device}");
    });
}

#[test]
fn sums_of_small_integers_are_wider() {
    let build = || sum(&Array::from_slice(&vec![100u8; 1000], &[1000]).expect("as many"), None, false).expect("sums");
    on_both(build, |y, device| {
        assert_eq!(y.dtype(), Dtype::U32);
        assert_eq!(y.to_vec::<u32>().expect("one"), [100_000], "{device}");
    });
}

/// What a device gives for a call on whole numbers of a type.
fn bytes_on(device: Device, dtype: Dtype, shape: &[i32], call: impl Fn(&Array) -> Result<Array>) -> Vec<u8> {
    let values = whole(shape.iter().product::<i32>() as usize);
    with_stream(default_stream(device).expect("the device is there"), || {
        let x = Array::from_slice(&values, shape).and_then(|x| astype(&x, dtype)).expect("as many");
        call(&x).and_then(|y| y.to_bytes()).expect("it evaluates")
    })
}

#[test]
fn columns_and_rows_of_every_width_agree_on_both_devices() {
    type Call = fn(&Array, i32) -> Result<Array>;
    let calls: [(&str, Call); 3] = [
        ("sum", |x, axis| sum(x, Some(&[axis]), false)),
        ("max", |x, axis| max(x, Some(&[axis]), false)),
        ("argmax", |x, axis| argmax(x, Some(axis), false)),
    ];
    let gpu = crate::device::test_devices().into_iter().find(|&device| device == Device::GPU);
    let dtypes = [Dtype::Bool, Dtype::U8, Dtype::I16, Dtype::U32, Dtype::I64, Dtype::BF16, Dtype::C64];
    for (dtype, gpu) in dtypes.into_iter().flat_map(|dtype| Some((dtype, gpu?))) {
        for (shape, axis) in [([1500, 48], 0), ([3, 4096], 1)] {
            for (name, call) in calls {
                let [cpu, gpu] = [Device::CPU, gpu].map(|device| bytes_on(device, dtype, &shape, |x| call(x, axis)));
                assert!(cpu == gpu, "{name} of {dtype} {shape:?}");
            }
        }
    }
}

#[test]
fn a_part_that_begins_off_an_access_is_reduced_whole() {
    let values = whole(103 * 8);
    let build = || {
        let x = Array::from_slice(&values, &[103, 8]).expect("as many");
        // Backwards, from an element whose address is a multiple of 16 to one whose is not.
        sum(&slice(&x, &[102, 4], &[-104, 0], &[-1, -1]).expect("a part"), Some(&[1]), false).expect("an axis")
    };
    let wanted: Vec<f32> = values.chunks(8).rev().map(|row| row[1..=4].iter().sum()).collect();
    on_both(build, |y, device| assert_eq!(y.to_vec::<f32>().expect("floats"), wanted, "{device}"));
}

#[test]
fn a_sum_of_halves_is_rounded_once() {
    let build = || {
        let ones = Array::from_slice(&vec![half::bf16::ONE; 20_000], &[10_000, 2]).expect("as many");
        sum(&ones, Some(&[0]), false).expect("an axis")
    };
    // 10000 in bf16 is 9984; adding ones in bf16 would stop at 256.
    on_both(build, |y, device| {
        assert_eq!(y.to_vec::<half::bf16>().expect("halves"), [half::bf16::from_f32(9984.0); 2], "{device}");
    });
}

#[test]
fn nothing_sums_to_zero_and_has_no_least_element() {
    let x = crate::ops::full::zeros(&[0, 3], Dtype::F32).expect("a shape");
    assert_eq!(sum(&x, Some(&[0]), false).expect("sums").to_vec::<f32>().expect("floats"), [0.0; 3]);
    assert_eq!(prod(&x, None, false).expect("multiplies").to_vec::<f32>().expect("floats"), [1.0]);
    let error = max(&x, Some(&[0]), false).expect_err("there is none");
    assert_eq!(error.to_string(), "[max] axes that are reduced must have elements but axis 0 has none.");
}

/// Expected values: the second derivatives of x·y·z, weighted by 1, 2 and 3; the wheel's, too.
#[test]
fn second_derivatives_of_products_are_right_at_zeros() {
    let weights = || Array::from_slice(&[1f32, 2.0, 3.0], &[3]).expect("three");
    let product = |x: &[Array]| Ok(vec![prod(&x[0], None, false)?]);
    let weighted = |x: &[Array]| {
        let first = grad(product, &[0])(x)?.swap_remove(0);
        Ok(vec![sum(&multiply(&first, weights())?, None, false)?])
    };
    let points =
        [[2f32, 4.0, 3.0], [2.0, 0.0, 3.0], [0.0, 0.0, 3.0]].map(|x| Array::from_slice(&x, &[3]).expect("three"));
    for (x, wanted) in points.iter().zip([[18f32, 9.0, 8.0], [6.0, 9.0, 4.0], [6.0, 3.0, 0.0]]) {
        let second = grad(weighted, &[0])(std::slice::from_ref(x)).expect("it has derivatives").swap_remove(0);
        assert_eq!(second.to_vec::<f32>().expect("floats"), wanted);
    }
    let mapped = vmap(|x: &[Array]| grad(weighted, &[0])(x), vec![Some(0)], 0)(&[stack(&points, 0).expect("rows")]);
    let mapped = mapped.expect("it maps").swap_remove(0);
    assert_eq!(mapped.to_vec::<f32>().expect("floats"), [18.0, 9.0, 8.0, 6.0, 9.0, 4.0, 6.0, 3.0, 0.0]);
}

#[test]
fn second_derivatives_of_products_along_several_axes_are_those_of_the_formula() {
    let x = Array::from_slice(&[2f32, 0.0, 3.0, 5.0, 1.0, 0.0, 0.0, 4.0], &[2, 2, 2]).expect("eight");
    let f = |x: &[Array]| Ok(vec![sum(&prod(&x[0], Some(&[0, 2]), false)?, None, false)?]);
    let along = |x: &[Array]| Ok(vec![sum(&grad(f, &[0])(x)?[0], None, false)?]);
    let second = grad(along, &[0])(&[x]).expect("it has derivatives").swap_remove(0);
    // The elements are {2, 0, 1, 0} and {3, 5, 0, 4}: for each, the sum over pairs of the others of what remains.
    let others = |all: [f32; 4], i: usize| -> f32 {
        (0..4).filter(|&j| j != i).map(|j| (0..4).filter(|&k| k != i && k != j).map(|k| all[k]).product::<f32>()).sum()
    };
    let (a, b) = ([2.0, 0.0, 1.0, 0.0], [3.0, 5.0, 0.0, 4.0]);
    let wanted = [
        others(a, 0),
        others(a, 1),
        others(b, 0),
        others(b, 1),
        others(a, 2),
        others(a, 3),
        others(b, 2),
        others(b, 3),
    ];
    assert_eq!(second.to_vec::<f32>().expect("floats"), wanted);
}

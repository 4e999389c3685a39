//! Expected values from the wheel: `mx.arange(..)` and the like on its CPU device.

use super::*;
use crate::ops::views::tests::on_each_device;

#[test]
fn the_type_of_a_range_follows_its_numbers() {
    let dtype = |x: Result<Array>| x.expect("a range").dtype();
    assert_eq!(dtype(arange(0, 5, 1, None)), Dtype::I32);
    assert_eq!(dtype(arange(0, 5.0, 1, None)), Dtype::F32);
    assert_eq!(dtype(arange(0, 1i64 << 33, 1i64 << 31, None)), Dtype::I64);
    assert_eq!(dtype(arange(0, 5, 1, Some(Dtype::F16))), Dtype::F16);
}

#[test]
fn ranges_count_up_down_and_to_nothing() {
    on_each_device(|| {
        assert_eq!(arange(0, 5, 2, None).expect("a range").to_vec::<i32>().expect("ints"), [0, 2, 4]);
        assert_eq!(arange(5, 0, -2, None).expect("a range").to_vec::<i32>().expect("ints"), [5, 3, 1]);
        assert_eq!(arange(0, -3, 1, None).expect("a range").shape(), [0]);
        assert_eq!(
            arange(300, 305, 1, Some(Dtype::U8)).expect("a range").to_vec::<u8>().expect("bytes"),
            [44, 45, 46, 47, 48]
        );
        assert_eq!(arange(0, 2, 0.5, Some(Dtype::I32)).expect("a range").to_vec::<i32>().expect("ints"), [0; 4]);
    });
}

#[test]
fn a_range_of_floats_adds_its_step_on_the_cpu_as_the_wheel_does() {
    let stream = crate::default_stream(crate::Device::CPU).expect("a stream");
    let x = crate::with_stream(stream, || arange(0, 1, 0.1, None)).expect("a range").to_vec::<f32>().expect("floats");
    assert_eq!(x[..8], [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.70000005]);
}

#[test]
fn impossible_ranges_are_errors() {
    for (start, stop, step) in [(0.0, 5.0, 0.0), (0.0, f64::INFINITY, 1.0), (0.0, f64::NAN, 1.0), (0.0, 1e10, 1.0)] {
        assert!(matches!(arange(start, stop, step, None), Err(Error::Value(_))), "{start} {stop} {step}");
    }
    assert!(matches!(arange(0, 5, 1, Some(Dtype::Bool)), Err(Error::Value(_))));
}

#[test]
fn evenly_spaced_numbers_round_as_the_wheels() {
    on_each_device(|| {
        let x = linspace(-3.3, 7.7, 7, true, Dtype::F32).expect("numbers").to_vec::<f32>().expect("floats");
        assert_eq!(x, [-3.3, -1.4666667, 0.3666668, 2.1999998, 4.0333333, 5.8666663, 7.7]);
        let x = linspace(0, 10, 5, true, Dtype::I32).expect("numbers").to_vec::<i32>().expect("ints");
        assert_eq!(x, [0, 2, 5, 7, 10]);
        assert_eq!(linspace(2, 1, 1, true, Dtype::F32).expect("one").to_vec::<f32>().expect("floats"), [2.0]);
    });
}

#[test]
fn ones_stand_on_and_below_diagonals() {
    on_each_device(|| {
        let x = eye(3, Some(4), 1, Dtype::F32).expect("a matrix").to_vec::<f32>().expect("floats");
        assert_eq!(x, [0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.]);
        let x = tri(3, Some(4), 1, Dtype::I8).expect("a matrix").to_vec::<i8>().expect("bytes");
        assert_eq!(x, [1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1]);
        assert_eq!(tri(-1, None, 0, Dtype::F32).expect("empty").shape(), [0, 0]);
    });
    assert!(matches!(eye(-1, None, 0, Dtype::F32), Err(Error::Value(_))));
}

#[test]
fn triangles_of_every_matrix_of_a_batch() {
    on_each_device(|| {
        let x = Array::from_slice(&(1..=12).collect::<Vec<i32>>(), &[2, 2, 3]).expect("twelve");
        assert_eq!(
            tril(&x, 0).expect("it works").to_vec::<i32>().expect("ints"),
            [1, 0, 0, 4, 5, 0, 7, 0, 0, 10, 11, 0]
        );
        assert_eq!(
            triu(&x, 1).expect("it works").to_vec::<i32>().expect("ints"),
            [0, 2, 3, 0, 0, 6, 0, 8, 9, 0, 0, 12]
        );
    });
}

#[test]
fn diagonals_come_and_go() {
    on_each_device(|| {
        let v = Array::from_slice(&[1i32, 2], &[2]).expect("two");
        let up = diag(&v, 1).expect("a matrix");
        assert_eq!(up.to_vec::<i32>().expect("ints"), [0, 1, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(diag(&up, 1).expect("a vector").to_vec::<i32>().expect("ints"), [1, 2]);
        let x = Array::from_slice(&(0..24).collect::<Vec<i32>>(), &[2, 3, 4]).expect("24");
        let y = diagonal(&x, 0, 0, 2).expect("a diagonal");
        assert_eq!((y.shape(), y.to_vec::<i32>().expect("ints")), (&[3, 2][..], vec![0, 13, 4, 17, 8, 21]));
        assert_eq!(diagonal(&x, 5, 0, 2).expect("empty").shape(), [3, 0]);
    });
}

#[test]
fn grids_swap_their_first_two_axes_unless_told() {
    let [x, y] = [3, 2].map(|n| arange(0, n, 1, None).expect("a range"));
    let both = [x, y];
    let xy = meshgrid(&both, false, Indexing::Cartesian).expect("a grid");
    assert_eq!((xy[0].shape(), xy[0].to_vec::<i32>().expect("ints")), (&[2, 3][..], vec![0, 1, 2, 0, 1, 2]));
    let ij = meshgrid(&both, false, Indexing::Matrix).expect("a grid");
    assert_eq!((ij[1].shape(), ij[1].to_vec::<i32>().expect("ints")), (&[3, 2][..], vec![0, 1, 0, 1, 0, 1]));
}

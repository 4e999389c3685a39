//! The same small graphs on both devices.

use crate::ops::binary::{add, multiply};
use crate::ops::broadcast_to::broadcast_to;
use crate::{Array, Device, Dtype, default_stream, with_stream};

fn on(device: Device, f: impl Fn() -> Array) -> Array {
    let stream = default_stream(device).expect("the device is there");
    with_stream(stream, || {
        let y = f();
        y.eval().expect("it evaluates");
        y
    })
}

#[test]
fn sums_and_products_agree_on_both_devices() {
    for device in crate::device::test_devices() {
        let y = on(device, || {
            let a = Array::from_slice(&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]).expect("six");
            let b = Array::from_slice(&[10f32, 20.0, 30.0], &[3]).expect("three");
            let c = add(&a, &b).expect("they add");
            multiply(&c, 2.0).expect("they multiply")
        });
        assert_eq!(y.to_vec::<f32>().expect("floats"), [22.0, 44.0, 66.0, 28.0, 50.0, 72.0], "{device}");
    }
}

#[test]
fn a_long_chain_is_right_and_drops() {
    for device in crate::device::test_devices() {
        let y = on(device, || {
            let mut x = Array::from_slice(&[1i32; 4], &[4]).expect("four");
            for _ in 0..1000 {
                x = add(&x, 1).expect("they add");
            }
            x
        });
        assert_eq!(y.to_vec::<i32>().expect("ints"), [1001; 4], "{device}");
    }
}

#[test]
fn a_broadcast_result_is_read_in_order() {
    let x = Array::from_slice(&[1u8, 2], &[2, 1]).expect("two");
    let y = broadcast_to(&x, &[2, 3]).expect("it fits");
    assert_eq!(y.to_vec::<u8>().expect("bytes"), [1, 1, 1, 2, 2, 2]);
    assert_eq!(y.dtype(), Dtype::U8);
}

#[test]
fn a_hundred_thousand_nodes_drop_without_recursion() {
    let mut x = Array::scalar(1f32);
    for _ in 0..100_000 {
        x = add(&x, 1.0).expect("they add");
    }
    drop(x);
}

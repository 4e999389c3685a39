//! Expected values from the wheel, with `mx.random.key(0)` where nothing else is said, on its CPU device.

use super::*;
use crate::array::Array;
use crate::error::{Error, Result};
use crate::ops::views::tests::on_each_device;
use crate::transforms::vmap;

fn zero() -> Array {
    key(0).expect("a key")
}

fn floats(x: Result<Array>) -> Vec<f32> {
    x.expect("numbers").to_vec().expect("floats")
}

#[test]
fn a_key_is_the_two_halves_of_its_seed() {
    assert_eq!(key((1 << 40) + 5).expect("a key").to_vec::<u32>().expect("words"), [256, 5]);
}

#[test]
fn keys_split_into_the_wheels_keys() {
    on_each_device(|| {
        let keys = split(&key(42).expect("a key"), 3).expect("three keys");
        assert_eq!(keys.shape(), [3, 2]);
        let words = keys.to_vec::<u32>().expect("words");
        assert_eq!(words, [3134548294, 3733159049, 3746501087, 894150801, 801545058, 2363201431]);
        let words = split(&zero(), 2).expect("two keys").to_vec::<u32>().expect("words");
        assert_eq!(words, [4146024105, 967050713, 2718843009, 1272950319]);
        assert_eq!(split(&zero(), 0).expect("no keys").shape(), [0, 2]);
    });
}

#[test]
fn narrow_bits_are_the_bytes_of_the_words() {
    on_each_device(|| {
        let wide = bits(&[2], 4, Some(&zero())).expect("bits").to_bytes().expect("bytes");
        for n in [5, 6, 7, 8] {
            let narrow = bits(&[n], 1, Some(&zero())).expect("bits").to_bytes().expect("bytes");
            assert_eq!(narrow, wide[..n as usize], "{n} bytes");
        }
        let halves = bits(&[3], 2, Some(&zero())).expect("bits").to_bytes().expect("bytes");
        assert_eq!(halves, wide[..6]);
    });
}

#[test]
fn uniform_numbers_are_the_wheels_bit_for_bit() {
    on_each_device(|| {
        let four = floats(uniform(0, 1, &[4], Dtype::F32, Some(&zero())));
        assert_eq!(four.map_bits(), [0x3f771f4f, 0x3e669017, 0x3f220e41, 0x3e97bf5c]);
        let five = floats(uniform(-2, 5, &[5], Dtype::F32, Some(&zero())));
        assert_eq!(five.map_bits(), [0x40016052, 0xbfa6ae67, 0x3f408b10, 0x40884bc4, 0x400b4306]);
        let halves = uniform(0, 1, &[3], Dtype::F16, Some(&zero())).expect("numbers").to_bytes().expect("bytes");
        assert_eq!(halves, [0xb9, 0x3b, 0x09, 0x35, 0x10, 0x39]);
        assert_eq!(floats(uniform(0, 1, &[], Dtype::F32, Some(&zero()))), [0.41845712]);
    });
}

trait MapBits {
    fn map_bits(&self) -> Vec<u32>;
}

impl MapBits for Vec<f32> {
    fn map_bits(&self) -> Vec<u32> {
        self.iter().map(|x| x.to_bits()).collect()
    }
}

#[test]
fn a_seeded_thread_makes_the_wheels_numbers_one_call_after_the_other() {
    on_each_device(|| {
        seed(42).expect("a seed");
        assert_eq!(floats(uniform(0, 1, &[2], Dtype::F32, None)).map_bits(), [0x3f74bb30, 0x3ece79be]);
        assert_eq!(floats(uniform(0, 1, &[2], Dtype::F32, None)).map_bits(), [0x3f097fa5, 0x3dd531ad]);
    });
}

#[test]
fn integers_are_the_wheels_and_wrap_as_there() {
    on_each_device(|| {
        let ints = |low, high, n, dtype| {
            let x = randint(low, high, &[n], dtype, Some(&zero())).expect("integers");
            crate::ops::astype::astype(&x, Dtype::I64).expect("they convert").to_vec::<i64>().expect("ints")
        };
        assert_eq!(ints(0, 10, 8, Dtype::I32), [5, 3, 3, 9, 1, 9, 1, 8]);
        assert_eq!(ints(-5, 5, 8, Dtype::I8), [0, -2, -2, 4, -4, 4, -4, 3]);
        assert_eq!(ints(0, 2, 8, Dtype::Bool), [1, 0, 0, 1, 0, 1, 0, 1]);
        assert_eq!(ints(10, 0, 4, Dtype::I32), [10; 4]);
        assert_eq!(ints(0, i32::MAX, 4, Dtype::I32), [2073012096, 483525344, 1359421568, 636475136]);
    });
}

#[test]
fn bools_are_the_wheels() {
    on_each_device(|| {
        let half = bernoulli(0.5, Some(&[5]), Some(&zero())).expect("bools").to_bools().expect("bools");
        assert_eq!(half, [false, true, true, false, false]);
        let p = Array::from_slice(&[0f32, 1.0, 0.5], &[3]).expect("three");
        let own = bernoulli(&p, Some(&[2, 3]), Some(&zero())).expect("bools").to_bools().expect("bools");
        assert_eq!(own, [false, true, false, false, true, true]);
    });
}

#[test]
fn distributions_are_near_the_wheels() {
    let near = |x: Vec<f32>, wheel: &[f32]| {
        let most = wheel.iter().fold(0f32, |most, x| most.max(x.abs()));
        assert!(x.iter().zip(wheel).all(|(x, w)| (x - w).abs() <= 1e-6 * most), "{x:?} {wheel:?}");
    };
    on_each_device(|| {
        let k = zero();
        near(floats(normal(&[3], Dtype::F32, None, None, Some(&k))), &[1.8160871, -0.482623, 0.33988926]);
        near(
            floats(truncated_normal(-1, 1, Some(&[4]), Dtype::F32, Some(&k))),
            &[0.9065214, -0.4891466, 0.22965012, -0.3558084],
        );
        near(floats(gumbel(&[4], Dtype::F32, Some(&k))), &[3.3440397, -0.39941236, 0.78255236, -0.19565448]);
        near(floats(laplace(&[4], Dtype::F32, None, None, Some(&k))), &[-2.6684885, 0.7978011, -0.30932808, 0.5229594]);
        let z = normal(&[3], Dtype::C64, None, None, Some(&k)).expect("numbers").to_bytes().expect("bytes");
        let wheel = [0.13282588, -0.9074599, 0.4592081, 0.88321877, 0.1728664, -0.08304928];
        near(bytemuck::pod_collect_to_vec(&z), &wheel);
    });
}

#[test]
fn categories_are_the_wheels() {
    let logits = [0.1f32, 2.0, 0.3, 0.7, -1.0, 1.5, 0.2, -0.4, 0.9, 0.0, -2.0, 0.6, 0.4, 1.1, 3.0];
    on_each_device(|| {
        let rows = Array::from_slice(&logits, &[3, 5]).expect("three rows");
        let one = Array::from_slice(&logits[..5], &[1, 5]).expect("one row");
        let pick = |logits: &Array, axis, samples: Samples<'_>| {
            let x = categorical(logits, axis, samples, Some(&zero())).expect("categories");
            (x.shape().to_vec(), x.to_vec::<u32>().expect("words"))
        };
        assert_eq!(pick(&rows, -1, Samples::One), (vec![3], vec![1, 1, 1]));
        assert_eq!(pick(&rows, 0, Samples::One), (vec![5], vec![1, 0, 0, 0, 2]));
        assert_eq!(pick(&rows, -1, Samples::Shape(&[2, 3])), (vec![2, 3], vec![1, 0, 4, 2, 0, 4]));
        assert_eq!(pick(&rows, -1, Samples::Number(4)), (vec![3, 4], vec![4, 1, 2, 0, 0, 0, 4, 4, 4, 3, 4, 2]));
        assert_eq!(pick(&one, -1, Samples::One), (vec![1], vec![1]));
        assert_eq!(pick(&one, -1, Samples::Number(6)), (vec![1, 6], vec![1, 1, 2, 3, 1, 1]));
    });
    let rows = Array::from_slice(&logits, &[3, 5]).expect("three rows");
    assert!(matches!(categorical(&rows, 2, Samples::One, None), Err(Error::Index(_))));
    assert!(matches!(categorical(&rows, -1, Samples::Shape(&[2]), None), Err(Error::Value(_))));
}

#[test]
fn mapped_keys_make_what_each_makes_alone() {
    on_each_device(|| {
        let keys = split(&zero(), 2).expect("two keys");
        let f = |x: &[Array]| Ok(vec![uniform(0, 1, &[3], Dtype::F32, Some(&x[0]))?]);
        let both = vmap(f, [Some(0)], [Some(0)])(&[keys]).expect("it maps");
        let wheel = [0.555248, 0.69474125, 0.2976536, 0.87241435, 0.11105156, 0.27708054];
        assert_eq!(both[0].to_vec::<f32>().expect("floats"), wheel);
    });
}

#[test]
fn what_is_no_key_is_an_error() {
    let not = Array::from_slice(&[1i32, 2], &[2]).expect("two");
    assert!(matches!(bits(&[3], 4, Some(&not)), Err(Error::Value(_))));
    let long = Array::from_slice(&[1u32, 2, 3], &[3]).expect("three");
    assert!(matches!(bits(&[3], 4, Some(&long)), Err(Error::Value(_))));
    assert!(matches!(bits(&[-3], 4, Some(&zero())), Err(Error::Value(_))));
    assert!(matches!(uniform(0, 1, &[3], Dtype::F64, Some(&zero())), Err(Error::Runtime(_))));
    assert!(matches!(uniform(0, 1, &[3], Dtype::I32, Some(&zero())), Err(Error::Value(_))));
    assert!(matches!(randint(0, 1, &[3], Dtype::F32, Some(&zero())), Err(Error::Value(_))));
}

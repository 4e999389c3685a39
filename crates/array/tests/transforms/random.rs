//! Random compositions: derivatives backwards, forwards and mapped against finite differences, in float64 on the CPU.

use pumice::ops::binary::maximum;
use pumice::ops::reduce::sum;
use pumice::ops::views::transpose;
use pumice::{Array, Device, Result, checkpoint, default_stream, grad, jvp, vmap, with_stream};

use crate::total;

const SIZE: i32 = 3;

/// A small generator of repeatable numbers.
#[derive(Clone)]
struct Source(u64);

impl Source {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn matrix(&mut self) -> Array {
        let values: Vec<f64> = (0..SIZE * SIZE).map(|_| self.below(2000) as f64 / 1000.0 - 1.0).collect();
        Array::from_slice(&values, &[SIZE, SIZE]).expect("a square")
    }
}

/// A scalar from two square matrices: ten random steps, each of results of steps before.
fn composition(mut source: Source, inputs: &[Array]) -> Result<Vec<Array>> {
    let mut made = inputs.to_vec();
    for _ in 0..10 {
        let a = made[source.below(made.len())].clone();
        let b = made[source.below(made.len())].clone();
        made.push(match source.below(9) {
            0 => &a + &b,
            1 => &a * &b,
            2 => &a - &transpose(&b, None)?,
            3 => a.sin()?,
            4 => a.tanh()?,
            5 => maximum(&a, &b)?,
            6 => &a * &sum(&b, Some(&[0]), true)?,
            7 => (&a.square()? + 1.0).log()?,
            _ => checkpoint(|x: &[Array]| Ok(vec![&x[0].cos()? * &x[1]]))(&[a, b])?.remove(0),
        });
    }
    Ok(vec![total(&made[made.len() - 1].tanh()?)?])
}

fn dot(a: &Array, b: &Array) -> f64 {
    total(&(a * b)).expect("a sum").item().expect("a double")
}

fn check_composition(seed: u64) {
    let mut source = Source(seed);
    let (x, v) = ([source.matrix(), source.matrix()], [source.matrix(), source.matrix()]);
    let f = |x: &[Array]| composition(source.clone(), x);
    let at = |step: f64| {
        let moved: Vec<Array> = x.iter().zip(&v).map(|(x, v)| x + &(v * step)).collect();
        f(&moved).expect("a composition")[0].item::<f64>().expect("a double")
    };
    let step = 1e-5;
    let wanted = (at(step) - at(-step)) / (2.0 * step);
    let gradients = grad(f, &[0, 1])(&x).expect("it has gradients");
    let backward = dot(&gradients[0], &v[0]) + dot(&gradients[1], &v[1]);
    let forward: f64 = jvp(f, &x, &v).expect("it has a jvp").1[0].item().expect("a double");
    let allowed = 1e-6 * (1.0 + wanted.abs());
    assert!((backward - wanted).abs() < allowed, "seed {seed}: backwards {backward} instead of {wanted}");
    assert!((forward - backward).abs() < 1e-10 * (1.0 + wanted.abs()), "seed {seed}: {forward} is not {backward}");
    // A map over the matrix's own rows as the batch: three gradients at once, each what it is alone.
    let single = grad(|row: &[Array]| f(&[&x[0] * &row[0], x[1].clone()]), &[0]);
    let mapped = vmap(&single, 0, 0)(&[v[0].clone()]).expect("it maps");
    let all = mapped[0].to_vec::<f64>().expect("doubles");
    let rows = v[0].to_vec::<f64>().expect("doubles");
    for (row, found) in rows.chunks(SIZE as usize).zip(all.chunks(SIZE as usize)) {
        let row = Array::from_slice(row, &[SIZE]).expect("a row");
        let alone = single(&[row]).expect("a gradient")[0].to_vec::<f64>().expect("doubles");
        let close = found.iter().zip(&alone).all(|(a, b)| (a - b).abs() < 1e-10 * (1.0 + b.abs()));
        assert!(close, "seed {seed}: mapped {found:?} instead of {alone:?}");
    }
}

#[test]
fn derivatives_of_random_compositions_agree_with_finite_differences() {
    let cpu = default_stream(Device::CPU).expect("always there");
    with_stream(cpu, || (1..=40).for_each(check_composition));
}

//! Random numbers as MLX makes them, bit for bit: Threefry keys, and what is made of their bits.
//!
//! A key is two uint32. The same key gives the same numbers on every device. Without a key, a thread's own one is split
//! for every call, so that calls differ.

mod bits;
mod categorical;
mod continuous;
mod discrete;
mod key;
#[cfg(test)]
mod tests;
mod threefry;

pub use bits::bits;
pub use categorical::{Samples, categorical};
pub use continuous::{gumbel, laplace, normal, truncated_normal, uniform};
pub use discrete::{bernoulli, randint};
pub(crate) use key::forget;
pub use key::{key, seed, set_state, split, state};

use crate::dtype::Dtype;
use crate::ops::catalogue::{Case, Entry, Sample};

pub(crate) fn entries() -> Vec<Entry> {
    let key = || Sample::within(&[2], 0.0, 100.0).of(Dtype::U32);
    let case = |shape: &'static [i32], width: usize| Case {
        name: format!("{width} bytes of {shape:?}"),
        inputs: vec![key()],
        dtypes: &[Dtype::U32],
        call: Box::new(move |x| Ok(vec![bits(shape, width, Some(&x[0]))?])),
        differentiable: false,
    };
    let shapes: [&[i32]; 4] = [&[], &[3, 5], &[16], &[0, 2]];
    let cases = shapes.into_iter().flat_map(|shape| [1, 2, 4].map(|width| case(shape, width))).collect();
    let bits = Entry { name: "bits", doc: "Random bits.", cases };
    std::iter::once(bits)
        .chain(continuous::entries(key))
        .chain(discrete::entries(key))
        .chain(categorical::entries(key))
        .collect()
}

//! `stop_gradient(x)`: the same array, through which no derivative goes.

use smallvec::smallvec;

use crate::array::{Array, call_one};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::op::{At, Key, Lowering, Op, Place, Specs, View, expect_inputs};
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::zeros_like;
use crate::shape::{Layout, Spec};

/// The array as a constant: derivatives do not go through it.
pub fn stop_gradient(x: &Array) -> Result<Array> {
    call_one(StopGradient, [x.clone()])
}

#[derive(Debug)]
struct StopGradient;

impl Op for StopGradient {
    fn name(&self) -> &'static str {
        "stop_gradient"
    }

    fn key(&self, _: &mut Key) {}

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), inputs)?;
        Ok(smallvec![x])
    }

    fn vjp(&self, _: &At<'_>, _: &[Array]) -> Result<Vec<Option<Array>>> {
        Ok(vec![None])
    }

    fn jvp(&self, at: &At<'_>, _: &[Option<Array>]) -> Result<Vec<Array>> {
        Ok(vec![zeros_like(&at.outputs[0])?])
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        Ok(vec![(stop_gradient(&inputs[0])?, axes[0])])
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::View(self)
    }
}

impl View for StopGradient {
    fn view(&self, input: &Layout, _: &Spec) -> Option<Layout> {
        Some(input.clone())
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let case = |shape: &[i32]| Case {
        name: format!("{} axes", shape.len()),
        inputs: vec![Sample::new(shape)],
        dtypes: &Dtype::ALL,
        call: Box::new(|x| Ok(vec![stop_gradient(&x[0])?])),
        differentiable: false,
    };
    let cases = vec![case(&[3, 5]), case(&[]), case(&[0, 2])];
    vec![Entry { name: "stop_gradient", doc: "The array as a constant to derivatives.", cases }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::binary::multiply;
    use crate::transforms::vjp;

    #[test]
    fn no_derivative_goes_through_it() {
        let x = Array::from_slice(&[2f32, 3.0], &[2]).expect("two");
        let one = Array::from_slice(&[1f32, 1.0], &[2]).expect("two");
        let square = |x: &[Array]| Ok(vec![multiply(&x[0], stop_gradient(&x[0])?)?]);
        let (_, gradients) = vjp(square, &[x], &[one]).expect("products have derivatives");
        assert_eq!(gradients[0].to_vec::<f32>().expect("floats"), [2.0, 3.0]);
    }
}

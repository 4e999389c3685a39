//! An op of one's own: what it means, a faster way to compute it, and derivatives that follow by themselves.
//! `cargo run --release --example custom_op`

use pumice::op::{Element, Key, Lowering, Map, Op, Place, Specs, apply, expect_inputs};
use pumice::ops::reduce::sum;
use pumice::typed::Typed;
use pumice::{Array, Dtype, Error, Result, Spec, eval, grad, vmap};

/// `x · sigmoid(βx)`, element by element.
fn swish(x: &Array, beta: f32) -> Result<Array> {
    Ok(apply(Swish { beta }, std::slice::from_ref(x))?.remove(0))
}

#[derive(Debug)]
struct Swish {
    beta: f32,
}

impl Op for Swish {
    fn name(&self) -> &'static str {
        "swish"
    }

    // What tells one swish from another: equal keys mean equal kernels.
    fn key(&self, key: &mut Key) {
        key.float(self.beta.into());
    }

    // Shape and type of the result, or the user's error.
    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), inputs)?;
        if !x.dtype.is_floating() {
            return Err(Error::Value(format!("[swish] x must be of floats but is of {}.", x.dtype)));
        }
        Ok([x].into_iter().collect())
    }

    // What it means. Derivatives and `vmap` follow from this.
    fn decompose(&self, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
        let x = &inputs[0];
        Ok(Some(vec![x.multiply((x * self.beta).sigmoid()?)?]))
    }

    // How it is computed: element by element, alone or fused with its neighbours. Doubles are computed by what it means.
    fn lower(&self, place: &Place<'_>) -> Lowering<'_> {
        match place.inputs[0].dtype {
            Dtype::F64 => Lowering::Decompose,
            _ => Lowering::Map(self),
        }
    }
}

impl Map for Swish {
    fn map<'k>(&self, _: &Element<'k>, inputs: &[Typed<'k>]) -> Typed<'k> {
        let x = inputs[0];
        x * (x * x.like(self.beta.into())).sigmoid()
    }
}

fn main() -> Result<()> {
    let x = Array::from_slice(&[-2f32, -0.5, 0.0, 1.0, 3.0], &[5])?;
    println!("swish          {:?}", swish(&x, 1.5)?.to_vec::<f32>()?);

    eval::set_disabled("swish", true);
    println!("what it means  {:?}", swish(&x, 1.5)?.to_vec::<f32>()?);
    eval::set_disabled("swish", false);

    let total = |x: &[Array]| Ok(vec![sum(&swish(&x[0], 1.5)?, None, false)?]);
    println!("derivatives    {:?}", grad(total, &[0])(std::slice::from_ref(&x))?[0].to_vec::<f32>()?);

    let each = vmap(grad(|x: &[Array]| Ok(vec![swish(&x[0], 1.5)?]), &[0]), 0, 0);
    println!("one by one     {:?}", each(&[x])?[0].to_vec::<f32>()?);
    Ok(())
}

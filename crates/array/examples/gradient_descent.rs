//! A line through points by gradient descent. `cargo run --release --example gradient_descent`

use pumice::ops::reduce::sum;
use pumice::{Array, Result, compile, eval, value_and_grad};

/// The mean squared distance of `slope · x + offset` from `y`.
fn loss(inputs: &[Array]) -> Result<Vec<Array>> {
    let [slope, offset, x, y] = inputs else { unreachable!("it is called with four") };
    let distance = &(&(slope * x) + offset) - y;
    Ok(vec![&sum(&distance.square()?, None, false)? / x.size() as f32])
}

fn main() -> Result<()> {
    let x: Vec<f32> = (0..100).map(|i| i as f32 / 50.0 - 1.0).collect();
    let y: Vec<f32> = x.iter().map(|x| 3.0 * x - 0.5).collect();
    let (x, y) = (Array::from_slice(&x, &[100])?, Array::from_slice(&y, &[100])?);

    // One step: the loss, and both numbers moved against their derivatives. Compiled, it is traced once.
    let differentiate = value_and_grad(loss, &[0, 1]);
    let step = compile(move |inputs: &[Array]| {
        let (value, gradients) = differentiate(inputs)?;
        let moved = |i: usize| &inputs[i] - &(&gradients[i] * 0.5);
        Ok(vec![moved(0), moved(1), value[0].clone()])
    });

    let (mut slope, mut offset) = (Array::scalar(0f32), Array::scalar(0f32));
    for round in 0..50 {
        let results = step(&[slope, offset, x.clone(), y.clone()])?;
        eval(&results)?;
        if round % 10 == 0 {
            println!("round {round}: loss {}", results[2].item::<f32>()?);
        }
        (slope, offset) = (results[0].clone(), results[1].clone());
    }
    println!("y = {} x + {}", slope.item::<f32>()?, offset.item::<f32>()?);
    Ok(())
}

//! Arrays in a minute: made, combined, looked at. `cargo run --release --example first_array`

use pumice::ops::create::arange;
use pumice::ops::reduce::sum;
use pumice::ops::views::reshape;
use pumice::{Array, Dtype, Result, default_device};

fn main() -> Result<()> {
    println!("computing on {}", default_device());

    let a = Array::from_slice(&[1f32, 2.0, 3.0], &[3])?;
    let b = reshape(&arange(0.0, 6.0, 1.0, Some(Dtype::F32))?, &[2, 3])?;

    // Nothing is computed yet: `c` knows its shape and type, and what it is made of. Shapes broadcast, numbers take the array's type.
    let c = &(&a * &b) + 1.0;
    println!("{c:?}");

    // Looking at it computes it; once such a graph has come by, the product and the sum are one kernel.
    println!("{:?}", c.to_vec::<f32>()?);
    println!("rows sum to {:?}", sum(&c, Some(&[1]), false)?.to_vec::<f32>()?);

    // What cannot be is told when it is written, not when it is computed.
    let error = a.add(&Array::from_slice(&[1f32, 2.0], &[2])?).expect_err("three and two do not fit");
    println!("{error}");
    Ok(())
}

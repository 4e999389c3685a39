//! Random kernels: long chains and branches make registers share slots.

use std::cell::RefCell;

use pumice_kernel::{Builder, Elem, Kernel, Scalar, Val};

use super::{Bits, agree, map};

const SCALARS: [Scalar; 5] = [Scalar::F32, Scalar::I32, Scalar::I64, Scalar::F64, Scalar::Bool];

fn below(bits: &RefCell<Bits>, n: usize) -> usize {
    bits.borrow_mut().below(n)
}

fn step<'k>(bits: &RefCell<Bits>, pool: &[Val<'k>]) -> Val<'k> {
    let a = pool[below(bits, pool.len())];
    let alike: Vec<Val<'k>> = pool.iter().copied().filter(|v| v.ty() == a.ty()).collect();
    let b = alike[below(bits, alike.len())];
    let scalar = a.ty().scalar().expect("there are no matrices");
    match (scalar, below(bits, 8)) {
        (Scalar::Bool, 0..3) => a & b,
        (Scalar::Bool, _) => a.select(pool[0], pool[0] * 0.5),
        (_, 0) => a.lt(b),
        (_, 1) => a - b,
        (_, 2) => a * b,
        (_, 3) => a.lt(b).select(b, a),
        (Scalar::F32, 4) => a.fma(b, a),
        (Scalar::F32, 5) => a.floor().to(Scalar::I32),
        (Scalar::F64, 4) => a.to(Scalar::F32),
        (Scalar::I32, 4) => a.to(Scalar::I64) << 3,
        (Scalar::I32, 5) => a.to(Scalar::F64),
        (Scalar::I64, 4) => a.to(Scalar::I32) ^ 5,
        _ => a + b,
    }
}

/// The last value of each type.
fn last<'k>(pool: &[Val<'k>], scalar: Scalar) -> Val<'k> {
    let found = pool.iter().rev().find(|v| v.ty().scalar() == Some(scalar));
    found.copied().unwrap_or_else(|| pool[0].to(scalar))
}

/// Appends values to a pool: most by an instruction, some by a branch or a loop.
fn grow<'k>(k: &'k Builder, bits: &RefCell<Bits>, pool: &mut Vec<Val<'k>>, statements: usize, depth: usize) {
    for _ in 0..statements {
        let side = |pool: &[Val<'k>]| {
            let mut pool = pool.to_vec();
            grow(k, bits, &mut pool, 4, depth - 1);
            [last(&pool, Scalar::F32), last(&pool, Scalar::I32), last(&pool, Scalar::F64)].to_vec()
        };
        match below(bits, 10) {
            0 if depth > 0 => {
                let condition = last(pool, Scalar::Bool);
                let values = k.if_(condition, || side(pool), || side(pool));
                pool.extend(values);
            }
            1 if depth > 0 => {
                let init = [last(pool, Scalar::F32), last(pool, Scalar::I32), last(pool, Scalar::F64)].to_vec();
                let end = last(pool, Scalar::I32) & 3;
                let values = k.for_(0, end, 1, init, |i, carried| {
                    let inner = [&pool[..], &carried, &[i]].concat();
                    side(&inner)
                });
                pool.extend(values);
            }
            _ => pool.push(step(bits, pool)),
        }
    }
}

fn kernel(seed: u64) -> Kernel {
    let bits = RefCell::new(Bits(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1));
    for _ in 0..8 {
        bits.borrow_mut().next();
    }
    let outputs = SCALARS.map(Scalar::storage);
    map([Elem::F32, Elem::I32, Elem::BF16, Elem::I64], &outputs, |k, inputs| {
        let mut pool = inputs.to_vec();
        let statements = 10 + below(&bits, 60);
        grow(k, &bits, &mut pool, statements, 2);
        SCALARS.map(|scalar| last(&pool, scalar)).to_vec()
    })
}

#[test]
fn random_kernels_have_the_interpreters_bits() {
    for seed in 1..200 {
        agree(&kernel(seed), 512 + 70);
    }
}

//! Special values of the mathematical functions, what mistakes say, and what the functions cost.

use pumice_kernel::arguments::Argument;
use pumice_kernel::interpret::{Launch, Memory, run};
use pumice_kernel::ir::{Block, Op, UnaryOp};
use pumice_kernel::math::catalogue::{Form, MathFunction, table};
use pumice_kernel::{Elem, Kernel};

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;

fn function(name: &str) -> &'static MathFunction {
    table().iter().find(|f| f.name == name).unwrap_or_else(|| panic!("{name} is in the catalogue"))
}

/// A function's value in the interpreter.
fn value(name: &str, x: f32, y: f32) -> f32 {
    let kernel = function(name).kernel().expect("the function is well formed");
    let mut memories = [Memory::of(&[x]), Memory::of(&[y]), Memory::zeros(4)];
    let launch = Launch { scalars: &[Argument::I32(1)], ..Launch::default() };
    run(&kernel, &launch, &mut memories).expect("the function runs");
    memories[2].to_vec::<f32>()[0]
}

/// Compares bits; any NaN is a NaN.
fn assert_value(name: &str, x: f32, y: f32, expected: f32) {
    let found = value(name, x, y);
    let same = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
    assert!(same, "{name}({x:?}, {y:?}) must be {expected:?} but is {found:?}");
}

fn assert_values(name: &str, values: &[(f32, f32)]) {
    values.iter().for_each(|&(x, expected)| assert_value(name, x, 0.0, expected));
}

#[test]
fn zeros_keep_their_sign() {
    let odd = ["expm1", "log1p", "sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf", "erfinv"];
    for name in odd {
        assert_values(name, &[(0.0, 0.0), (-0.0, -0.0)]);
    }
}

#[test]
fn denormals_pass_through_odd_functions() {
    let tiny = 1e-45;
    for name in ["expm1", "log1p", "sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh"] {
        assert_values(name, &[(tiny, tiny), (-tiny, -tiny)]);
    }
}

#[test]
fn exponentials_end_where_floats_end() {
    assert_values("exp", &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (88.8, INF), (-104.0, 0.0)]);
    assert_values("exp2", &[(127.0, 2f32.powi(127)), (128.0, INF), (-149.0, 1e-45), (-151.0, 0.0), (NAN, NAN)]);
    assert_values("expm1", &[(-INF, -1.0), (INF, INF), (-20.0, -1.0), (NAN, NAN)]);
    assert_values("sigmoid", &[(0.0, 0.5), (INF, 1.0), (-INF, 0.0), (NAN, NAN)]);
}

#[test]
fn logarithms_know_where_they_are_undefined() {
    for name in ["log", "log2", "log10"] {
        assert_values(name, &[(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (-1.0, NAN), (-INF, NAN), (INF, INF), (NAN, NAN)]);
    }
    assert_values("log1p", &[(-1.0, -INF), (-1.5, NAN), (INF, INF), (-INF, NAN)]);
    assert_values("log2", &[(8.0, 3.0), (1e-45, -149.0), (2f32.powi(127), 127.0)]);
}

#[test]
fn powers_of_the_base_have_whole_logarithms_and_back() {
    for n in 0..11 {
        assert_value("log10", 10f32.powi(n), 0.0, n as f32);
        assert_value("pow", 10.0, n as f32, 10f32.powi(n));
    }
    for n in -149..128 {
        let power = (n as f64).exp2() as f32;
        assert_value("log2", power, 0.0, n as f32);
        assert_value("exp2", n as f32, 0.0, power);
    }
}

#[test]
fn angles_at_infinity_are_nan() {
    for name in ["sin", "cos", "tan"] {
        assert_values(name, &[(INF, NAN), (-INF, NAN), (NAN, NAN)]);
    }
    assert_values("cos", &[(0.0, 1.0), (-0.0, 1.0)]);
}

#[test]
fn inverse_functions_end_at_their_domain() {
    let half_pi = std::f32::consts::FRAC_PI_2;
    assert_values("asin", &[(1.0, half_pi), (-1.0, -half_pi), (1.1, NAN), (-INF, NAN)]);
    assert_values("acos", &[(1.0, 0.0), (-1.0, std::f32::consts::PI), (1.1, NAN), (NAN, NAN)]);
    assert_values("atan", &[(INF, half_pi), (-INF, -half_pi), (NAN, NAN)]);
    assert_values("acosh", &[(1.0, 0.0), (0.5, NAN), (INF, INF), (-INF, NAN)]);
    assert_values("atanh", &[(1.0, INF), (-1.0, -INF), (1.5, NAN)]);
    assert_values("asinh", &[(INF, INF), (-INF, -INF), (NAN, NAN)]);
    assert_values("erfinv", &[(1.0, INF), (-1.0, -INF), (1.5, NAN), (NAN, NAN)]);
}

#[test]
fn saturating_functions_reach_their_limits() {
    assert_values("tanh", &[(INF, 1.0), (-INF, -1.0), (20.0, 1.0), (NAN, NAN)]);
    assert_values("erf", &[(INF, 1.0), (-INF, -1.0), (5.0, 1.0), (NAN, NAN)]);
    assert_values("erfc", &[(INF, 0.0), (-INF, 2.0), (0.0, 1.0), (NAN, NAN)]);
    assert_values("sinh", &[(INF, INF), (-INF, -INF), (NAN, NAN)]);
    assert_values("cosh", &[(0.0, 1.0), (-INF, INF), (NAN, NAN)]);
    assert_values("rsqrt", &[(0.0, INF), (-0.0, -INF), (INF, 0.0), (-1.0, NAN), (4.0, 0.5)]);
}

#[test]
fn gamma_functions_have_poles() {
    assert_values("gamma", &[(0.0, INF), (-0.0, -INF), (-1.0, NAN), (INF, INF), (-INF, NAN), (5.0, 24.0), (36.0, INF)]);
    assert_values("lgamma", &[(0.0, INF), (-1.0, INF), (1.0, 0.0), (2.0, 0.0), (INF, INF), (-INF, INF), (NAN, NAN)]);
    assert_values("digamma", &[(0.0, -INF), (-0.0, INF), (-1.0, NAN), (INF, INF), (-INF, NAN)]);
}

#[test]
fn powers_follow_c() {
    for y in [0.0, -0.0, 1.0, -1.5, INF, -INF, NAN] {
        assert_value("pow", 1.0, y, 1.0);
        assert_value("pow", y, 0.0, 1.0);
    }
    assert_value("pow", -8.0, 3.0, -512.0);
    assert_value("pow", -8.0, 2.0, 64.0);
    assert_value("pow", -8.0, 0.5, NAN);
    assert_value("pow", -1.0, INF, 1.0);
    assert_value("pow", 0.5, INF, 0.0);
    assert_value("pow", 0.5, -INF, INF);
    assert_value("pow", -0.0, -3.0, -INF);
    assert_value("pow", -0.0, -2.0, INF);
    assert_value("pow", -0.0, 3.0, -0.0);
    assert_value("pow", -INF, 3.0, -INF);
    assert_value("pow", -INF, -3.0, -0.0);
    assert_value("pow", 2.0, NAN, NAN);
    assert_value("pow", 10.0, 2.0, 100.0);
}

#[test]
fn atan2_knows_every_quadrant_and_corner() {
    use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    assert_value("atan2", 0.0, 1.0, 0.0);
    assert_value("atan2", -0.0, 1.0, -0.0);
    assert_value("atan2", 0.0, -0.0, PI);
    assert_value("atan2", -0.0, -1.0, -PI);
    assert_value("atan2", 1.0, 0.0, FRAC_PI_2);
    assert_value("atan2", INF, INF, FRAC_PI_4);
    assert_value("atan2", -INF, 1.0, -FRAC_PI_2);
    assert_value("atan2", 1.0, INF, 0.0);
    assert_value("atan2", NAN, 1.0, NAN);
}

#[test]
fn remainders_have_the_sign_their_language_gives_them() {
    assert_value("fmod", -7.0, 3.0, -1.0);
    assert_value("fmod", 7.0, -3.0, 1.0);
    assert_value("remainder", -7.0, 3.0, 2.0);
    assert_value("remainder", 7.0, -3.0, -2.0);
    assert_value("floor_div", -7.0, 3.0, -3.0);
    assert_value("floor_div", 7.0, -3.0, -3.0);
    assert_value("floor_div", 1.0, 0.0, INF);
    assert_value("fmod", 1.0, 0.0, NAN);
    assert_value("fmod", INF, 2.0, NAN);
    assert_value("fmod", 5.0, INF, 5.0);
    assert_value("fmod", f32::MAX, 1e-45, 0.0);
    assert_value("floor_div", -1.0, INF, -1.0);
}

#[test]
fn infinity_wins_over_nan_in_hypot_alone() {
    assert_value("hypot", INF, NAN, INF);
    assert_value("hypot", NAN, 1.0, NAN);
    let large = 2f32.powi(125);
    assert_value("hypot", 3.0 * large, 4.0 * large, 5.0 * large);
    assert_value("logaddexp", -INF, -INF, -INF);
    assert_value("logaddexp", INF, INF, INF);
    assert_value("logaddexp", -INF, 2.0, 2.0);
    assert_value("logaddexp", NAN, 2.0, NAN);
}

#[test]
fn classes_of_floats_are_told_apart() {
    let kernel = Kernel::build("classes", [1, 1, 1], |k| {
        let (x, out) = (k.input("x", Elem::F32), k.output("out", Elem::Bool));
        let x = x.load(k.group_id(0));
        out.store(k.group_id(0) * 3, x.is_nan());
        out.store(k.group_id(0) * 3 + 1, x.is_inf());
        out.store(k.group_id(0) * 3 + 2, x.is_finite());
    })
    .expect("the kernel is well formed");
    let mut memories = [Memory::of(&[NAN, -INF, 1.0f32]), Memory::zeros(9)];
    run(&kernel, &Launch { groups: [3, 1, 1], ..Launch::default() }, &mut memories).expect("the kernel runs");
    assert_eq!(memories[1].bytes(), [1, 0, 0, 0, 1, 0, 0, 0, 1]);
}

#[test]
fn a_function_of_an_integer_is_an_error_at_the_callers_line() {
    let line = line!() + 1;
    let built = Kernel::build("wrong", [1, 1, 1], |k| _ = k.i32(1).exp());
    let text = built.expect_err("exp takes floats").to_string();
    assert!(text.contains("exp takes f32 but was given i32"), "{text}");
    assert!(text.contains(&format!("math_special.rs:{line}")), "{text}");
}

/// Instructions that cost something. Constants, bitcasts and negations, which are an operand's modifier, do not; the
/// second block of an `if`, the rare one in the reduction of angles, is left out.
fn cost(block: &Block) -> usize {
    let of = |op: &Op| match op {
        Op::Unary(UnaryOp::Neg, _)
        | Op::Const(_)
        | Op::Bitcast(_)
        | Op::Builtin(_)
        | Op::Arg { .. }
        | Op::Load { .. }
        | Op::Store { .. } => 0,
        Op::If { then, .. } => 1 + cost(then),
        _ => 1,
    };
    block.insts.iter().map(|inst| of(&inst.op)).sum()
}

fn cost_of(name: &str) -> usize {
    let Form::Unary { build, .. } = function(name).form else { panic!("{name} takes one number") };
    let kernel = Kernel::build(name, [1, 1, 1], |k| {
        let (x, out) = (k.input("x", Elem::F32), k.output("out", Elem::F32));
        let at = k.i32(0);
        out.store(at, build(x.load(at)));
    })
    .expect("the function is well formed");
    cost(&kernel.body)
}

#[test]
fn functions_of_fused_kernels_stay_cheap() {
    for (name, most) in [("exp", 25), ("log", 30), ("tanh", 35), ("erf", 36), ("sin", 35), ("cos", 35), ("sigmoid", 50)]
    {
        let found = cost_of(name);
        println!("{name}: {found} instructions");
        assert!(found <= most, "{name} must take at most {most} instructions but takes {found}");
    }
}

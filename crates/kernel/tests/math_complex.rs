//! Complex functions agree with f64 arithmetic by other formulas, against the magnitude of the result.

use pumice_kernel::arguments::Argument;
use pumice_kernel::interpret::{Launch, Memory, run};
use pumice_kernel::math::complex::Complex;
use pumice_kernel::{Elem, Kernel};

/// A complex number in f64: the reference.
#[derive(Clone, Copy, Debug)]
struct Exact(f64, f64);

impl Exact {
    fn plus(self, b: Exact) -> Exact {
        Exact(self.0 + b.0, self.1 + b.1)
    }
    fn times(self, b: Exact) -> Exact {
        Exact(self.0 * b.0 - self.1 * b.1, self.0 * b.1 + self.1 * b.0)
    }
    fn over(self, b: Exact) -> Exact {
        let square = b.0 * b.0 + b.1 * b.1;
        Exact((self.0 * b.0 + self.1 * b.1) / square, (self.1 * b.0 - self.0 * b.1) / square)
    }
    fn abs(self) -> f64 {
        self.0.hypot(self.1)
    }
    fn exp(self) -> Exact {
        Exact(self.0.exp() * self.1.cos(), self.0.exp() * self.1.sin())
    }
    fn log(self) -> Exact {
        let square = self.0 * self.0 + self.1 * self.1;
        let near = if (square - 1.0).abs() < 0.5 {
            let (high, low) = (self.0.abs().max(self.1.abs()), self.0.abs().min(self.1.abs()));
            ((high - 1.0) * (high + 1.0) + low * low).ln_1p() / 2.0
        } else {
            self.abs().ln()
        };
        Exact(near, self.1.atan2(self.0))
    }
    fn sqrt(self) -> Exact {
        let (r, angle) = (self.abs().sqrt(), self.1.atan2(self.0) / 2.0);
        Exact(r * angle.cos(), r * angle.sin())
    }
    fn sinh(self) -> Exact {
        Exact(self.0.sinh() * self.1.cos(), self.0.cosh() * self.1.sin())
    }
    fn cosh(self) -> Exact {
        Exact(self.0.cosh() * self.1.cos(), self.0.sinh() * self.1.sin())
    }
    /// log(z + sqrt(z² + 1)), which is also -log(sqrt(z² + 1) - z): the larger of the two does not cancel.
    fn asinh(self) -> Exact {
        if self.abs() < 0.1 {
            return self.series_asinh();
        }
        // 1 + z² = (1 - iz) (1 + iz)
        let root = Exact(1.0 + self.1, -self.0).sqrt().times(Exact(1.0 - self.1, self.0).sqrt());
        let (sum, difference) = (root.plus(self), root.plus(Exact(-self.0, -self.1)));
        if sum.abs() > difference.abs() {
            return sum.log();
        }
        let y = difference.log();
        Exact(-y.0, -y.1)
    }
    fn series_asinh(self) -> Exact {
        let square = self.times(self);
        let mut term = self;
        let mut sum = self;
        for n in 0..30 {
            let n = n as f64;
            let factor = -(2.0 * n + 1.0) * (2.0 * n + 1.0) / ((2.0 * n + 2.0) * (2.0 * n + 3.0));
            term = term.times(square).times(Exact(factor, 0.0));
            sum = sum.plus(term);
        }
        sum
    }
    fn times_i(self) -> Exact {
        Exact(-self.1, self.0)
    }
    fn over_i(self) -> Exact {
        Exact(self.1, -self.0)
    }
    fn acos(self) -> Exact {
        let y = self.times_i().asinh().over_i();
        Exact(std::f64::consts::FRAC_PI_2 - y.0, -y.1)
    }
    /// ±i acos(z): the angle has the sign of the imaginary part.
    fn acosh(self) -> Exact {
        let y = self.acos();
        if self.1.is_sign_positive() { Exact(-y.1, y.0) } else { Exact(y.1, -y.0) }
    }
    /// log((1 + z) / (1 - z)) / 2
    fn atanh(self) -> Exact {
        if self.abs() < 0.1 {
            let square = self.times(self);
            let (mut power, mut sum) = (self, self);
            for n in 1..20 {
                power = power.times(square);
                sum = sum.plus(power.times(Exact(1.0 / (2.0 * n as f64 + 1.0), 0.0)));
            }
            return sum;
        }
        let y = Exact(1.0 + self.0, self.1).over(Exact(1.0 - self.0, -self.1)).log();
        Exact(y.0 / 2.0, y.1 / 2.0)
    }
}

type Build = for<'k> fn(Complex<'k>, Complex<'k>) -> Complex<'k>;
type Reference = fn(Exact, Exact) -> Exact;

/// Runs a function in the interpreter over pairs of complex numbers.
fn interpreted(build: Build, numbers: &[[f32; 4]]) -> Vec<[f32; 2]> {
    let kernel = Kernel::build("complex", [64, 1, 1], |k| {
        let (z, out, n) = (k.input("z", Elem::C64), k.output("out", Elem::C64), k.arg_i32("n"));
        k.each(n, |i| {
            let (a, b) = (Complex::of(z.load(i * 2)), Complex::of(z.load(i * 2 + 1)));
            out.store(i, build(a, b).vector());
        });
    })
    .expect("the kernel is well formed");
    let mut memories = [Memory::of(numbers.as_flattened()), Memory::zeros(8 * numbers.len())];
    let scalars = [Argument::I32(numbers.len() as i32)];
    let groups = (numbers.len() as u32).div_ceil(64);
    run(&kernel, &Launch { groups: [groups, 1, 1], scalars: &scalars, ..Launch::default() }, &mut memories)
        .expect("the kernel runs");
    memories[1].to_vec::<f32>().chunks_exact(2).map(|z| [z[0], z[1]]).collect()
}

/// Numbers with magnitudes between two powers of two and any angle, some of them on an axis or near the unit circle.
fn numbers(low: i32, high: i32) -> Vec<[f32; 4]> {
    let mut state = 0x1234_5678_9abc_def1u64;
    let mut unit = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut number = |i: usize| {
        let exponent = low as f64 + (high - low) as f64 * unit();
        let r = if i.is_multiple_of(5) { 1.0 + (unit() - 0.5) * 1e-3 } else { 2f64.powf(exponent) };
        let angle = if i.is_multiple_of(7) { 0.0 } else { std::f64::consts::TAU * unit() };
        [(r * angle.cos()) as f32, (r * angle.sin()) as f32]
    };
    (0..20_000)
        .map(|i| {
            let (a, b) = (number(i), number(i / 5));
            [a[0], a[1], b[0], b[1]]
        })
        .collect()
}

/// The largest error in units in the last place of the magnitude.
fn worst(build: Build, reference: Reference, numbers: &[[f32; 4]]) -> (f64, [f32; 4]) {
    let found = interpreted(build, numbers);
    let errors = numbers.iter().zip(found).map(|(z, f)| {
        let part = |i: usize| z[i] as f64;
        let expected = reference(Exact(part(0), part(1)), Exact(part(2), part(3)));
        let magnitude = expected.abs().max(f32::MIN_POSITIVE as f64);
        let unit = 2f64.powi(magnitude.log2().floor() as i32 - 23);
        let error = (f[0] as f64 - expected.0).hypot(f[1] as f64 - expected.1) / unit;
        (if error.is_nan() { f64::INFINITY } else { error }, *z)
    });
    errors.max_by(|a, b| a.0.total_cmp(&b.0)).expect("there are numbers")
}

fn assert_close(name: &str, bound: f64, range: (i32, i32), build: Build, reference: Reference) {
    let (error, z) = worst(build, reference, &numbers(range.0, range.1));
    println!("complex {name:8} worst {error:.2} at {z:?}");
    assert!(error <= bound, "{name} must be within {bound} ulp but is {error} off at {z:?}");
}

#[test]
fn arithmetic_is_close_over_the_whole_range() {
    assert_close("mul", 2.0, (-60, 60), |a, b| a * b, Exact::times);
    assert_close("div", 4.0, (-60, 60), |a, b| a / b, Exact::over);
    assert_close("sqrt", 3.0, (-120, 126), |a, _| a.sqrt(), |a, _| a.sqrt());
    assert_close("abs", 2.0, (-120, 126), |a, _| Complex::real(a.abs()), |a, _| Exact(a.abs(), 0.0));
    assert_close("sign", 3.0, (-120, 126), |a, _| a.sign(), |a, _| Exact(a.0 / a.abs(), a.1 / a.abs()));
    assert_close("square", 2.0, (-60, 60), |a, _| a.square(), |a, _| a.times(a));
    assert_close("recip", 4.0, (-120, 120), |a, _| a.reciprocal(), |a, _| Exact(1.0, 0.0).over(a));
}

#[test]
fn exponentials_and_logarithms_are_close() {
    assert_close("exp", 4.0, (-20, 6), |a, _| a.exp(), |a, _| a.exp());
    assert_close("log", 4.0, (-120, 126), |a, _| a.log(), |a, _| a.log());
    assert_close(
        "log1p",
        4.0,
        (-30, 20),
        |a, _| a.log1p(),
        |a, _| if a.abs() < 1e-3 { series_log1p(a) } else { Exact(1.0 + a.0, a.1).log() },
    );
    assert_close(
        "expm1",
        5.0,
        (-20, 5),
        |a, _| a.expm1(),
        |a, _| Exact(a.0.exp_m1() * a.1.cos() - 2.0 * (a.1 / 2.0).sin().powi(2), a.0.exp() * a.1.sin()),
    );
}

fn series_log1p(z: Exact) -> Exact {
    let (mut power, mut sum) = (z, z);
    for n in 2..9 {
        power = power.times(Exact(-z.0, -z.1));
        sum = sum.plus(power.times(Exact(1.0 / n as f64, 0.0)));
    }
    sum
}

#[test]
fn trigonometric_and_hyperbolic_functions_are_close() {
    assert_close("sinh", 4.0, (-20, 6), |a, _| a.sinh(), |a, _| a.sinh());
    assert_close("cosh", 4.0, (-20, 6), |a, _| a.cosh(), |a, _| a.cosh());
    assert_close("tanh", 6.0, (-20, 4), |a, _| a.tanh(), |a, _| a.sinh().over(a.cosh()));
    assert_close("sin", 4.0, (-20, 6), |a, _| a.sin(), |a, _| a.times_i().sinh().over_i());
    assert_close("cos", 4.0, (-20, 6), |a, _| a.cos(), |a, _| a.times_i().cosh());
    assert_close("tan", 6.0, (-20, 4), |a, _| a.tan(), |a, _| a.times_i().sinh().over(a.times_i().cosh()).over_i());
}

#[test]
fn inverse_functions_are_close() {
    assert_close("asinh", 6.0, (-20, 20), |a, _| a.asinh(), |a, _| a.asinh());
    assert_close("asin", 6.0, (-20, 20), |a, _| a.asin(), |a, _| a.times_i().asinh().over_i());
    assert_close("acos", 6.0, (-20, 20), |a, _| a.acos(), |a, _| a.acos());
    assert_close("acosh", 6.0, (-20, 20), |a, _| a.acosh(), |a, _| a.acosh());
    assert_close("atanh", 6.0, (-20, 10), |a, _| a.atanh(), |a, _| a.atanh());
    assert_close("atan", 6.0, (-20, 10), |a, _| a.atan(), |a, _| a.times_i().atanh().over_i());
}

/// The parts of a function's values, bits compared by the caller.
fn values(build: Build, numbers: &[[f32; 2]]) -> Vec<[f32; 2]> {
    let pairs: Vec<[f32; 4]> = numbers.iter().map(|z| [z[0], z[1], 0.0, 0.0]).collect();
    interpreted(build, &pairs)
}

#[test]
fn roots_keep_the_sign_of_zero_on_the_cut() {
    let found = values(|z, _| z.sqrt(), &[[-4.0, 0.0], [-4.0, -0.0], [0.0, -0.0], [4.0, -0.0]]);
    assert_eq!(found.map_bits(), [[0.0, 2.0], [0.0, -2.0], [0.0, -0.0], [2.0, -0.0]].map_bits());
}

#[test]
fn roots_of_infinities_follow_c() {
    let infinity = f32::INFINITY;
    let found = values(|z, _| z.sqrt(), &[[infinity, 1.0], [-infinity, 1.0], [1.0, -infinity], [-infinity, -1.0]]);
    let expected = [[infinity, 0.0], [0.0, infinity], [infinity, -infinity], [0.0, -infinity]];
    assert_eq!(found.map_bits(), expected.map_bits());
}

#[test]
fn a_logarithm_of_a_negative_number_has_the_angle_of_its_side() {
    let found = values(|z, _| z.log(), &[[-1.0, 0.0], [-1.0, -0.0]]);
    let pi = std::f32::consts::PI;
    assert_eq!(found.map_bits(), [[0.0, pi], [0.0, -pi]].map_bits());
}

#[test]
fn exponentials_beyond_the_range_keep_their_small_part() {
    // e^89 is infinite as f32, e^89 · sin(1e-3) is not.
    let found = values(|z, _| z.exp(), &[[89.0, 1e-3]]);
    assert_eq!(found[0][0], f32::INFINITY);
    let expected = 89f64.exp() * (1e-3f32 as f64).sin();
    assert!((found[0][1] as f64 / expected - 1.0).abs() < 3e-7, "{} is not {expected}", found[0][1]);
}

#[test]
fn powers_of_zero_and_to_zero_are_defined() {
    let zeros: [f32; 4] = [0.0, 0.0, 2.0, 1.0];
    let found = interpreted(|a, b| a.pow(b), &[zeros, [0.0; 4], [2.0, 1.0, 0.0, 0.0]]);
    assert_eq!(found, [[0.0, 0.0], [1.0, 0.0], [1.0, 0.0]]);
}

#[test]
fn what_is_no_pair_of_floats_is_an_error() {
    let built = Kernel::build("wrong", [1, 1, 1], |k| {
        let out = k.output("out", Elem::C64);
        out.store(k.i32(0), Complex::of(k.f32(1.0)).vector());
    });
    let error = built.expect_err("a scalar is no complex number");
    assert!(error.to_string().contains("must be f32x2 but is f32"), "{error}");
}

/// Bits instead of floats, so that signs of zeros count.
trait MapBits {
    fn map_bits(&self) -> Vec<[u32; 2]>;
}

impl<T: AsRef<[[f32; 2]]>> MapBits for T {
    fn map_bits(&self) -> Vec<[u32; 2]> {
        self.as_ref().iter().map(|z| z.map(f32::to_bits)).collect()
    }
}

//! Every public function that can fail, with arguments drawn at random.

use pumice::ops::{
    arg_reduce, astype, binary, bitcast, broadcast_to, create, depends, fast, full, gather, joins, matmul, reduce,
    scatter, select, slices, softmax, unary, views,
};
use pumice::random::{self, Samples};
use pumice::{Array, Dtype, Result, indexing};

use crate::draw::Draw;

/// A function's name, and a call of it.
pub type Row = (&'static str, fn(&mut Draw) -> Result<Vec<Array>>);

macro_rules! rows {
    ($($name:ident: |$d:ident $(, $x:ident)?| $call:expr;)*) => {
        &[$((stringify!($name), |$d: &mut Draw| {
            $(let $x = $d.array();)?
            Ok(Vec::from(Results::from($call?)))
        })),*]
    };
}

/// What functions give.
struct Results(Vec<Array>);

impl From<Array> for Results {
    fn from(one: Array) -> Results {
        Results(vec![one])
    }
}

impl From<Vec<Array>> for Results {
    fn from(all: Vec<Array>) -> Results {
        Results(all)
    }
}

impl From<(Array, Array)> for Results {
    fn from((a, b): (Array, Array)) -> Results {
        Results(vec![a, b])
    }
}

impl From<()> for Results {
    fn from(_: ()) -> Results {
        Results(Vec::new())
    }
}

impl From<Results> for Vec<Array> {
    fn from(results: Results) -> Vec<Array> {
        results.0
    }
}

/// Shapes, layouts and parts.
pub const VIEWS: &[Row] = rows! {
    reshape: |d, x| views::reshape(&x, &d.shape_near(&x));
    reshape_inferred: |d, x| views::reshape(&x, &[-1, d.int(), d.int()]);
    flatten: |d, x| views::flatten(&x, d.axis(), d.axis());
    unflatten: |d, x| views::unflatten(&x, d.axis(), &d.shape());
    expand_dims: |d, x| views::expand_dims(&x, &d.axes());
    squeeze: |d, x| views::squeeze(&x, d.maybe_axes().as_deref());
    atleast_1d: |_d, x| views::atleast_1d(&x);
    atleast_2d: |_d, x| views::atleast_2d(&x);
    atleast_3d: |_d, x| views::atleast_3d(&x);
    transpose: |d, x| views::transpose(&x, d.maybe_axes().as_deref());
    moveaxis: |d, x| views::moveaxis(&x, d.axis(), d.axis());
    swapaxes: |d, x| views::swapaxes(&x, d.axis(), d.axis());
    contiguous: |d, x| views::contiguous(&x, d.flag());
    broadcast_to: |d, x| broadcast_to::broadcast_to(&x, &d.shape_near(&x));
    broadcast_arrays: |d| views::broadcast_arrays(&d.arrays());
    as_strided: |d, x| {
        let (shape, strides) = (d.shape_near(&x), d.ints_near(&x));
        let strides: Vec<i64> = strides.iter().map(|&n| if d.once_in(20) { i64::MIN } else { n.into() }).collect();
        let offset = if d.once_in(10) { i64::MAX } else { d.int().into() };
        let (shape, strides) = (shape.as_slice(), strides.as_slice());
        views::as_strided(&x, d.flag().then_some(shape), d.flag().then_some(strides), offset)
    };
    view: |d, x| bitcast::view(&x, d.dtype());
    astype: |d, x| astype::astype(&x, d.dtype());
    slice: |d, x| slices::slice(&x, &d.ints_near(&x), &d.ints_near(&x), &d.ints_near(&x));
    slice_update: |d, x| {
        let update = d.array_near(&x);
        slices::slice_update(&x, &update, &d.ints_near(&x), &d.ints_near(&x), &d.ints_near(&x))
    };
    split: |d, x| slices::split(&x, d.int(), d.axis());
    split_at: |d, x| slices::split_at(&x, &d.ints_near(&x), d.axis());
    concatenate: |d| joins::concatenate(&d.arrays(), d.axis());
    stack: |d| joins::stack(&d.arrays(), d.axis());
    repeat: |d, x| joins::repeat(&x, d.int(), d.maybe_axis());
    tile: |d, x| joins::tile(&x, &d.ints_near(&x));
    roll: |d, x| joins::roll(&x, &d.ints_near(&x), &d.axes());
    roll_flat: |d, x| joins::roll_flat(&x, d.int());
    diag: |d, x| create::diag(&x, d.int());
    diagonal: |d, x| create::diagonal(&x, d.int(), d.axis(), d.axis());
    tril: |d, x| create::tril(&x, d.int());
    triu: |d, x| create::triu(&x, d.int());
    meshgrid: |d| create::meshgrid(&d.arrays(), d.flag(), d.pick(&[create::Indexing::Cartesian, create::Indexing::Matrix]));
    depends: |d| depends::depends(&d.arrays(), &d.arrays());
};

/// Values.
pub const VALUES: &[Row] = rows! {
    from_slice: |d| Array::from_slice(&vec![1f32; d.below(30)], &d.shape());
    from_bools: |d| Array::from_bools(&vec![true; d.below(30)], &d.shape());
    from_bytes: |d| Array::from_bytes(&vec![1; d.below(30)], &d.shape(), d.dtype());
    to_vec: |_d, x| x.reshape(&[0]).and_then(|x| x.to_vec::<u16>()).map(drop);
    item: |_d, x| x.reshape(&[0]).and_then(|x| x.item::<f32>()).map(drop);
    full: |d| full::full(&d.shape(), d.number(), Some(d.dtype()));
    full_array: |d, x| full::full(&d.shape_near(&x), &x, d.flag().then_some(Dtype::F32));
    full_like: |d, x| full::full_like(&x, d.int(), Some(d.dtype()));
    zeros: |d| full::zeros(&d.shape(), d.dtype());
    ones: |d| full::ones(&d.shape(), d.dtype());
    ones_like: |_d, x| full::ones_like(&x);
    eye: |d| create::eye(d.int(), d.flag().then_some(d.int()), d.int(), d.dtype());
    identity: |d| create::identity(d.int(), d.dtype());
    tri: |d| create::tri(d.int(), d.flag().then_some(d.int()), d.int(), d.dtype());
    arange: |d| create::arange(d.number(), d.number(), d.number(), d.flag().then_some(d.dtype()));
    arange_int: |d| create::arange(d.int(), i64::from(d.int()).saturating_mul(4_000_000_000), d.int(), None);
    arange_array: |d, x| create::arange(&x, d.array(), d.int(), d.flag().then_some(d.dtype()));
    linspace: |d| create::linspace(d.number(), d.number(), d.int(), d.flag(), d.dtype());
    where_: |d, x| select::where_(d.array_near(&x), &x, d.array_near(&x));
    clip: |d, x| {
        let (low, high) = (d.array_near(&x), d.number());
        select::clip(&x, d.flag().then_some(&low), d.flag().then_some(&high))
    };
    add: |d, x| binary::add(&x, d.array_near(&x));
    add_int: |d, x| binary::add(&x, i64::from(d.int()).saturating_mul(5_000_000_000));
    divmod: |d, x| binary::divmod(&x, d.array_near(&x));
    power: |d, x| binary::power(&x, d.number());
    left_shift: |d, x| binary::left_shift(&x, d.int());
    isclose: |d, x| binary::isclose(&x, d.array_near(&x), binary::Close::default());
    allclose: |d, x| binary::allclose(&x, d.array_near(&x), binary::Close::default());
    array_equal: |d, x| binary::array_equal(&x, d.array_near(&x), d.flag());
    round_to: |d, x| unary::round_to(&x, d.int());
    nan_to_num: |d, x| unary::nan_to_num(&x, unary::NanToNum { nan: d.number(), posinf: Some(d.number()), neginf: None });
    degrees: |_d, x| unary::degrees(&x);
    stop_gradient: |_d, x| unary::stop_gradient(&x);
};

/// Reductions and products.
pub const FOLDS: &[Row] = rows! {
    sum: |d, x| reduce::sum(&x, d.maybe_axes().as_deref(), d.flag());
    prod: |d, x| reduce::prod(&x, d.maybe_axes().as_deref(), d.flag());
    max: |d, x| reduce::max(&x, d.maybe_axes().as_deref(), d.flag());
    all: |d, x| reduce::all(&x, d.maybe_axes().as_deref(), d.flag());
    mean: |d, x| reduce::mean(&x, d.maybe_axes().as_deref(), d.flag());
    var: |d, x| reduce::var(&x, d.maybe_axes().as_deref(), d.flag(), d.int());
    std: |d, x| reduce::std(&x, d.maybe_axes().as_deref(), d.flag(), d.int());
    argmin: |d, x| arg_reduce::argmin(&x, d.maybe_axis(), d.flag());
    argmax: |d, x| arg_reduce::argmax(&x, d.maybe_axis(), d.flag());
    softmax: |d, x| softmax::softmax(&x, d.maybe_axes().as_deref(), d.flag());
    logsumexp: |d, x| softmax::logsumexp(&x, d.maybe_axes().as_deref(), d.flag());
    matmul: |d, x| matmul::matmul(&x, &d.array_near(&x));
    addmm: |d, x| matmul::addmm(&d.array_near(&x), &x, &d.array_near(&x), d.number() as f32, 0.5);
    inner: |d, x| matmul::inner(&x, &d.array_near(&x));
    outer: |d, x| matmul::outer(&x, &d.array_near(&x));
    rms_norm: |d, x| fast::rms_norm(&x, d.flag().then_some(&d.array_near(&x)), d.number() as f32);
    layer_norm: |d, x| fast::layer_norm(&x, d.flag().then_some(&d.array_near(&x)), d.flag().then_some(&d.array()), 0.5);
    rope: |d, x| {
        let freqs = d.flag().then(|| d.array());
        let base = d.flag().then(|| d.number() as f32);
        let turn = fast::Rope { dims: d.int(), traditional: d.flag(), base, scale: d.number() as f32, freqs: freqs.as_ref() };
        if d.flag() { fast::rope(&x, d.int(), turn) } else { fast::rope(&x, d.array(), turn) }
    };
    scaled_dot_product_attention: |d, x| {
        let (k, v, mask) = (d.array_near(&x), d.array_near(&x), d.array_near(&x));
        let mask = d.pick(&[fast::Mask::None, fast::Mask::Causal, fast::Mask::Array(&mask)]);
        fast::scaled_dot_product_attention(&x, &k, &v, d.number() as f32, mask, d.flag().then_some(&d.array()))
    };
    tensordot: |d, x| matmul::tensordot(&x, &d.array_near(&x), &d.axes(), &d.axes());
};

/// Places.
pub const PLACES: &[Row] = rows! {
    gather: |d, x| {
        let indices: Vec<Array> = (0..d.below(3)).map(|_| d.indices()).collect();
        let axes: Vec<i32> = (0..if d.once_in(6) { d.below(4) } else { indices.len() }).map(|_| d.axis()).collect();
        let sizes: Vec<i32> = if d.once_in(3) { d.shape_near(&x) } else { x.shape().iter().map(|&n| n.min(1)).collect() };
        gather::gather(&x, &indices, &axes, &sizes)
    };
    take: |d, x| gather::take(&x, &d.indices(), d.maybe_axis());
    take_one: |d, x| gather::take_one(&x, d.int(), d.maybe_axis());
    take_along_axis: |d, x| gather::take_along_axis(&x, &d.indices(), d.maybe_axis());
    put_along_axis: |d, x| scatter::put_along_axis(&x, &d.indices(), &d.array_near(&x), d.maybe_axis());
    scatter: |d, x| {
        let indices: Vec<Array> = (0..d.below(3)).map(|_| d.indices()).collect();
        let axes: Vec<i32> = (0..if d.once_in(6) { d.below(4) } else { indices.len() }).map(|_| d.axis()).collect();
        let updates = d.array_near(&x);
        d.pick(&[scatter::scatter, scatter::scatter_add, scatter::scatter_max])(&x, &indices, &updates, &axes)
    };
    index: |d, x| indexing::get(&x, &d.expression());
    index_set: |d, x| indexing::set(&x, &d.expression(), d.array_near(&x));
    index_set_number: |d, x| indexing::set(&x, &d.expression(), d.int());
    at_get: |d, x| indexing::at(&x, &d.expression()).get();
    at_add: |d, x| indexing::at(&x, &d.expression()).add(d.array_near(&x));
    at_divide: |d, x| indexing::at(&x, &d.expression()).divide(d.array_near(&x));
    at_minimum: |d, x| indexing::at(&x, &d.expression()).minimum(d.number());
};

/// Random numbers.
pub const RANDOM: &[Row] = rows! {
    random_key: |d| random::key(d.below(usize::MAX) as u64);
    random_split: |d| random::split(&key(d), d.int());
    bits: |d| random::bits(&d.shape(), d.below(6), Some(&key(d)));
    uniform: |d, x| random::uniform(&x, d.number(), &d.shape_near(&x), d.dtype(), Some(&key(d)));
    normal: |d, x| random::normal(&d.shape_near(&x), d.dtype(), Some(&x), Some(&2), Some(&key(d)));
    truncated_normal: |d, x| {
        let shape = d.shape_near(&x);
        random::truncated_normal(&x, d.number(), d.flag().then_some(&shape[..]), d.dtype(), Some(&key(d)))
    };
    gumbel: |d| random::gumbel(&d.shape(), d.dtype(), None);
    laplace: |d, x| random::laplace(&d.shape_near(&x), d.dtype(), None, Some(&x), Some(&key(d)));
    randint: |d, x| random::randint(d.number(), &x, &d.shape_near(&x), d.dtype(), Some(&key(d)));
    bernoulli: |d, x| {
        let shape = d.shape_near(&x);
        random::bernoulli(&x, d.flag().then_some(&shape[..]), Some(&key(d)))
    };
    categorical: |d, x| {
        let (axis, shape, number) = (d.axis(), d.shape_near(&x), d.int());
        let samples = d.pick(&[Samples::One, Samples::Number(number), Samples::Shape(&shape)]);
        random::categorical(&x, axis, samples, Some(&key(d)))
    };
};

fn key(d: &mut Draw) -> Array {
    if d.once_in(5) { d.array() } else { random::key(7).expect("two words") }
}

//! The ops, a file each or a row of a family's table. A new file is a line in each of the two lists here.

pub(crate) mod alias;
pub mod arg_reduce;
pub mod astype;
pub mod binary;
pub mod bitcast;
pub mod broadcast_to;
pub mod catalogue;
pub(crate) mod copy;
pub mod count_nonzero;
pub mod create;
pub mod depends;
pub mod diff;
pub mod fast;
pub mod flip;
pub mod full;
pub mod gather;
pub(crate) mod inverse_count;
pub mod joins;
pub mod kron;
pub mod matmul;
pub mod reduce;
pub(crate) mod running_sum;
pub mod scatter;
pub mod select;
pub mod slices;
pub mod softmax;
pub mod trace;
pub mod unary;
pub mod vecdot;
pub mod views;
pub mod windows;

use catalogue::Entry;

/// What stands in the catalogue.
static FAMILIES: &[fn() -> Vec<Entry>] = &[
    arg_reduce::entries,
    astype::entries,
    binary::entries,
    bitcast::entries,
    broadcast_to::entries,
    count_nonzero::entries,
    create::entries,
    diff::entries,
    fast::entries,
    flip::entries,
    full::entries,
    gather::entries,
    joins::entries,
    kron::entries,
    matmul::entries,
    reduce::entries,
    scatter::entries,
    select::entries,
    slices::entries,
    softmax::entries,
    trace::entries,
    unary::entries,
    vecdot::entries,
    views::entries,
    windows::entries,
    crate::random::entries,
];

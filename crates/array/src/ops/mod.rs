//! The ops, a file each or a row of a family's table. A new file is a line in each of the two lists here.

pub(crate) mod alias;
pub mod arg_reduce;
pub mod astype;
pub mod binary;
pub mod bitcast;
pub mod broadcast_to;
pub mod catalogue;
pub(crate) mod copy;
pub mod create;
pub mod depends;
pub mod fast;
pub mod full;
pub mod gather;
pub mod joins;
pub mod kron;
pub mod matmul;
pub mod reduce;
pub(crate) mod running_sum;
pub mod scatter;
pub mod select;
pub mod slices;
pub mod softmax;
pub mod unary;
pub mod views;

use catalogue::Entry;

/// What stands in the catalogue.
static FAMILIES: &[fn() -> Vec<Entry>] = &[
    arg_reduce::entries,
    astype::entries,
    binary::entries,
    bitcast::entries,
    broadcast_to::entries,
    create::entries,
    fast::entries,
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
    unary::entries,
    views::entries,
    crate::random::entries,
];

//! `meshgrid`: the coordinates of a grid from those along its axes.

use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops::broadcast_to::broadcast_together;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::views::reshape;

/// Which axis of the grid the first array runs along.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Indexing {
    /// The second: `xy`, as images are drawn.
    Cartesian,
    /// The first: `ij`, as matrices are indexed.
    Matrix,
}

/// Each array's values over the grid of all of them; as views of one axis each if `sparse`.
pub fn meshgrid(arrays: &[Array], sparse: bool, indexing: Indexing) -> Result<Vec<Array>> {
    let n = arrays.len();
    let swapped = indexing == Indexing::Cartesian && n >= 2;
    let spread = arrays.iter().enumerate().map(|(i, array)| {
        let axis = match i {
            0 | 1 if swapped => 1 - i,
            _ => i,
        };
        let mut shape = vec![1; n];
        shape[axis] = -1;
        // An array of no elements leaves nothing to divide by.
        if array.size() == 0 {
            shape[axis] = 0;
        }
        reshape(array, &shape)
    });
    let spread = spread.collect::<Result<Vec<Array>>>()?;
    if sparse { Ok(spread) } else { broadcast_together("meshgrid", &spread) }
}

pub(super) fn entries() -> Vec<Entry> {
    let case = |name: &str, sizes: &[i32], sparse: bool, indexing: Indexing| Case {
        name: name.into(),
        inputs: sizes.iter().map(|&n| Sample::new(&[n])).collect(),
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| meshgrid(x, sparse, indexing)),
        differentiable: true,
    };
    let cases = vec![
        case("xy", &[3, 2], false, Indexing::Cartesian),
        case("ij", &[3, 2, 4], false, Indexing::Matrix),
        case("sparse", &[3, 2], true, Indexing::Cartesian),
        case("one", &[4], false, Indexing::Cartesian),
    ];
    vec![Entry { name: "meshgrid", doc: "The coordinates of a grid.", cases }]
}

//! The catalogue: every op once. It feeds the generic check, the bindings, the docs and the benchmark.

use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::Result;

/// An op as the catalogue knows it.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// One line that says what it gives.
    pub doc: &'static str,
    /// Calls that the generic check makes.
    pub cases: Vec<Case>,
}

/// One kind of call: what it is given, and how it is made.
pub struct Case {
    /// What tells it from the op's other cases, for messages.
    pub name: String,
    /// The inputs' shapes and the values they may have.
    pub inputs: Vec<Sample>,
    /// The types the inputs may have; all inputs have one of them together, unless a sample fixes its own.
    pub dtypes: &'static [Dtype],
    /// Makes the call.
    pub call: Calling,
    /// Whether derivatives are checked (of floating types).
    pub differentiable: bool,
}

/// Makes a call of inputs.
pub type Calling = Box<dyn Fn(&[Array]) -> Result<Vec<Array>> + Send + Sync>;

/// An input of a case.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Its shape.
    pub shape: Vec<i32>,
    /// Where its values lie.
    pub range: (f64, f64),
    /// Its type, if it is not the case's.
    pub dtype: Option<Dtype>,
}

impl Sample {
    /// Values between -2 and 2.
    pub fn new(shape: &[i32]) -> Sample {
        Sample { shape: shape.to_vec(), range: (-2.0, 2.0), dtype: None }
    }

    /// Values in another range.
    pub fn within(shape: &[i32], low: f64, high: f64) -> Sample {
        Sample { shape: shape.to_vec(), range: (low, high), dtype: None }
    }

    /// A fixed type.
    pub fn of(mut self, dtype: Dtype) -> Sample {
        self.dtype = Some(dtype);
        self
    }
}

/// Every op's entry.
pub fn catalogue() -> Vec<Entry> {
    super::FAMILIES.iter().flat_map(|entries| entries()).collect()
}

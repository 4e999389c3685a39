//! `depends(inputs, dependencies)`: the inputs, but computed only after the dependencies.

use crate::array::{Array, call};
use crate::error::{Error, Result};
use crate::op::{At, Key, Op, Sizes, Specs};
use crate::shape::Spec;

/// The inputs as arrays that are computed only after the dependencies were.
pub fn depends(inputs: &[Array], dependencies: &[Array]) -> Result<Vec<Array>> {
    if inputs.is_empty() {
        return Ok(Vec::new());
    }
    let op = Depends { inputs: inputs.len() };
    Ok(call(op, inputs.iter().chain(dependencies).cloned())?.into_vec())
}

#[derive(Debug)]
struct Depends {
    /// How many of its inputs it gives; the others are only waited for.
    inputs: usize,
}

impl Op for Depends {
    fn name(&self) -> &'static str {
        "depends"
    }

    fn key(&self, key: &mut Key) {
        key.word(self.inputs as u64);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        match inputs.get(..self.inputs) {
            Some(given) => Ok(given.iter().map(|&spec| spec.clone()).collect()),
            None => Err(Error::Value(format!("[depends] must be given {} arrays at least.", self.inputs))),
        }
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
        Ok(Some(inputs[..self.inputs].to_vec()))
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let mut all: Vec<Option<Array>> = cotangents.iter().cloned().map(Some).collect();
        all.resize(at.inputs.len(), None);
        Ok(all)
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let (given, dependencies) = inputs.split_at(self.inputs);
        Ok(depends(given, dependencies)?.into_iter().zip(axes.iter().copied()).collect())
    }

    fn sizes(&self) -> Sizes {
        Sizes::Any
    }
}

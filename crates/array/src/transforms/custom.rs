//! Functions that bring their own rules for transforms.

use std::fmt;
use std::sync::Arc;

use crate::array::{Array, call};
use crate::error::{Error, Result};
use crate::op::{At, Key, Op, Specs};
use crate::shape::Spec;
use crate::transforms::vjp::or_zeros;

type Function = Box<dyn Fn(&[Array]) -> Result<Vec<Array>> + Send + Sync>;
type VjpRule = Box<dyn Fn(&[Array], &[Array], &[Array]) -> Result<Vec<Array>> + Send + Sync>;
type JvpRule = Box<dyn Fn(&[Array], &[Array]) -> Result<Vec<Array>> + Send + Sync>;
type VmapRule = Box<dyn Fn(&[Array], &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> + Send + Sync>;

/// A function with rules of its own. A transform it has no rule for looks into the function.
#[derive(Clone)]
pub struct CustomFunction {
    function: Arc<Function>,
    rules: Arc<Rules>,
}

#[derive(Default)]
struct Rules {
    vjp: Option<VjpRule>,
    jvp: Option<JvpRule>,
    vmap: Option<VmapRule>,
}

impl CustomFunction {
    /// The function, so far without rules.
    pub fn new(f: impl Fn(&[Array]) -> Result<Vec<Array>> + Send + Sync + 'static) -> CustomFunction {
        CustomFunction { function: Arc::new(Box::new(f)), rules: Arc::default() }
    }

    /// With a rule from `(inputs, cotangents, outputs)` to the cotangents of the inputs.
    pub fn vjp(
        self,
        rule: impl Fn(&[Array], &[Array], &[Array]) -> Result<Vec<Array>> + Send + Sync + 'static,
    ) -> CustomFunction {
        self.with(|rules| rules.vjp = Some(Box::new(rule)))
    }

    /// With a rule from `(inputs, tangents)` to the tangents of the outputs.
    pub fn jvp(
        self,
        rule: impl Fn(&[Array], &[Array]) -> Result<Vec<Array>> + Send + Sync + 'static,
    ) -> CustomFunction {
        self.with(|rules| rules.jvp = Some(Box::new(rule)))
    }

    /// With a rule from inputs and their mapped axes to outputs and theirs.
    pub fn vmap(
        self,
        rule: impl Fn(&[Array], &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> + Send + Sync + 'static,
    ) -> CustomFunction {
        self.with(|rules| rules.vmap = Some(Box::new(rule)))
    }

    fn with(self, add: impl FnOnce(&mut Rules)) -> CustomFunction {
        let mut rules =
            Arc::into_inner(self.rules).expect("rules are shared only by calls and clones, which come later");
        add(&mut rules);
        CustomFunction { function: self.function, rules: Arc::new(rules) }
    }

    /// Calls the function.
    pub fn call(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let outputs = (self.function)(inputs)?;
        if outputs.is_empty() {
            return Ok(outputs);
        }
        let op = Custom { rules: self.rules.clone(), inputs: inputs.len(), outputs: outputs.len() };
        Ok(call(op, inputs.iter().cloned().chain(outputs))?.into_vec())
    }
}

/// Takes the function's inputs and what it gave for them, and gives the latter: only transforms see a difference.
struct Custom {
    rules: Arc<Rules>,
    inputs: usize,
    outputs: usize,
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Custom({} inputs, {} outputs)", self.inputs, self.outputs)
    }
}

impl Custom {
    fn expect(&self, rule: &str, found: usize, count: usize) -> Result<()> {
        if found != count {
            return Err(Error::Value(format!(
                "[custom_function] the rule for {rule} must give {count} arrays but gives {found}."
            )));
        }
        Ok(())
    }
}

impl Op for Custom {
    fn name(&self) -> &'static str {
        "custom_function"
    }

    fn key(&self, key: &mut Key) {
        key.word(Arc::as_ptr(&self.rules) as u64);
        key.word(self.inputs as u64);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        Ok(inputs[self.inputs..].iter().map(|&spec| spec.clone()).collect())
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
        Ok(Some(inputs[self.inputs..].to_vec()))
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let inner = cotangents.iter().cloned().map(Some);
        let Some(rule) = &self.rules.vjp else { return Ok(vec![None; self.inputs].into_iter().chain(inner).collect()) };
        let found = rule(&at.inputs[..self.inputs], cotangents, at.outputs)?;
        self.expect("vjp", found.len(), self.inputs)?;
        Ok(found.into_iter().map(Some).chain(vec![None; self.outputs]).collect())
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        let (outer, inner) = tangents.split_at(self.inputs);
        let Some(rule) = &self.rules.jvp else { return or_zeros(inner.to_vec(), at.outputs) };
        let inputs = &at.inputs[..self.inputs];
        let tangents = or_zeros(outer.to_vec(), inputs)?;
        let found = rule(inputs, &tangents)?;
        self.expect("jvp", found.len(), self.outputs)?;
        Ok(found)
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let Some(rule) = &self.rules.vmap else {
            return Ok(inputs.iter().cloned().zip(axes.iter().copied()).skip(self.inputs).collect());
        };
        let found = rule(&inputs[..self.inputs], &axes[..self.inputs])?;
        self.expect("vmap", found.len(), self.outputs)?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_may_give_an_input_that_is_already_computed() {
        let x = Array::from_slice(&[1f32, 2.0], &[2]).expect("two numbers");
        let same =
            CustomFunction::new(|inputs| Ok(inputs.to_vec())).call(std::slice::from_ref(&x)).expect("it is called");
        assert_eq!(same[0].to_vec::<f32>().expect("it is computed"), [1.0, 2.0]);
        assert_eq!(x.to_vec::<f32>().expect("it is still there"), [1.0, 2.0]);
    }
}

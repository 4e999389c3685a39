//! What a program is run on: checked once, before the first block.

use super::program::{Port, Program};
use super::space::{Dims, Layout, Order};
use super::{Input, Output};
use crate::error::{Error, Result};

/// An input that was found to fit.
pub(super) enum Source<'a> {
    /// One element for all.
    Scalar(&'a [u8]),
    /// Elements one after another, or by a layout.
    Bytes { bytes: &'a [u8], layout: Option<Layout> },
    /// What an output held before.
    InPlace(usize),
}

/// An output that was found to fit, or a part of it.
pub(super) struct Sink<'a> {
    pub(super) bytes: &'a mut [u8],
    /// None where elements stand one after another.
    pub(super) layout: Option<Layout>,
    /// Which element the bytes begin with.
    pub(super) origin: i64,
}

/// The operands of a run.
pub(super) struct Operands<'a> {
    pub(super) shape: Dims<usize>,
    pub(super) order: Order,
    pub(super) sources: Vec<Source<'a>>,
    pub(super) sinks: Vec<Sink<'a>>,
}

impl<'a> Operands<'a> {
    /// Checks number, sizes and layouts of the operands, and gives all layouts the same shape.
    pub(super) fn new(
        program: &Program,
        count: usize,
        inputs: &[Input<'a>],
        outputs: &'a mut [Output<'_>],
    ) -> Result<Operands<'a>> {
        let check = Check { program, count };
        check.number("inputs", program.inputs.len(), inputs.len())?;
        check.number("outputs", program.outputs.len(), outputs.len())?;
        let shape = check.shape(inputs, outputs)?;
        let sources = inputs.iter().zip(&program.inputs).map(|(input, port)| check.source(input, port));
        let sources = sources.collect::<Result<Vec<_>>>()?;
        let sinks = outputs.iter_mut().zip(&program.outputs).map(|(output, port)| check.sink(output, port));
        let sinks = sinks.collect::<Result<Vec<_>>>()?;
        let mut operands = Operands { shape, order: Order::Runs, sources, sinks };
        operands.order = Order::of(&operands.shape, operands.layouts());
        if operands.order != Order::Runs {
            operands.spread();
        }
        Ok(operands)
    }

    /// Whether two or more do not stand one after another.
    pub(super) fn are_spread(&self) -> bool {
        self.layouts().nth(1).is_some()
    }

    fn layouts(&self) -> impl Iterator<Item = &Layout> {
        let sources = self.sources.iter().filter_map(|source| match source {
            Source::Bytes { layout, .. } => layout.as_ref(),
            _ => None,
        });
        sources.chain(self.sinks.iter().filter_map(|sink| sink.layout.as_ref()))
    }

    /// Tiles are found by layouts only.
    fn spread(&mut self) {
        let packed = Layout::contiguous(&self.shape);
        for source in &mut self.sources {
            if let Source::Bytes { layout, .. } = source {
                layout.get_or_insert_with(|| packed.clone());
            }
        }
        self.sinks.iter_mut().for_each(|sink| {
            sink.layout.get_or_insert_with(|| packed.clone());
        });
    }
}

struct Check<'p> {
    program: &'p Program,
    count: usize,
}

impl Check<'_> {
    fn refuse(&self, what: String) -> Error {
        Error::Value(format!("[{}] {what}.", self.program.name))
    }

    fn number(&self, what: &str, wanted: usize, given: usize) -> Result<()> {
        match wanted == given {
            true => Ok(()),
            false => Err(self.refuse(format!("{wanted} {what} must be given but {given} were"))),
        }
    }

    /// The one shape of all that have one.
    fn shape(&self, inputs: &[Input<'_>], outputs: &[Output<'_>]) -> Result<Dims<usize>> {
        let of_inputs = inputs.iter().filter_map(|input| match input {
            Input::Strided { shape, .. } => Some(*shape),
            _ => None,
        });
        let of_outputs = outputs.iter().filter_map(|output| match output {
            Output::Strided { shape, .. } => Some(*shape),
            _ => None,
        });
        let mut shapes = of_inputs.chain(of_outputs);
        let Some(first) = shapes.next() else {
            return Ok(Dims::from_slice(&[self.count]));
        };
        if let Some(other) = shapes.find(|shape| *shape != first) {
            return Err(self.refuse(format!("all shapes must be {first:?} but one is {other:?}")));
        }
        let elements = first.iter().try_fold(1usize, |product, size| product.checked_mul(*size));
        if elements != Some(self.count) {
            return Err(self.refuse(format!("a shape of {} elements must be given but {first:?} was", self.count)));
        }
        Ok(Dims::from_slice(first))
    }

    fn source<'a>(&self, input: &Input<'a>, port: &Port) -> Result<Source<'a>> {
        match *input {
            Input::Contiguous(bytes) => {
                self.holds(port, bytes.len(), self.count)?;
                Ok(Source::Bytes { bytes, layout: None })
            }
            Input::Scalar(bytes) => {
                self.holds(port, bytes.len(), 1)?;
                Ok(Source::Scalar(bytes))
            }
            Input::Strided { bytes, start, shape, strides } => {
                let layout = self.layout(port, bytes.len(), start, shape, strides)?;
                Ok(Source::Bytes { bytes, layout: Some(layout) })
            }
            Input::InPlace(output) => {
                let fits = |other: &Port| other.elem.bytes() == port.elem.bytes();
                match self.program.outputs.get(output) {
                    Some(other) if fits(other) => Ok(Source::InPlace(output)),
                    _ => {
                        Err(self
                            .refuse(format!("{} must fit output {output} to be in its place but does not", port.name)))
                    }
                }
            }
        }
    }

    fn sink<'a>(&self, output: &'a mut Output<'_>, port: &Port) -> Result<Sink<'a>> {
        let (bytes, layout) = match output {
            Output::Contiguous(bytes) => {
                self.holds(port, bytes.len(), self.count)?;
                (&mut **bytes, None)
            }
            Output::Strided { bytes, start, shape, strides } => {
                let layout = self.layout(port, bytes.len(), *start, shape, strides)?;
                (&mut **bytes, Some(layout))
            }
        };
        Ok(Sink { bytes, layout, origin: 0 })
    }

    fn holds(&self, port: &Port, bytes: usize, elements: usize) -> Result<()> {
        let wanted = elements.checked_mul(port.elem.bytes());
        match wanted.is_some_and(|wanted| bytes >= wanted) {
            true => Ok(()),
            false => Err(self.refuse(format!(
                "{} must hold {elements} elements of {} bytes but has {bytes} bytes",
                port.name,
                port.elem.bytes()
            ))),
        }
    }

    fn layout(&self, port: &Port, bytes: usize, start: i64, shape: &[usize], strides: &[i64]) -> Result<Layout> {
        if shape.len() != strides.len() {
            let (axes, found) = (shape.len(), strides.len());
            return Err(self.refuse(format!("{} must have {axes} strides but has {found}", port.name)));
        }
        let layout = Layout { start, strides: Dims::from_slice(strides) };
        let held = (bytes / port.elem.bytes()) as i64;
        if self.count == 0 {
            return Ok(layout);
        }
        match layout.extent(shape) {
            Some((low, high)) if low >= 0 && high < held => Ok(layout),
            _ => Err(self.refuse(format!("{} must lie within its {held} elements but does not", port.name))),
        }
    }
}

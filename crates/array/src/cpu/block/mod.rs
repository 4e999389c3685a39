//! Stand-in: one element at a time by the interpreter.
#![allow(missing_docs)]
use pumice_kernel::Kernel;
use pumice_kernel::arguments::Argument;
use pumice_kernel::interpret::{Launch, Memory, run};

use crate::error::Result;
pub struct BlockProgram {
    kernel: Kernel,
}
pub enum Input<'a> {
    Contiguous(&'a [u8]),
    Scalar(&'a [u8]),
    Strided { bytes: &'a [u8], start: i64, shape: &'a [usize], strides: &'a [i64] },
    InPlace(usize),
}
pub enum Output<'a> {
    Contiguous(&'a mut [u8]),
}
impl BlockProgram {
    pub fn new(kernel: &Kernel) -> Result<BlockProgram> {
        Ok(BlockProgram { kernel: kernel.clone() })
    }
    pub fn run(&self, count: usize, inputs: &[Input<'_>], outputs: &mut [Output<'_>]) -> Result<()> {
        for i in 0..count {
            let mut memories: Vec<Memory> = Vec::new();
            for (input, param) in inputs.iter().zip(&self.kernel.buffers) {
                let n = param.elem.bytes();
                let one = match input {
                    Input::Contiguous(b) => b[i * n..][..n].to_vec(),
                    Input::Scalar(b) => b[..n].to_vec(),
                    Input::InPlace(j) => {
                        let Output::Contiguous(b) = &outputs[*j];
                        b[i * n..][..n].to_vec()
                    }
                    Input::Strided { bytes, start, shape, strides } => {
                        let (mut rest, mut at) = (i, *start);
                        for axis in (0..shape.len()).rev() {
                            at += (rest % shape[axis]) as i64 * strides[axis];
                            rest /= shape[axis];
                        }
                        bytes[at as usize * n..][..n].to_vec()
                    }
                };
                memories.push(Memory::Owned(one));
            }
            for j in 0..outputs.len() {
                memories.push(Memory::zeros(self.kernel.buffers[inputs.len() + j].elem.bytes()));
            }
            run(&self.kernel, &Launch { scalars: &[Argument::I64(i as i64)], ..Launch::default() }, &mut memories)?;
            for (j, output) in outputs.iter_mut().enumerate() {
                let Output::Contiguous(bytes) = output;
                let one = memories[inputs.len() + j].bytes();
                bytes[i * one.len()..][..one.len()].copy_from_slice(one);
            }
        }
        Ok(())
    }
}

//! Cooperative matrices.

use super::emitter::Emitter;
use super::words::Id;
use crate::error::Result;
use crate::ir::{Inst, MatrixOp};
use crate::types::Matrix;

impl Emitter<'_> {
    pub fn matrix_type(&mut self, _: Matrix) -> Id {
        0
    }

    pub fn matrix(&mut self, _: &Inst, _: &MatrixOp) -> Result<()> {
        Err(self.unsupported("cooperative matrices must be offered by the device but are not.".into()))
    }
}

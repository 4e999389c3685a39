//! Where an invocation's sums go: four of a row at a time.

use pumice_kernel::{Buffer, Val};

use super::indices::Indices;

/// A matrix that is written.
pub(super) struct Destination<'k> {
    pub at: Indices<'k>,
    pub out: Buffer<'k>,
    /// Index of its first element.
    pub first: Val<'k>,
    /// Rows and columns.
    pub size: [Val<'k>; 2],
    /// Whether rows and columns may lie beyond it.
    pub guarded: bool,
    /// Whether its rows are whole quads.
    pub wide: bool,
}

impl<'k> Destination<'k> {
    /// Writes four elements that follow each other.
    pub fn store_quad(&self, row: Val<'k>, col: Val<'k>, elements: &[Val<'k>]) {
        let k = self.at.k;
        let place = self.first + self.at.of(row) * self.at.of(self.size[1]) + self.at.of(col);
        let inside = |col: Val<'k>| row.lt(self.size[0]) & col.lt(self.size[1]);
        match (self.guarded, self.wide) {
            (false, _) => self.out.store_wide(place, elements),
            (true, true) => k.when(inside(col), || self.out.store_wide(place, elements)),
            (true, false) => {
                for (e, &element) in elements.iter().enumerate() {
                    let e = e as i32;
                    k.when(inside(col + e), || self.out.store(place + self.at.of(k.i32(e)), element));
                }
            }
        }
    }
}

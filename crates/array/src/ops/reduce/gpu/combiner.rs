//! What a reduction kernel does with elements: a partial result is lifted from one element, and two become one.

use pumice_kernel::{Builder, Val};
use smallvec::SmallVec;

use crate::dtype::Dtype;
use crate::op::Key;
use crate::typed::Typed;

/// A partial result: one scalar, or several that belong together (a value and where it was found).
pub(crate) type Parts<'k> = SmallVec<[Typed<'k>; 2]>;

/// Elements at places of memory, numbered along the reduced axes: `(place, number, count)` gives the partial results of `count`
/// elements that lie side by side. Kernels take their input only through this, so that it may be computed instead of loaded.
pub(crate) type Load<'a, 'k> = &'a dyn Fn(Val<'k>, Val<'k>, usize) -> Vec<Parts<'k>>;

/// Takes the result with this number.
pub(crate) type Store<'a, 'k> = &'a dyn Fn(Val<'k>, Parts<'k>);

/// A way to combine, associative and commutative but for rounding.
pub(crate) trait Combiner {
    /// The kernels' name.
    fn name(&self) -> &'static str;

    /// Adds what distinguishes this combiner's kernels from those of others with the name.
    fn key(&self, key: &mut Key);

    /// The types of a partial result's scalars.
    fn types(&self) -> SmallVec<[Dtype; 2]>;

    /// Whether it looks at the numbers of elements.
    fn numbers(&self) -> bool {
        false
    }

    /// The partial result of no elements.
    fn identity<'k>(&self, k: &'k Builder) -> Parts<'k>;

    /// The partial result of one element; `number` counts along the reduced axes.
    fn lift<'k>(&self, x: Typed<'k>, number: Val<'k>) -> Parts<'k>;

    /// The partial result of two together.
    fn combine<'k>(&self, a: &[Typed<'k>], b: &[Typed<'k>]) -> Parts<'k>;

    /// The result.
    fn finish<'k>(&self, parts: &[Typed<'k>]) -> Typed<'k>;
}

/// The values of partial results, for loops to carry.
pub(crate) fn values<'k>(parts: &[Typed<'k>]) -> Vec<Val<'k>> {
    parts.iter().map(|part| part.val).collect()
}

/// The partial result that these values are.
pub(crate) fn typed<'k>(combiner: &dyn Combiner, values: &[Val<'k>]) -> Parts<'k> {
    values.iter().zip(combiner.types()).map(|(&val, dtype)| Typed::new(val, dtype)).collect()
}

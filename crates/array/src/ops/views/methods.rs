//! Views as methods of arrays.

use crate::array::Array;
use crate::error::Result;

/// Methods by the functions of the same name.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $ty:ty),*);)*) => {
        impl Array {$(
            $(#[$doc])*
            pub fn $name(&self $(, $argument: $ty)*) -> Result<Array> {
                super::$name(self $(, $argument)*)
            }
        )*}
    };
}

methods! {
    /// The elements in order, in another shape. One size may be -1: it is what the others leave.
    reshape(shape: &[i32]);
    /// The axes from `start` to `end`, both included, made one.
    flatten(start: i32, end: i32);
    /// One axis made several.
    unflatten(axis: i32, sizes: &[i32]);
    /// New axes of one element; they are counted in the result.
    expand_dims(axes: &[i32]);
    /// Without the given axes, or without all axes, of one element.
    squeeze(axes: Option<&[i32]>);
    /// The axes in the given order, or in reverse.
    transpose(axes: Option<&[i32]>);
    /// An axis moved to another place.
    moveaxis(source: i32, destination: i32);
    /// Two axes in each other's place.
    swapaxes(a: i32, b: i32);
}

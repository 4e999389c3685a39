//! Index expressions written as Rust values: numbers, ranges, arrays, and tuples of them.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo};

use super::Index;
use crate::array::Array;

/// All axes that nothing else is said about: Python's `...`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ellipsis;

/// A new axis of one element: Python's `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewAxis;

/// A slice with a step: Python's `start:stop:step`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Slice {
    /// The first place.
    pub start: Option<i64>,
    /// The place after the last.
    pub stop: Option<i64>,
    /// From one place to the next.
    pub step: Option<i64>,
}

impl Slice {
    /// All places, a step apart; backwards if it is negative.
    pub fn every(step: i64) -> Slice {
        Slice { step: Some(step), ..Slice::default() }
    }
}

impl From<Slice> for Index {
    fn from(Slice { start, stop, step }: Slice) -> Index {
        Index::Slice { start, stop, step }
    }
}

impl From<RangeFull> for Index {
    fn from(_: RangeFull) -> Index {
        Slice::default().into()
    }
}

impl From<Ellipsis> for Index {
    fn from(_: Ellipsis) -> Index {
        Index::Ellipsis
    }
}

impl From<NewAxis> for Index {
    fn from(_: NewAxis) -> Index {
        Index::NewAxis
    }
}

impl From<Array> for Index {
    fn from(array: Array) -> Index {
        Index::Array(array)
    }
}

impl From<&Array> for Index {
    fn from(array: &Array) -> Index {
        Index::Array(array.clone())
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl From<$number> for Index {
            fn from(place: $number) -> Index {
                Index::Int(place.into())
            }
        }

        impl From<Range<$number>> for Index {
            fn from(range: Range<$number>) -> Index {
                Slice { start: Some(range.start.into()), stop: Some(range.end.into()), step: None }.into()
            }
        }

        /// A last place of -1 is the axis's last.
        impl From<RangeInclusive<$number>> for Index {
            fn from(range: RangeInclusive<$number>) -> Index {
                let stop = Some(i64::from(*range.end())).filter(|&last| last != -1).map(|last| last.saturating_add(1));
                Slice { start: Some((*range.start()).into()), stop, step: None }.into()
            }
        }

        impl From<RangeFrom<$number>> for Index {
            fn from(range: RangeFrom<$number>) -> Index {
                Slice { start: Some(range.start.into()), ..Slice::default() }.into()
            }
        }

        impl From<RangeTo<$number>> for Index {
            fn from(range: RangeTo<$number>) -> Index {
                Slice { stop: Some(range.end.into()), ..Slice::default() }.into()
            }
        }
    )*};
}
numbers!(i32, i64);

/// What an index expression is written as: one index, a tuple of them, or a slice.
pub trait Expression {
    /// The indices, in order.
    fn indices(self) -> Vec<Index>;
}

impl<T: Into<Index>> Expression for T {
    fn indices(self) -> Vec<Index> {
        vec![self.into()]
    }
}

impl Expression for &[Index] {
    fn indices(self) -> Vec<Index> {
        self.to_vec()
    }
}

macro_rules! tuples {
    ($($name:ident),*) => {
        impl<$($name: Into<Index>),*> Expression for ($($name,)*) {
            #[allow(non_snake_case)] // a variable for each type
            fn indices(self) -> Vec<Index> {
                let ($($name,)*) = self;
                vec![$($name.into()),*]
            }
        }
    };
}
tuples!(A);
tuples!(A, B);
tuples!(A, B, C);
tuples!(A, B, C, D);
tuples!(A, B, C, D, E);
tuples!(A, B, C, D, E, F);

//! Bytes from one strided place to another: what puts arrays into parts of others.
//!
//! The kernel knows no types, only units of 1 to 16 bytes, so that all types share a few kernels and rows that lie without gaps
//! are copied 16 bytes an access.

use pumice_kernel::{Access, Buffer, Elem, Kernel, Result, Scalar, Val};

/// Invocations per workgroup; each copies one unit.
pub const WORKGROUP: u32 = 256;

/// The kernel for units of this many bytes (a power of two, 16 at most) over a space of `rank` axes, one at least: buffers from
/// and to, then the number of units, the space's shape, the first unit's place in `from`, and the strides of `from` and
/// `to`, all in units and all I64 if `long`, otherwise I32.
pub fn copy(unit: usize, rank: u32, long: bool) -> Result<Kernel> {
    Kernel::build("copy_strided", [WORKGROUP, 1, 1], |k| {
        let scalar = if long { Scalar::I64 } else { Scalar::I32 };
        let from = k.buffer("from", elem(unit), Access::Read, unit as u32);
        let to = k.buffer("to", elem(unit), Access::Write, unit as u32);
        let n = k.arg("n", scalar);
        let shape = k.arg_array("shape", scalar, rank);
        let start = k.arg("start", scalar);
        let from_strides = k.arg_array("from_strides", scalar, rank);
        let to_strides = k.arg_array("to_strides", scalar, rank);
        let [group, local] = [k.group_index(), k.local_index()].map(|v| if long { v.to_u(Scalar::I64) } else { v });
        let at = group * (WORKGROUP as i32) + local;
        k.when(at.lt_u(n), || {
            let (mut rest, mut source, mut place) = (at, start, None);
            for axis in (0..rank as i32).rev() {
                let along = if axis == 0 { rest } else { rest.rem_u(shape.at(axis)) };
                rest = if axis == 0 { rest } else { rest.div_u(shape.at(axis)) };
                source = source + along * from_strides.at(axis);
                let step = along * to_strides.at(axis);
                place = Some(place.map_or(step, |place: Val<'_>| place + step));
            }
            move_unit(from, source, to, place.expect("there is an axis"), unit);
        });
    })
}

fn move_unit<'k>(from: Buffer<'k>, source: Val<'k>, to: Buffer<'k>, place: Val<'k>, unit: usize) {
    match unit / 4 {
        0 | 1 => to.store(place, from.load(source)),
        words => to.store_wide(place * words as i32, &from.load_wide(source * words as i32, words)),
    }
}

fn elem(unit: usize) -> Elem {
    match unit {
        1 => Elem::U8,
        2 => Elem::U16,
        _ => Elem::U32,
    }
}

//! Bytes from one strided place to another: what puts arrays into parts of others.
//!
//! The kernel knows no types, only units of 1 to 16 bytes, so that all types share a few kernels and rows that lie
//! without gaps are copied 16 bytes an access.

use pumice_kernel::{Access, Buffer, Elem, Kernel, Result, Scalar, Val};

/// Invocations per workgroup; each copies one unit.
pub const WORKGROUP: u32 = 256;

/// The kernel for units of this many bytes (a power of two, 16 at most) over a space of `rank` axes, one at least:
/// buffers from and to, then the number of units, the space's shape, the first unit's place in `from`, and the strides
/// of `from` and `to`, all in units and all I64 if `long`, otherwise I32.
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

#[cfg(test)]
mod tests {
    use super::*;
    use pumice_kernel::arguments::Argument;
    use pumice_kernel::interpret::{Launch, Memory, run};

    /// Copies a turned and reversed matrix into wider rows by the interpreter; gives the units that went there.
    fn copied(unit: usize, long: bool) -> Vec<u8> {
        let kernel = copy(unit, 2, long).expect("it builds");
        let number = |n: i64| if long { Argument::I64(n) } else { Argument::I32(n as i32) };
        // Three rows of two: each row is a column of two rows of three, read from the last on.
        let scalars = [6, 3, 2, 2, -1, 3, 4, 1].map(number);
        let from: Vec<u8> = (0..6).flat_map(|i| vec![i + 1; unit]).collect();
        let mut memories = [Memory::Owned(from), Memory::zeros(12 * unit)];
        run(&kernel, &Launch { scalars: &scalars, ..Launch::default() }, &mut memories).expect("it runs");
        let bytes = memories[1].bytes();
        assert!(bytes.chunks(unit).all(|unit| unit.iter().all(|byte| *byte == unit[0])), "units stay whole");
        bytes.iter().step_by(unit).copied().collect()
    }

    #[test]
    fn units_of_every_width_go_where_the_strides_say() {
        for unit in [1, 2, 4, 8, 16] {
            for long in [false, true] {
                let expected = [3, 6, 0, 0, 2, 5, 0, 0, 1, 4, 0, 0];
                assert_eq!(copied(unit, long), expected, "{unit} bytes, long {long}");
            }
        }
    }
}

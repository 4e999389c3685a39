//! Between an operand's bytes and a register's lanes.

use pumice_kernel::Elem;

use super::loops::{Chunk, LANES, Lane};
use super::repeat::{Column, repeat_all, repeat_each};
use super::space::{Layout, Piece, Region};
use crate::cpu::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::cpu::simd::vectorised;

/// How a block's elements lie in an operand's bytes.
#[derive(Clone, Copy)]
pub(super) enum Placing<'l> {
    /// One after another, from the start of the bytes.
    Packed,
    /// By a layout over a shape; the bytes start at element `origin`.
    Spread { region: &'l Region, shape: &'l [usize], layout: &'l Layout, origin: i64 },
}

/// Reads 32-bit lanes; of a complex number the `part`-th component.
pub(super) fn read_narrow(elem: Elem, part: usize, bytes: &[u8], placing: Placing<'_>, out: &mut [u32]) {
    match elem {
        Elem::Bool => gather(bytes, placing, out, |[b]: [u8; 1]| (b != 0).bits()),
        Elem::I8 => gather(bytes, placing, out, |[b]: [u8; 1]| b as i8 as u32),
        Elem::U8 => gather(bytes, placing, out, |[b]: [u8; 1]| b as u32),
        Elem::I16 => gather(bytes, placing, out, |b: [u8; 2]| i16::from_le_bytes(b) as u32),
        Elem::U16 => gather(bytes, placing, out, |b: [u8; 2]| u16::from_le_bytes(b) as u32),
        Elem::F16 => gather(bytes, placing, out, |b: [u8; 2]| f16_to_f32(u16::from_le_bytes(b)).bits()),
        Elem::BF16 => gather(bytes, placing, out, |b: [u8; 2]| bf16_to_f32(u16::from_le_bytes(b)).bits()),
        Elem::I32 | Elem::U32 | Elem::F32 => gather(bytes, placing, out, u32::from_le_bytes),
        Elem::C64 => gather(bytes, placing, out, |b: [u8; 8]| (u64::from_le_bytes(b) >> (32 * part)) as u32),
        Elem::I64 | Elem::U64 | Elem::F64 => unreachable!("64-bit elements have registers of their width"),
    }
}

/// Reads 64-bit lanes.
pub(super) fn read_wide(bytes: &[u8], placing: Placing<'_>, out: &mut [u64]) {
    gather(bytes, placing, out, u64::from_le_bytes);
}

/// Writes 32-bit lanes; of a complex number the `part`-th component.
pub(super) fn write_narrow(elem: Elem, part: usize, bytes: &mut [u8], placing: Placing<'_>, lanes: &[u32]) {
    match elem {
        Elem::Bool => scatter(bytes, placing, lanes, |to: &mut [u8; 1], word| to[0] = word as u8 & 1),
        Elem::I8 | Elem::U8 => scatter(bytes, placing, lanes, |to: &mut [u8; 1], word| to[0] = word as u8),
        Elem::I16 | Elem::U16 => scatter(bytes, placing, lanes, |to, word| *to = (word as u16).to_le_bytes()),
        Elem::F16 => scatter(bytes, placing, lanes, |to, word| *to = f32_to_f16(f32::of(word)).to_le_bytes()),
        Elem::BF16 => scatter(bytes, placing, lanes, |to, word| *to = f32_to_bf16(f32::of(word)).to_le_bytes()),
        Elem::I32 | Elem::U32 | Elem::F32 => scatter(bytes, placing, lanes, |to, word| *to = word.to_le_bytes()),
        Elem::C64 => scatter(bytes, placing, lanes, |to: &mut [u8; 8], word| {
            to[4 * part..4 * part + 4].copy_from_slice(&word.to_le_bytes());
        }),
        Elem::I64 | Elem::U64 | Elem::F64 => unreachable!("64-bit elements have registers of their width"),
    }
}

/// Writes 64-bit lanes.
pub(super) fn write_wide(bytes: &mut [u8], placing: Placing<'_>, lanes: &[u64]) {
    scatter(bytes, placing, lanes, |to, word| *to = word.to_le_bytes());
}

#[inline(always)]
fn gather<const B: usize, T: Copy>(
    bytes: &[u8],
    placing: Placing<'_>,
    out: &mut [T],
    decode: impl Fn([u8; B]) -> T + Copy,
) {
    let elements = bytes.as_chunks::<B>().0;
    match placing {
        Placing::Packed => decode_all(&elements[..out.len()], out, decode),
        Placing::Spread { region: Region::Run(range), shape: &[_, row], layout, origin }
            if layout.strides[1] == 0 && row < range.len() =>
        {
            let column = Column { first: layout.start - origin, stride: layout.strides[0], row };
            repeat_each(elements, column, range.start, out, decode);
        }
        Placing::Spread { region: Region::Run(range), shape: &[_, row], layout, origin }
            if layout.strides[..] == [0, 1] && row < range.len() =>
        {
            let first = (layout.start - origin) as usize;
            repeat_all(&elements[first..first + row], range.start, out, decode);
        }
        Placing::Spread { region, shape, layout, origin } => {
            region.each_piece(shape, layout, |piece| gather_piece(elements, piece, origin, out, decode));
        }
    }
}

#[inline(always)]
fn decode_all<const B: usize, T>(elements: &[[u8; B]], out: &mut [T], decode: impl Fn([u8; B]) -> T) {
    vectorised(
        out,
        (elements, decode),
        #[inline(always)]
        |out, (elements, decode)| out.iter_mut().zip(elements).for_each(|(out, element)| *out = decode(*element)),
    );
}

#[inline(always)]
fn encode_all<const B: usize, T: Copy>(elements: &mut [[u8; B]], words: &[T], encode: impl Fn(&mut [u8; B], T)) {
    vectorised(
        elements,
        (words, encode),
        #[inline(always)]
        |elements, (words, encode)| elements.iter_mut().zip(words).for_each(|(to, word)| encode(to, *word)),
    );
}

#[inline(always)]
fn gather_piece<const B: usize, T: Copy>(
    elements: &[[u8; B]],
    piece: Piece,
    origin: i64,
    out: &mut [T],
    decode: impl Fn([u8; B]) -> T + Copy,
) {
    let Piece { lane, lane_step, stride, len, .. } = piece;
    let first = (piece.element - origin) as usize;
    if lane_step == 1 {
        let out = &mut out[lane..lane + len];
        match stride {
            1 => decode_all(&elements[first..first + len], out, decode),
            0 => out.fill(decode(elements[first])),
            _ => each_address(first, stride, out.iter_mut(), |address, out| *out = decode(elements[address])),
        }
    } else if stride == 1 {
        let out = out[lane..].iter_mut().step_by(lane_step);
        elements[first..first + len].iter().zip(out).for_each(|(element, out)| *out = decode(*element));
    } else {
        let out = out[lane..].iter_mut().step_by(lane_step).take(len);
        each_address(first, stride, out, |address, out| *out = decode(elements[address]));
    }
}

#[inline(always)]
fn scatter<const B: usize, T: Copy>(
    bytes: &mut [u8],
    placing: Placing<'_>,
    lanes: &[T],
    encode: impl Fn(&mut [u8; B], T) + Copy,
) {
    let elements = bytes.as_chunks_mut::<B>().0;
    match placing {
        Placing::Packed => encode_all(elements, lanes, encode),
        Placing::Spread { region, shape, layout, origin } => {
            region.each_piece(shape, layout, |piece| scatter_piece(elements, piece, origin, lanes, encode));
        }
    }
}

#[inline(always)]
fn scatter_piece<const B: usize, T: Copy>(
    elements: &mut [[u8; B]],
    piece: Piece,
    origin: i64,
    words: &[T],
    encode: impl Fn(&mut [u8; B], T) + Copy,
) {
    let Piece { lane, lane_step, stride, len, .. } = piece;
    let first = (piece.element - origin) as usize;
    if lane_step == 1 && stride == 1 {
        encode_all(&mut elements[first..first + len], &words[lane..lane + len], encode);
    } else {
        let words = words[lane..].iter().step_by(lane_step).take(len);
        each_address(first, stride, words, |address, word| encode(&mut elements[address], *word));
    }
}

/// Pairs items with evenly spaced addresses.
#[inline(always)]
fn each_address<I>(first: usize, stride: i64, items: impl Iterator<Item = I>, mut f: impl FnMut(usize, I)) {
    let mut address = first;
    for item in items {
        f(address, item);
        address = address.wrapping_add_signed(stride as isize);
    }
}

/// The bytes as whole chunks of lanes, where storage and register agree and the address is aligned.
pub(super) fn chunks<T: bytemuck::Pod>(bytes: &[u8]) -> Option<&[Chunk<T>]> {
    bytemuck::try_cast_slice::<u8, T>(bytes).ok().map(|lanes| lanes.as_chunks::<LANES>().0)
}

/// As `chunks`, to be written.
pub(super) fn chunks_mut<T: bytemuck::Pod>(bytes: &mut [u8]) -> Option<&mut [Chunk<T>]> {
    bytemuck::try_cast_slice_mut::<u8, T>(bytes).ok().map(|lanes| lanes.as_chunks_mut::<LANES>().0)
}

/// Whether an element's bytes are its lane's bits.
pub(super) fn is_plain(elem: Elem) -> bool {
    matches!(elem, Elem::I32 | Elem::U32 | Elem::F32 | Elem::I64 | Elem::U64 | Elem::F64)
}

/// The numbers of a block's elements.
pub(super) fn number<T>(region: &Region, shape: &[usize], out: &mut [Chunk<T>], of: impl Fn(i64) -> T) {
    let lanes = out.as_flattened_mut();
    match region {
        Region::Run(range) => lanes.iter_mut().zip(range.clone()).for_each(|(out, i)| *out = of(i as i64)),
        region => region.each_piece(shape, &Layout::contiguous(shape), |piece| {
            let numbers = (0..piece.len).map(|i| piece.element + i as i64 * piece.stride);
            let lanes = lanes[piece.lane..].iter_mut().step_by(piece.lane_step);
            lanes.zip(numbers).for_each(|(out, i)| *out = of(i));
        }),
    }
}

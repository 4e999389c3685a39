//! Scatters on the GPU: an invocation an update, by atomics where several may meet.

use pumice_kernel::{Access, Buffer, Builder, Elem, Kernel, Scalar, Target, Type, Val};

use super::Combine;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::eval::site::{Placed, Site};
use crate::launch::fold_groups;
use crate::ops::gather::{Form, Position, WORKGROUP, Walk, copy, index_buffers};
use crate::typed::Typed;

/// Where the result is made: in the output itself, or beside it where atomics on 32-bit words would reach beyond its
/// end.
pub(super) struct Destination {
    place: Placed,
    beside: bool,
}

impl Destination {
    /// A place that begins as the first input.
    pub fn new(site: &mut Site<'_>, combine: Combine) -> Result<Destination> {
        let spec = site.output_spec(0).clone();
        let beside = combine != Combine::Replace && !spec.nbytes().is_multiple_of(4);
        if !beside {
            return Ok(Destination { place: site.output_from(0, 0)?, beside });
        }
        let padded = spec.size().next_multiple_of(4 / spec.dtype.size());
        let scratch = site.scratch(&[padded as i32], spec.dtype);
        let place = Placed { layout: site.output(0).layout, ..scratch };
        let x = site.input(0)?;
        copy(site, &x, &place)?;
        Ok(Destination { place, beside })
    }

    pub fn place(&self) -> &Placed {
        &self.place
    }

    /// Moves the result to the output.
    pub fn finish(&self, site: &mut Site<'_>) -> Result<()> {
        if !self.beside {
            return Ok(());
        }
        let output = site.output(0);
        copy(site, &self.place, &output)
    }
}

/// How updates reach their elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// By a store: the last one wins.
    Store,
    /// By an atomic of the device.
    Atomic,
    /// By two atomics: the parts of complex numbers add on their own.
    Parts,
    /// By two atomics on the halves of a 64-bit integer, carrying from the low one.
    Carry,
    /// By comparing and swapping a word until nobody came between.
    Swap,
    /// One after the other: 64-bit elements on a device without 64-bit atomics.
    Serial,
}

impl Way {
    fn of(combine: Combine, dtype: Dtype, target: &Target) -> Way {
        use Dtype::{C64, F32, I32, I64, U32, U64};
        match (combine, dtype) {
            (Combine::Replace, _) => Way::Store,
            (Combine::Add, F32 | I32 | U32) | (Combine::Max | Combine::Min, I32 | U32) => Way::Atomic,
            (Combine::Add, C64) => Way::Parts,
            (Combine::Add | Combine::Max | Combine::Min, I64 | U64) if target.atomic_i64 => Way::Atomic,
            (Combine::Add, I64 | U64) => Way::Carry,
            _ if dtype.size() == 8 && !target.atomic_i64 => Way::Serial,
            _ => Way::Swap,
        }
    }
}

/// Launches a scatter into `to`, which lies without gaps.
pub(super) fn launch(
    site: &mut Site<'_>,
    combine: Combine,
    walk: &Walk,
    updates: &Placed,
    indices: &[Placed],
    to: &Placed,
) -> Result<()> {
    let way = Way::of(combine, to.dtype, site.target());
    let (from, from_start) = updates.base();
    let mut form = Form::of(walk, to, indices, to.dtype.size());
    form.long |= Form::of(walk, &from, &[], to.dtype.size()).long;
    let mut scalars = form.walk_arguments(walk, 0);
    let (bases, starts): (Vec<Placed>, Vec<i64>) = indices.iter().map(Placed::base).unzip();
    form.index_arguments(walk, &starts, &mut scalars);
    scalars.push(form.number(from_start));
    scalars.extend(form.strides(&walk.moved));
    let operands: Vec<&Placed> = std::iter::once(&from).chain(&bases).chain([to]).collect();
    let count = if way == Way::Serial { 1 } else { (walk.count() as u64).div_ceil(WORKGROUP as u64) };
    let mut key = form.key(combine.name());
    key.word(((way as u64) << 8) | to.dtype as u64);
    let dtype = to.dtype;
    site.launch(&key, || kernel(Scattering { form, combine, way, dtype }), fold_groups(count), &operands, &scalars)
}

/// What distinguishes the kernels.
#[derive(Clone, Copy)]
struct Scattering {
    form: Form,
    combine: Combine,
    way: Way,
    dtype: Dtype,
}

fn kernel(this: Scattering) -> Result<Kernel> {
    let Scattering { form, combine, way, dtype } = this;
    Ok(Kernel::build(combine.name(), [WORKGROUP, 1, 1], |k| {
        let updates = k.input("updates", dtype.elem());
        let indices = index_buffers(k, form);
        let access = if way == Way::Store { Access::Write } else { Access::ReadWrite };
        let to = k.buffer("to", dtype.elem(), access, dtype.size().max(4) as u32);
        let write = |position: Position<'_>| {
            let (place, inside) = position.indexed(&indices);
            let from = position.moved();
            k.when(inside, || {
                let update = Typed::new(updates.load(from), dtype);
                this.write(k, to, place, update);
            });
        };
        match way {
            Way::Serial => {
                let (count, own) = (k.arg("n", form.scalar()), k.global_index());
                k.when(own.eq(0), || k.step(0, count, 1, |at| write(Position::at(k, form, count, at))));
            }
            _ => {
                let position = Position::new(k, form);
                k.when(position.at.lt_u(position.count), || write(position));
            }
        }
    })?)
}

impl Scattering {
    fn write<'k>(&self, k: &'k Builder, to: Buffer<'k>, place: Val<'k>, update: Typed<'k>) {
        match (self.way, self.combine) {
            (Way::Store, _) => to.store(place, update.val),
            (Way::Atomic, combine) => {
                let _before = match combine {
                    Combine::Max => to.atomic_max(place, update.val),
                    Combine::Min => to.atomic_min(place, update.val),
                    _ => to.atomic_add(place, update.val),
                };
            }
            (Way::Parts, _) => {
                let floats = to.view(Elem::F32);
                for part in 0..2 {
                    floats.atomic_add(place * 2 + part, update.val.lane(part as u8));
                }
            }
            (Way::Carry, _) => add_halves(to.view(Elem::U32), place, update.val),
            (Way::Swap, _) if self.dtype.size() == 8 => {
                swap(k, to.view(Elem::U64), place, |word| self.changed_wide(word, update))
            }
            (Way::Swap, _) => self.swap_narrow(k, to.view(Elem::U32), place, update),
            (Way::Serial, _) => {
                let old = Typed::new(to.load(place), self.dtype);
                to.store(place, self.combine.typed(old, update).val);
            }
        }
    }

    fn changed_wide<'k>(&self, word: Val<'k>, update: Typed<'k>) -> Val<'k> {
        let old = Typed::new(word.bitcast_type(self.dtype.elem().compute()), self.dtype);
        self.combine.typed(old, update).val.bitcast_type(Type::I64)
    }

    /// Swaps the 32-bit word that contains the element.
    fn swap_narrow<'k>(&self, k: &'k Builder, words: Buffer<'k>, place: Val<'k>, update: Typed<'k>) {
        let (size, per_word) = (self.dtype.size() as i32, 4 / self.dtype.size() as i32);
        let mask = if size == 4 { -1 } else { (1 << (8 * size)) - 1 };
        let shift = place.rem_u(per_word).to(Scalar::I32) * (8 * size);
        swap(k, words, place.div_u(per_word), |word| {
            let old = decoded(word.shr_u(shift) & mask, self.dtype);
            let new = encoded(self.combine.typed(old, update)) & mask;
            (word & !(k.i32(mask) << shift)) | (new << shift)
        });
    }
}

/// Replaces a word by what becomes of it, until nobody came between.
fn swap<'k>(k: &'k Builder, words: Buffer<'k>, at: Val<'k>, change: impl Fn(Val<'k>) -> Val<'k>) {
    let nothing = k.constant(words.elem().compute(), 0);
    let seen = words.atomic_or(at, nothing);
    k.while_(
        (seen, k.bool(false)),
        |(_, done)| !done,
        |(seen, _)| {
            let found = words.atomic_compare_exchange(at, seen, change(seen));
            (found, found.eq(seen))
        },
    );
}

fn add_halves<'k>(words: Buffer<'k>, place: Val<'k>, update: Val<'k>) {
    let (low, high) = (update.to_u(Scalar::I32), update.shr_u(32).to_u(Scalar::I32));
    let before = words.atomic_add(place * 2, low);
    let carry = (before + low).lt_u(low).select(1, update.builder().i32(0));
    words.atomic_add(place * 2 + 1, high + carry);
}

/// An element from its bits in the low end of a word.
fn decoded<'k>(bits: Val<'k>, dtype: Dtype) -> Typed<'k> {
    match dtype {
        Dtype::Bool => Typed::new(bits.ne(0), dtype),
        Dtype::F16 | Dtype::BF16 => Typed::new(bits.decode(dtype.elem()), dtype),
        Dtype::F32 => Typed::new(bits.bitcast(Scalar::F32), dtype),
        _ => Typed::rounded(bits, dtype),
    }
}

/// The bits of an element; those above it are undefined.
fn encoded(value: Typed<'_>) -> Val<'_> {
    match value.dtype {
        Dtype::Bool => value.val.select(1, value.builder().i32(0)),
        Dtype::F16 | Dtype::BF16 => value.val.encode(value.dtype.elem()),
        Dtype::F32 => value.val.bitcast(Scalar::I32),
        _ => value.val,
    }
}

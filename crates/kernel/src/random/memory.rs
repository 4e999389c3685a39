//! Loads, stores and atomics at random, always inside their bounds and free of races.

use super::{Role, Writer};
use crate::ir::{Access, ArrayDecl, AtomicOp, BinaryOp, Op, Place, Value};
use crate::types::{Elem, Type};

impl Writer<'_> {
    /// An access: of an input, of one's own elements, of a private array, or an atomic.
    pub(super) fn memory(&mut self) {
        match self.source.below(10) {
            0..=3 => self.load_input(),
            4 => self.load_run(),
            5 => self.touch_output(),
            6 if self.count() => {}
            7..=9 if !self.kernel.private.is_empty() => self.touch_private(),
            _ => self.load_input(),
        }
    }

    /// Buffers of a role, by number.
    pub(super) fn buffers(&self, is: impl Fn(Role) -> bool) -> Vec<u32> {
        let numbered = self.declared.iter().enumerate();
        numbered.filter(|(_, d)| is(d.role)).map(|(i, _)| i as u32).collect()
    }

    /// Some I32 in scope modulo `n`.
    pub(super) fn index_below(&mut self, n: u32) -> Value {
        let any = self.pick(Type::I32);
        let n = self.number(n);
        self.integer(BinaryOp::RemU, any, n)
    }

    /// An index as I32 or as I64.
    fn either_width(&mut self, index: Value) -> Value {
        match self.source.chance(1, 4) {
            true => self.hidden(Type::I64, Op::Convert { value: index, signed: false }),
            false => index,
        }
    }

    /// How many elements one access of a place may move.
    fn width(&mut self, elem: Elem, align: u32) -> u32 {
        let most = (align.min(16) / elem.bytes() as u32).max(1);
        let widths: Vec<u32> = [1, 1, 2, 4, 8, 16].into_iter().filter(|w| *w <= most).collect();
        self.source.choose(&widths)
    }

    fn load(&mut self, place: Place, elem: Elem, ty: Type, index: Value, count: u32) {
        let results: Vec<Value> = (0..count).map(|_| self.kernel.fresh(ty)).collect();
        self.pool.extend(results.iter().map(|v| (*v, ty)));
        self.push(results, Op::Load { place, elem, index });
    }

    /// Reads an input anywhere, sometimes as another type, sometimes several elements at once.
    fn load_input(&mut self) {
        let inputs = self.buffers(|r| r == Role::Input);
        let number = self.source.choose(&inputs);
        let param = self.kernel.buffers[number as usize].clone();
        let bytes = self.declared[number as usize].len * param.elem.bytes() as u32;
        let mut elem = param.elem;
        if self.source.chance(1, 4) {
            let other = self.elem();
            // Bytes that are neither 0 nor 1 are no bools.
            if other != Elem::Bool && other.bytes() as u32 <= param.align {
                elem = other;
            }
        }
        let count = self.width(elem, param.align);
        let groups = bytes / (elem.bytes() as u32 * count);
        let index = self.index_below(groups);
        let count_value = self.number(count);
        let index = self.integer(BinaryOp::Mul, index, count_value);
        let index = self.either_width(index);
        self.load(Place::Buffer(number), elem, elem.compute(), index, count);
    }

    /// Reads neighbours one by one: what vectorising looks for.
    fn load_run(&mut self) {
        let inputs = self.buffers(|r| r == Role::Input);
        let number = self.source.choose(&inputs);
        let elem = self.kernel.buffers[number as usize].elem;
        let len = self.declared[number as usize].len;
        let index = self.index_below(len / 4);
        let four = self.number(4);
        let base = self.integer(BinaryOp::Mul, index, four);
        for offset in 0..self.source_below(3) + 2 {
            let offset = self.number(offset);
            let index = self.integer(BinaryOp::Add, base, offset);
            self.load(Place::Buffer(number), elem, elem.compute(), index, 1);
        }
    }

    /// The index of one of the invocation's own elements, or of `count` from there.
    fn own(&mut self, per: u32, offset: u32) -> Value {
        let per = self.number(per);
        let base = self.integer(BinaryOp::Mul, self.me, per);
        let offset = self.number(offset);
        self.integer(BinaryOp::Add, base, offset)
    }

    /// Reads or writes one of the invocation's own elements of an output.
    fn touch_output(&mut self) {
        let outputs = self.buffers(|r| matches!(r, Role::Output { .. }));
        let number = self.source.choose(&outputs);
        let Role::Output { per } = self.declared[number as usize].role else { unreachable!("filtered above") };
        let param = self.kernel.buffers[number as usize].clone();
        let offset = self.source_below(per);
        let index = self.own(per, offset);
        let index = self.either_width(index);
        if param.access == Access::ReadWrite && self.source.chance(1, 2) {
            self.load(Place::Buffer(number), param.elem, param.elem.compute(), index, 1);
        } else {
            self.store(number, param.elem, index, 1);
        }
    }

    fn store(&mut self, number: u32, elem: Elem, index: Value, count: u32) {
        let values = (0..count).map(|_| self.pick(elem.compute())).collect();
        self.effect(Op::Store { place: Place::Buffer(number), elem, index, values });
    }

    /// At the end every own element of every output is written, one by one or several at once.
    pub(super) fn write_outputs(&mut self) {
        for number in self.buffers(|r| matches!(r, Role::Output { .. })) {
            let Role::Output { per } = self.declared[number as usize].role else { unreachable!("filtered above") };
            let param = self.kernel.buffers[number as usize].clone();
            let mut count = self.width(param.elem, param.align);
            while !per.is_multiple_of(count) {
                count /= 2;
            }
            for offset in (0..per).step_by(count as usize) {
                let index = self.own(per, offset);
                self.store(number, param.elem, index, count);
            }
        }
    }

    /// Declares a buffer that all invocations count in, by one operation.
    pub(super) fn counter(&mut self) {
        let mut elems = vec![Elem::I32, Elem::U32];
        if self.limits.atomic_i64 {
            elems.extend([Elem::I64, Elem::U64]);
        }
        let elem = self.source.choose(&elems);
        let op = self.order_free();
        self.buffer("counter", elem, Access::ReadWrite, Role::Counter(op), 8);
    }

    /// An atomic operation whose result in memory does not depend on the order.
    pub(super) fn order_free(&mut self) -> AtomicOp {
        let all = [AtomicOp::Add, AtomicOp::Min, AtomicOp::Max, AtomicOp::And, AtomicOp::Or, AtomicOp::Xor];
        self.source.choose(&all)
    }

    /// Counts in a counter, if there is one.
    fn count(&mut self) -> bool {
        let counters = self.buffers(|r| matches!(r, Role::Counter(_)));
        let Some(&number) = counters.first() else { return false };
        let Role::Counter(op) = self.declared[number as usize].role else { unreachable!("filtered above") };
        let elem = self.kernel.buffers[number as usize].elem;
        let index = self.index_below(8);
        let value = self.pick(elem.compute());
        let place = Place::Buffer(number);
        self.hidden(elem.compute(), Op::Atomic { op, place, elem, index, value, expected: None });
        true
    }

    pub(super) fn private_array(&mut self) {
        let decl = self.array("private", 8);
        self.kernel.private.push(decl);
    }

    /// An array of some type.
    pub(super) fn array(&mut self, name: &str, len: u32) -> ArrayDecl {
        let elem = self.elem();
        let lanes = if elem == Elem::C64 { 1 } else { self.source.choose(&[1, 1, 1, 2, 4]) };
        let number = self.kernel.shared.len() + self.kernel.private.len();
        ArrayDecl { name: format!("{name}_{number}"), elem, lanes, len }
    }

    fn touch_private(&mut self) {
        let number = self.source_below(self.kernel.private.len() as u32);
        let ArrayDecl { elem, lanes, len, .. } = self.kernel.private[number as usize];
        let ty = self.kernel.private[number as usize].compute();
        let place = Place::Private(number);
        let count = if self.source.chance(1, 4) { self.width(elem, 16 / lanes as u32).min(len) } else { 1 };
        let index = self.index_below(len / count);
        let width = self.number(count);
        let index = self.integer(BinaryOp::Mul, index, width);
        if self.source.chance(1, 2) {
            let values = (0..count).map(|_| self.pick(ty)).collect();
            self.effect(Op::Store { place, elem, index, values });
        } else {
            self.load(place, elem, ty, index, count);
        }
    }
}

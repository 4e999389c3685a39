//! Control flow: closures become blocks, and what they return becomes the blocks' yields.

use super::{Builder, Operand, Val};
use crate::ir::{Op, Unroll, Value};
use crate::types::Type;

/// What can leave an `if_` or be carried by a loop: nothing, a value, a vector of values, an array or a tuple of those.
pub trait Values<'k>: Sized {
    /// The values, in order.
    fn list(&self) -> Vec<Val<'k>>;
    /// The same shape with other values.
    fn with(&self, values: &[Val<'k>]) -> Self;
}

impl<'k> Values<'k> for () {
    fn list(&self) -> Vec<Val<'k>> {
        Vec::new()
    }
    fn with(&self, _: &[Val<'k>]) -> Self {}
}

impl<'k> Values<'k> for Val<'k> {
    fn list(&self) -> Vec<Val<'k>> {
        vec![*self]
    }
    fn with(&self, values: &[Val<'k>]) -> Self {
        values[0]
    }
}

impl<'k, V: Values<'k>, const N: usize> Values<'k> for [V; N] {
    fn list(&self) -> Vec<Val<'k>> {
        self.iter().flat_map(V::list).collect()
    }
    fn with(&self, values: &[Val<'k>]) -> Self {
        let mut rest = values;
        self.each_ref().map(|part| {
            let (mine, others) = rest.split_at(part.list().len());
            rest = others;
            part.with(mine)
        })
    }
}

impl<'k> Values<'k> for Vec<Val<'k>> {
    fn list(&self) -> Vec<Val<'k>> {
        self.clone()
    }
    fn with(&self, values: &[Val<'k>]) -> Self {
        values.to_vec()
    }
}

macro_rules! tuple_values {
    ($($name:ident $index:tt),*) => {
        impl<'k, $($name: Values<'k>),*> Values<'k> for ($($name,)*) {
            fn list(&self) -> Vec<Val<'k>> {
                let mut list = Vec::new();
                $(list.extend(self.$index.list());)*
                list
            }
            fn with(&self, values: &[Val<'k>]) -> Self {
                let mut rest = values;
                ($({
                    let (mine, others) = rest.split_at(self.$index.list().len());
                    rest = others;
                    let _ = rest;
                    self.$index.with(mine)
                },)*)
            }
        }
    };
}
tuple_values!(A 0, B 1);
tuple_values!(A 0, B 1, C 2);
tuple_values!(A 0, B 1, C 2, D 3);

fn ids(values: &[Val<'_>]) -> Vec<Value> {
    values.iter().map(|v| v.id).collect()
}

fn types(values: &[Val<'_>]) -> Vec<Type> {
    values.iter().map(|v| v.ty()).collect()
}

impl Builder {
    /// Runs the closure where the condition holds.
    #[track_caller]
    pub fn when<'k>(&'k self, condition: Val<'k>, then: impl FnOnce()) {
        self.if_(condition, then, || ());
    }

    /// Runs one of two closures; both return values of the same types.
    #[track_caller]
    pub fn if_<'k, V: Values<'k>>(
        &'k self,
        condition: Val<'k>,
        then: impl FnOnce() -> V,
        otherwise: impl FnOnce() -> V,
    ) -> V {
        let (mut then, yes) = self.nested(&[], |_| then());
        let (mut otherwise, no) = self.nested(&[], |_| otherwise());
        let (yes, no_list) = (yes.list(), no.list());
        if types(&yes) != types(&no_list) {
            condition.mistake("both sides of an if must give values of the same types but do not.".to_owned());
            return no;
        }
        then.yields = ids(&yes);
        otherwise.yields = ids(&no_list);
        let results =
            self.emit(&types(&yes), Op::If { condition: condition.id, then: then.into(), otherwise: otherwise.into() });
        no.with(&results)
    }

    /// `for i in start..end`, carrying values from one turn to the next; gives the last ones. Signed; the index has the type
    /// of `end`.
    #[track_caller]
    pub fn for_<'k, V: Values<'k>>(
        &'k self,
        start: impl Operand<'k>,
        end: Val<'k>,
        step: impl Operand<'k>,
        init: V,
        body: impl FnOnce(Val<'k>, V) -> V,
    ) -> V {
        self.for_loop(start, end, step, init, body, Unroll::Free)
    }

    /// As `for_`, asking the driver to unroll.
    #[track_caller]
    pub fn for_unrolled<'k, V: Values<'k>>(
        &'k self,
        start: impl Operand<'k>,
        end: Val<'k>,
        step: impl Operand<'k>,
        init: V,
        body: impl FnOnce(Val<'k>, V) -> V,
    ) -> V {
        self.for_loop(start, end, step, init, body, Unroll::Whole)
    }

    /// As `for_`, asking the driver not to unroll: where one turn fills the registers, several spill them.
    #[track_caller]
    pub fn for_rolled<'k, V: Values<'k>>(
        &'k self,
        start: impl Operand<'k>,
        end: Val<'k>,
        step: impl Operand<'k>,
        init: V,
        body: impl FnOnce(Val<'k>, V) -> V,
    ) -> V {
        self.for_loop(start, end, step, init, body, Unroll::Never)
    }

    #[track_caller]
    fn for_loop<'k, V: Values<'k>>(
        &'k self,
        start: impl Operand<'k>,
        end: Val<'k>,
        step: impl Operand<'k>,
        init: V,
        body: impl FnOnce(Val<'k>, V) -> V,
        unroll: Unroll,
    ) -> V {
        let index = end.ty();
        let (start, step) = (start.into_val(self, index), step.into_val(self, index));
        let first = init.list();
        let mut params = vec![index];
        params.extend(types(&first));
        let (mut block, next) = self.nested(&params, |vals| body(vals[0], init.with(&vals[1..])));
        let next = next.list();
        if types(&next) != types(&first) {
            end.mistake("a loop must carry values of the same types each turn but does not.".to_owned());
            return init;
        }
        block.yields = ids(&next);
        let (start, end, step) = (start.id, end.id, step.id);
        let op = Op::For { start, end, step, init: ids(&first), body: block.into(), unroll };
        let results = self.emit(&types(&first), op);
        init.with(&results)
    }

    /// While `test` holds, `body` makes the next carried values; gives the last ones.
    #[track_caller]
    pub fn while_<'k, V: Values<'k>>(
        &'k self,
        init: V,
        test: impl FnOnce(V) -> Val<'k>,
        body: impl FnOnce(V) -> V,
    ) -> V {
        let first = init.list();
        let params = types(&first);
        let (mut test, condition) = self.nested(&params, |vals| test(init.with(vals)));
        test.yields = vec![condition.id];
        let (mut body, next) = self.nested(&params, |vals| body(init.with(vals)));
        let next = next.list();
        if types(&next) != params {
            condition.mistake("a loop must carry values of the same types each turn but does not.".to_owned());
            return init;
        }
        body.yields = ids(&next);
        let results = self.emit(&params, Op::While { init: ids(&first), test: test.into(), body: body.into() });
        init.with(&results)
    }

    /// Folds a closure over `0..n`: `for_` with one accumulator.
    #[track_caller]
    pub fn fold<'k, V: Values<'k>>(&'k self, n: Val<'k>, init: V, body: impl FnOnce(Val<'k>, V) -> V) -> V {
        self.for_(0, n, 1, init, body)
    }

    /// Runs the closure for each of `0..n` (I32), one per invocation of the launch: the launch must have at least `n`
    /// invocations in x and y together.
    #[track_caller]
    pub fn each<'k>(&'k self, n: Val<'k>, body: impl FnOnce(Val<'k>)) {
        let i = self.global_index();
        self.when(i.lt_u(n), || body(i));
    }

    /// Runs the closure for `start, start + step, …` below `end`, without carried values.
    #[track_caller]
    pub fn step<'k>(
        &'k self,
        start: impl Operand<'k>,
        end: Val<'k>,
        step: impl Operand<'k>,
        body: impl FnOnce(Val<'k>),
    ) {
        self.for_(start, end, step, (), |i, ()| body(i));
    }
}

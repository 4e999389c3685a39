//! Softmax on the GPU: rows that fit registers are read once; longer ones are reduced first, then scaled.

use pumice_kernel::{Buffer, Builder, Kernel, Val};
use smallvec::smallvec;

use super::logsumexp::Exponentials;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::eval::elements::{Elements, Loader, Operand, Results, Storer};
use crate::eval::site::Site;
use crate::launch::fold_groups;
use crate::op::Key;
use crate::ops::reduce::axes::Order;
use crate::ops::reduce::gpu::indices::Indices;
use crate::ops::reduce::gpu::pass::Goal;
use crate::ops::reduce::gpu::team::{self, Exchange, WORKGROUP};
use crate::ops::reduce::{self, RowCombiner, row};
use crate::typed::Typed;

/// Elements of a row that an invocation keeps in registers, at most.
const REGISTERS: i64 = 32;
/// Accesses of an invocation of the scaling kernel.
const ACCESSES: usize = 4;

/// Launches softmax along the last axis.
pub(super) fn launch(site: &mut Site<'_>) -> Result<()> {
    let mut input = site.elements(0)?;
    if !input.layout.is_row_contiguous() {
        site.contiguous(0)?;
        input = site.elements(0)?;
    }
    let output = site.results(0);
    let n = *site.input_spec(0).shape.last().expect("softmax is along an axis") as i64;
    let rows = site.input_spec(0).size() as i64 / n;
    let long = rows * n > i32::MAX as i64 / 2;
    let mut wide = (input.align as usize / input.dtype.size()).max(1);
    while n % wide as i64 != 0 {
        wide /= 2;
    }
    let shape = Rows { rows, n, wide, indices: Indices { long }, dtype: input.dtype };
    match n <= WORKGROUP as i64 * REGISTERS {
        true => shape.in_registers(site, &input, &output),
        false => shape.in_passes(site, &input, &output),
    }
}

/// The rows of a call.
struct Rows {
    rows: i64,
    n: i64,
    wide: usize,
    indices: Indices,
    dtype: Dtype,
}

impl Rows {
    fn key(&self, kind: &str) -> Key {
        let mut key = Key::default();
        key.text(kind);
        key.word(self.dtype as u64);
        key.word((self.wide as u64) << 1 | self.indices.long as u64);
        key
    }

    fn in_registers(&self, site: &mut Site<'_>, input: &Elements, output: &Results) -> Result<()> {
        let team = [8, 64, WORKGROUP][(self.n > 64) as usize + (self.n > 64 * REGISTERS) as usize];
        let accesses = (self.n as u64).div_ceil(team as u64 * self.wide as u64).next_power_of_two() as usize;
        let exchange = Exchange::of(site.target().subgroup_size);
        let mut key = self.key("softmax");
        key.word((team as u64) << 32 | (accesses as u64) << 1 | (exchange == Exchange::Shared) as u64);
        let build = || {
            Ok(Kernel::build("softmax", [WORKGROUP, 1, 1], |k| {
                let (x, y) = (input.declare(k, self.wide), output.declare(k, self.wide));
                self.write_in_registers(k, &x, &y, exchange, [team, accesses as u32]);
            })?)
        };
        let groups = fold_groups((self.rows as u64).div_ceil((WORKGROUP / team) as u64));
        let arguments = [self.rows, self.n].map(|number| self.indices.number(number));
        let operands = [Operand::Elements(input), Operand::Results(output)];
        site.launch_on(&key, build, groups, &operands, &arguments)
    }

    fn write_in_registers<'k>(
        &self,
        k: &'k Builder,
        x: &Loader<'_, 'k>,
        y: &Storer<'_, 'k>,
        exchange: Exchange,
        [team, accesses]: [u32; 2],
    ) {
        let (ix, wide) = (self.indices, self.wide);
        let (rows, n) = (ix.argument(k, "rows"), ix.argument(k, "n"));
        let position = exchange.position(k);
        let lane = ix.of(position & (team as i32 - 1));
        let row_in_group = ix.of(position.shr_u(team.trailing_zeros() as i32));
        let row = ix.of(k.group_index()) * ((WORKGROUP / team) as i32) + row_in_group;
        let start = row * n;
        let end = row.lt_u(rows).select(n, ix.of(k.i32(0)));
        let places: Vec<Val> = (0..accesses as i32).map(|j| (lane + j * (team as i32)) * (wide as i32)).collect();
        let outside = vec![k.f32(f32::NEG_INFINITY); wide];
        let parts: Vec<Vec<Val>> =
            places.iter().map(|&i| k.if_(i.lt(end), || load(x, start + i, wide), || outside.clone())).collect();
        let most = parts.iter().flatten().copied().reduce(|a, b| a.max(b)).expect("a row has elements");
        let most = together(k, exchange, team, "max", most);
        // A row of -inf alone has no finite maximum: exp(-inf - -inf) is NaN, as the formula says.
        let powers: Vec<Vec<Val>> = parts.iter().map(|part| part.iter().map(|&v| (v - most).exp()).collect()).collect();
        let sum = powers.iter().flatten().copied().reduce(|a, b| a + b).expect("a row has elements");
        let scale = 1.0 / together(k, exchange, team, "sum", sum);
        for (&i, part) in places.iter().zip(&powers) {
            let scaled: Vec<Val> = part.iter().map(|&v| v * scale).collect();
            k.when(i.lt(end), || self.store(y, start + i, &scaled));
        }
    }

    /// The greatest element of each row and the sum of exponentials around it, then the elements by them.
    fn in_passes(&self, site: &mut Site<'_>, input: &Elements, output: &Results) -> Result<()> {
        let [most, sum] = [(); 2].map(|_| site.scratch(&[self.rows as i32], Dtype::F32));
        let last = site.input_spec(0).ndim() - 1;
        let goal = Goal::Partial(vec![most.clone(), sum.clone()]);
        reduce::gpu::launch_into(&Exponentials { dtype: self.dtype }, site, &[last], Order::Free, goal)?;
        let per_group = (WORKGROUP as usize * self.wide * ACCESSES) as u64;
        let blocks = (self.n as u64).div_ceil(per_group) as i64;
        let build = || {
            Ok(Kernel::build("softmax_scale", [WORKGROUP, 1, 1], |k| {
                let x = input.declare(k, self.wide);
                let [most, sum] = ["most", "sum"].map(|name| k.input(name, Dtype::F32.elem()));
                self.write_scaling(k, &x, [most, sum], &output.declare(k, self.wide));
            })?)
        };
        let arguments = [self.rows, self.n, blocks].map(|number| self.indices.number(number));
        let groups = fold_groups((self.rows * blocks) as u64);
        let operands =
            [Operand::Elements(input), Operand::Placed(&most), Operand::Placed(&sum), Operand::Results(output)];
        site.launch_on(&self.key("softmax scale"), build, groups, &operands, &arguments)
    }

    fn write_scaling<'k>(&self, k: &'k Builder, x: &Loader<'_, 'k>, [most, sum]: [Buffer<'k>; 2], y: &Storer<'_, 'k>) {
        let (ix, wide) = (self.indices, self.wide);
        let [rows, n, blocks] = ["rows", "n", "blocks"].map(|name| ix.argument(k, name));
        let group = ix.of(k.group_index());
        let (row, block) = (group.div_u(blocks), group.rem_u(blocks));
        k.when(row.lt_u(rows), || {
            let most = most.load(row);
            // Around an infinite element there is nothing to compute with: NaN, as the formula says.
            let scale = 1.0 / (sum.load(row) + most * 0.0);
            for j in 0..ACCESSES as i32 {
                let access =
                    block * (WORKGROUP as i32 * ACCESSES as i32) + ix.of(k.local_index()) + j * WORKGROUP as i32;
                let i = access * (wide as i32);
                k.when(i.lt(n), || {
                    let scaled: Vec<Val> =
                        load(x, row * n + i, wide).into_iter().map(|v| (v - most).exp() * scale).collect();
                    self.store(y, row * n + i, &scaled);
                });
            }
        });
    }

    fn store<'k>(&self, y: &Storer<'_, 'k>, at: Val<'k>, values: &[Val<'k>]) {
        let rounded: Vec<Typed> = values.iter().map(|&v| Typed::new(v, Dtype::F32).to(self.dtype)).collect();
        y.store(at, &rounded);
    }
}

/// Reduces one f32 of each invocation over its team, by a row of the table of reductions.
fn together<'k>(k: &'k Builder, exchange: Exchange, team: u32, by: &str, own: Val<'k>) -> Val<'k> {
    let combiner = RowCombiner { row: row(by), dtype: Dtype::F32 };
    team::reduce(k, &combiner, exchange, team, smallvec![Typed::new(own, Dtype::F32)])[0].val
}

/// Elements as they are computed with: in float32.
fn load<'k>(x: &Loader<'_, 'k>, at: Val<'k>, wide: usize) -> Vec<Val<'k>> {
    x.load(at, wide).into_iter().map(|x| x.val).collect()
}

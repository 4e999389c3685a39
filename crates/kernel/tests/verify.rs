//! The verifier accepts what the builder makes and names what is wrong with broken kernels.

use pumice_kernel::ir::{
    AtomicOp, BinaryOp, Block, CompareOp, Inst, Line, MatrixOp, Op, Place, Results, UnaryOp, Unroll, Value,
};
use pumice_kernel::verify::verify;
use pumice_kernel::{
    Access, Buffer, Builder, Elem, Error, Kernel, Matrix, MatrixLayout, MatrixRole, MatrixScope, Scalar, Type,
};

const LINE: Line = Line { file: "test", line: 7 };

/// An empty kernel with one buffer of each access, an argument, and one array of each kind.
fn empty() -> Kernel {
    Kernel::build("broken", [64, 1, 1], |k| {
        k.buffer("input", Elem::F32, Access::Read, 16);
        k.buffer("output", Elem::F32, Access::Write, 4);
        k.buffer("both", Elem::I32, Access::ReadWrite, 4);
        k.arg_array("shape", Scalar::I32, 4);
        k.shared("tile", Elem::F32, 64);
        k.private("mine", Elem::F32, 4);
    })
    .expect("declares only")
}

struct Writer {
    kernel: Kernel,
}

impl Writer {
    fn new() -> Writer {
        Writer { kernel: empty() }
    }

    fn value(&mut self, ty: Type, op: Op) -> Value {
        let result = self.kernel.fresh(ty);
        self.kernel.body.insts.push(Inst { results: Results::from_iter([result]), op, line: LINE });
        result
    }

    fn constant(&mut self, ty: Type) -> Value {
        self.value(ty, Op::Const(0))
    }

    fn effect(&mut self, op: Op) {
        self.kernel.body.insts.push(Inst { results: Results::new(), op, line: LINE });
    }

    /// The message of the refusal.
    fn refusal(&self) -> String {
        refusal(&self.kernel)
    }
}

fn refusal(kernel: &Kernel) -> String {
    match verify(kernel) {
        Err(Error::Malformed { kernel, message, .. }) => {
            assert_eq!(kernel, "broken");
            assert!(message.contains(" must ") && message.contains(" but ") && message.ends_with('.'), "{message}");
            message
        }
        other => panic!("must be refused as malformed but was {other:?}"),
    }
}

#[test]
fn what_the_builder_makes_is_accepted() {
    let kernel = Kernel::build("softmax", [64, 1, 1], |k| {
        let (x, y) = (k.input("x", Elem::BF16), k.output("y", Elem::BF16));
        let n = k.arg_i32("n");
        let row = k.group_index() * n;
        let most = k.for_(k.local_index(), n, 64, k.f32(f32::NEG_INFINITY), |i, m| m.max(x.load(row + i)));
        let most = k.group_max(most);
        k.step(k.local_index(), n, 64, |i| y.store(row + i, x.load(row + i) - most));
    })
    .expect("builds");
    verify(&kernel).expect("is well formed");
}

#[test]
fn errors_name_the_line() {
    let mut w = Writer::new();
    let (a, b) = (w.constant(Type::F32), w.constant(Type::I32));
    w.value(Type::F32, Op::Binary(BinaryOp::Add, a, b));
    match verify(&w.kernel) {
        Err(Error::Malformed { line, message, .. }) => {
            assert_eq!(line, LINE);
            assert_eq!(message, "the operands of add must have equal types but are f32 and i32.");
        }
        other => panic!("must be refused but was {other:?}"),
    }
}

#[test]
fn a_value_is_defined_before_it_is_used() {
    let mut w = Writer::new();
    let later = w.kernel.fresh(Type::I32);
    w.value(Type::I32, Op::Unary(UnaryOp::Neg, later));
    assert!(w.refusal().contains("used before its definition"));
    w.kernel.body.insts.clear();
    w.value(Type::I32, Op::Unary(UnaryOp::Neg, Value(99)));
    assert!(w.refusal().contains("%99"));
}

#[test]
fn a_value_is_defined_once() {
    let mut w = Writer::new();
    let a = w.constant(Type::I32);
    w.kernel.body.insts.push(Inst { results: Results::from_iter([a]), op: Op::Const(1), line: LINE });
    assert!(w.refusal().contains("is defined again"));
    w.kernel.body.insts[1].results = Results::from_iter([Value(1)]);
    assert!(w.refusal().contains("every value must have a type"));
}

#[test]
fn a_value_does_not_leave_its_block() {
    let mut w = Writer::new();
    let condition = w.constant(Type::BOOL);
    let inner = w.kernel.fresh(Type::I32);
    let inst = Inst { results: Results::from_iter([inner]), op: Op::Const(0), line: LINE };
    let then = Block { insts: vec![inst], ..Block::default() };
    w.effect(Op::If { condition, then: then.into(), otherwise: Box::default() });
    w.value(Type::I32, Op::Unary(UnaryOp::Neg, inner));
    assert!(w.refusal().contains("used outside its block"));
}

/// An operation made of one value.
type Make = fn(Value) -> Op;

#[test]
fn operations_take_the_kinds_they_work_on() {
    let cases: [(Type, Make, &str); 8] = [
        (Type::I32, |v| Op::Unary(UnaryOp::Sqrt, v), "floats"),
        (Type::F32, |v| Op::Unary(UnaryOp::CountOnes, v), "integers"),
        (Type::BOOL, |v| Op::Binary(BinaryOp::Add, v, v), "numbers"),
        (Type::F32, |v| Op::Binary(BinaryOp::Shl, v, v), "integers"),
        (Type::F32, |v| Op::Binary(BinaryOp::And, v, v), "bools or integers"),
        (Type::I32, |v| Op::Fma(v, v, v), "floats"),
        (Type::I32, |v| Op::Narrow(Elem::F16, v), "f32"),
        (Type::F32, |v| Op::Decode(Elem::F16, v), "i32"),
    ];
    for (ty, op, words) in cases {
        let mut w = Writer::new();
        let v = w.constant(ty);
        w.value(ty, op(v));
        assert!(w.refusal().contains(words), "{}", w.refusal());
    }
}

#[test]
fn results_have_the_type_of_the_operation() {
    let cases: [(Type, Type, Make); 7] = [
        (Type::F32, Type::F32, |v| Op::Compare(CompareOp::Lt, v, v)),
        (Type::F32, Type::I32, |v| Op::Unary(UnaryOp::Neg, v)),
        (Type::I32, Type::I64, Op::Bitcast),
        (Type::F32, Type::F32, |v| Op::Encode(Elem::F16, v)),
        (Type::I32, Type::Vector(Scalar::I32, 4), |v| Op::Compose(vec![v, v])),
        (Type::I32, Type::I32, |v| Op::Extract(v, 0)),
        (Type::BOOL, Type::I32, Op::Ballot),
    ];
    for (from, to, op) in cases {
        let mut w = Writer::new();
        let v = w.constant(from);
        w.value(to, op(v));
        w.refusal();
    }
}

#[test]
fn constants_fit_their_type() {
    let mut w = Writer::new();
    w.value(Type::I32, Op::Const(1 << 32));
    assert!(w.refusal().contains("0x100000000"));
    w.kernel.body.insts[0].op = Op::Const(u32::MAX as u64);
    verify(&w.kernel).expect("fits");
    w.kernel.types[0] = Type::BOOL;
    w.refusal();
}

#[test]
fn buffers_are_used_as_they_are_declared() {
    let load = |place, elem| move |index| Op::Load { place, elem, index };
    let store = |place, elem| move |index, value| Op::Store { place, elem, index, values: vec![value] };
    let refused = |op: &dyn Fn(Value) -> Op, ty: Type| {
        let mut w = Writer::new();
        let index = w.constant(Type::I32);
        w.value(ty, op(index));
        w.refusal()
    };
    assert!(refused(&load(Place::Buffer(1), Elem::F32), Type::F32).contains("output must be readable"));
    assert!(refused(&load(Place::Buffer(3), Elem::F32), Type::F32).contains("one of the 3 declared"));
    assert!(refused(&load(Place::Shared(0), Elem::I32), Type::I32).contains("its declared type"));
    assert!(refused(&load(Place::Buffer(0), Elem::BF16), Type::I32).contains("as bf16 must be f32"));
    let mut w = Writer::new();
    let (index, value) = (w.constant(Type::I32), w.constant(Type::F32));
    w.effect(store(Place::Buffer(0), Elem::F32)(index, value));
    assert!(w.refusal().contains("input must be writable"));
    let mut w = Writer::new();
    let index = w.constant(Type::F32);
    w.value(Type::F32, load(Place::Buffer(0), Elem::F32)(index));
    assert!(w.refusal().contains("must be i32 or i64"));
}

#[test]
fn wide_accesses_have_a_legal_width() {
    let wide = |count: usize, place| {
        let mut w = Writer::new();
        let index = w.constant(Type::I32);
        let results = (0..count).map(|_| w.kernel.fresh(Type::F32)).collect();
        let op = Op::Load { place, elem: Elem::F32, index };
        w.kernel.body.insts.push(Inst { results, op, line: LINE });
        w
    };
    verify(&wide(4, Place::Buffer(0)).kernel).expect("16 bytes of a buffer aligned to 16");
    assert!(wide(3, Place::Buffer(0)).refusal().contains("1, 2, 4, 8 or 16"));
    assert!(wide(8, Place::Buffer(0)).refusal().contains("at most 16 bytes"));
    let mut w = wide(2, Place::Buffer(0));
    w.kernel.buffers[0].align = 4;
    assert!(w.refusal().contains("must be aligned to the 8 bytes"));
}

#[test]
fn atomics_work_on_integers_in_shared_places() {
    let atomic = |op, place, elem: Elem, expected: bool| {
        let mut w = Writer::new();
        let (index, value) = (w.constant(Type::I32), w.constant(elem.compute()));
        let expected = expected.then_some(value);
        w.value(elem.compute(), Op::Atomic { op, place, elem, index, value, expected });
        w
    };
    verify(&atomic(AtomicOp::Add, Place::Buffer(2), Elem::I32, false).kernel).expect("an integer of a buffer");
    verify(&atomic(AtomicOp::Max, Place::Shared(0), Elem::F32, false).kernel).expect("a float maximum");
    atomic(AtomicOp::And, Place::Shared(0), Elem::F32, false).refusal();
    atomic(AtomicOp::Add, Place::Buffer(2), Elem::I16, false).refusal();
    atomic(AtomicOp::Add, Place::Private(0), Elem::F32, false).refusal();
    atomic(AtomicOp::Add, Place::Buffer(0), Elem::F32, false).refusal();
    atomic(AtomicOp::Add, Place::Buffer(2), Elem::I32, true).refusal();
    atomic(AtomicOp::CompareExchange, Place::Buffer(2), Elem::I32, false).refusal();
}

#[test]
fn arguments_are_read_as_declared() {
    let mut w = Writer::new();
    w.value(Type::I32, Op::Arg { param: 0, index: None });
    assert!(w.refusal().contains("at an index"));
    let mut w = Writer::new();
    w.value(Type::I32, Op::Arg { param: 1, index: None });
    assert!(w.refusal().contains("one of the 1 declared"));
}

#[test]
fn blocks_agree_with_what_surrounds_them() {
    let mut w = Writer::new();
    let (n, x) = (w.constant(Type::I32), w.constant(Type::F32));
    let (i, carried) = (w.kernel.fresh(Type::I32), w.kernel.fresh(Type::F32));
    let body = Block { params: vec![i, carried], insts: vec![], yields: vec![i] };
    let result = w.kernel.fresh(Type::F32);
    let op = Op::For { start: n, end: n, step: n, init: vec![x], body: body.into(), unroll: Unroll::Free };
    w.kernel.body.insts.push(Inst { results: Results::from_iter([result]), op, line: LINE });
    assert!(w.refusal().contains("the yields of a for"));

    let mut w = Writer::new();
    let condition = w.constant(Type::BOOL);
    let then = Block { yields: vec![condition], ..Block::default() };
    w.effect(Op::If { condition, then: then.into(), otherwise: Box::default() });
    assert!(w.refusal().contains("first block must be 0 but are 1"));

    let mut w = Writer::new();
    let x = w.constant(Type::F32);
    w.effect(Op::While {
        init: vec![],
        test: Block { yields: vec![x], ..Block::default() }.into(),
        body: Box::default(),
    });
    assert!(w.refusal().contains("test must be bool but is f32"));
}

#[test]
fn a_kernel_s_declarations_make_sense() {
    let broken = |change: fn(&mut Kernel)| {
        let mut kernel = empty();
        change(&mut kernel);
        refusal(&kernel)
    };
    assert!(broken(|k| k.workgroup = [64, 0, 1]).contains("64 x 0 x 1"));
    assert!(broken(|k| k.workgroup = [1 << 16, 1 << 16, 1]).contains("2^32 - 1"));
    assert!(broken(|k| k.shared[0].len = 0).contains("tile must have elements"));
    assert!(broken(|k| k.private[0].lanes = 3).contains("1, 2 or 4 components"));
    assert!(broken(|k| k.buffers[0].align = 2).contains("at least 4 bytes but is 2"));
    assert!(broken(|k| k.scalars[0].len = 0).contains("shape must hold"));
    assert!(broken(|k| k.body.yields.push(Value(0))).contains("no yields"));
}

#[test]
fn matrices_multiply_when_roles_and_shapes_fit() {
    let of = |elem, rows, cols, role| Matrix { scope: MatrixScope::Subgroup, elem, rows, cols, role };
    let product = |a: Matrix, b: Matrix, c: Matrix| {
        let mut w = Writer::new();
        let [a, b, c] = [a, b, c].map(|ty| {
            let value = w.constant(ty.elem.compute());
            w.value(Type::Matrix(ty), Op::Matrix(MatrixOp::Fill(ty, value)))
        });
        let ty = w.kernel.type_of(c);
        w.value(ty, Op::Matrix(MatrixOp::MulAdd(a, b, c)));
        w
    };
    let a = of(Elem::F16, 16, 8, MatrixRole::A);
    let b = of(Elem::F16, 8, 16, MatrixRole::B);
    let c = of(Elem::F32, 16, 16, MatrixRole::Accumulator);
    verify(&product(a, b, c).kernel).expect("fits");
    product(b, a, c).refusal();
    product(a, Matrix { rows: 16, ..b }, c).refusal();
    product(a, Matrix { elem: Elem::BF16, ..b }, c).refusal();
    product(a, b, Matrix { elem: Elem::I32, ..c }).refusal();
    product(a, b, Matrix { scope: MatrixScope::Workgroup, ..c }).refusal();
    assert!(product(Matrix { elem: Elem::F64, ..a }, b, c).refusal().contains("but is of f64"));
}

#[test]
fn matrices_lie_in_memory_of_their_type() {
    let f16 = Matrix { scope: MatrixScope::Subgroup, elem: Elem::F16, rows: 16, cols: 16, role: MatrixRole::A };
    let f32 = Matrix { elem: Elem::F32, role: MatrixRole::Accumulator, ..f16 };
    let load = |ty, elem, lanes| {
        Kernel::build("broken", [32, 1, 1], |k| {
            let tile = k.shared_vectors("tile", elem, lanes, 64);
            tile.load_matrix(ty, 0, 2, MatrixLayout::RowMajor, 16);
        })
        .and_then(|k| verify(&k))
    };
    for (elem, lanes) in [(Elem::F16, 1), (Elem::U32, 4), (Elem::U32, 1)] {
        load(f16, elem, lanes).expect("fits");
    }
    load(f32, Elem::U32, 4).expect("words hold anything");
    for (elem, lanes) in [(Elem::BF16, 1), (Elem::F32, 4)] {
        is_refused(load(f16, elem, lanes), "must lie in elements");
    }
}

/// Whether a kernel with a buffer `x` of 64 invocations is well formed.
fn verified(write: impl for<'k> FnOnce(&'k Builder, Buffer<'k>)) -> Result<(), Error> {
    let kernel = Kernel::build("broken", [64, 1, 1], |k| {
        let x = k.buffer("x", Elem::I32, Access::ReadWrite, 4);
        write(k, x);
    });
    kernel.and_then(|k| verify(&k))
}

fn is_refused(outcome: Result<(), Error>, scope: &str) {
    match outcome {
        Err(Error::Malformed { message, .. }) => assert!(message.contains(scope), "{message}"),
        other => panic!("must be refused but was {other:?}"),
    }
}

#[test]
fn a_barrier_where_invocations_part_is_refused() {
    let refused = |outcome| is_refused(outcome, "by the whole workgroup");
    refused(verified(|k, _| k.when(k.local_id(0).lt(3), || k.barrier())));
    refused(verified(|k, _| k.when(k.subgroup_id().eq(0), || k.barrier())));
    refused(verified(|k, x| k.when(x.load(k.local_index()).eq(0), || k.barrier())));
    refused(verified(|k, _| k.step(0, k.lane(), 1, |_| k.barrier())));
    refused(verified(|k, _| {
        let part = k.if_(k.lane().eq(0), || k.i32(1), || k.i32(2));
        k.when(part.eq(1), || k.barrier());
    }));
    refused(verified(|k, _| {
        // The carried value comes to differ only in the second turn.
        let last = k.for_(0, k.i32(3), 1, (k.i32(0), k.i32(0)), |_, (_, b)| (b, k.lane()));
        k.when(last.0.eq(1), || k.barrier());
    }));
}

#[test]
fn a_barrier_that_all_reach_or_may_reach_is_accepted() {
    verified(|k, _| k.when(k.group_id(0).lt(3), || k.barrier())).expect("a group's place is its own");
    verified(|k, _| k.when(k.local_id(1).eq(0), || k.barrier())).expect("the group is one row");
    verified(|k, x| k.when(x.load(0).eq(0), || k.barrier())).expect("all load the same");
    verified(|k, x| {
        let any = x.load(k.local_index()).eq(0).subgroup_any();
        k.when(any, || k.barrier());
    })
    .expect("a vote may agree");
    verified(|k, x| {
        let sum = k.group_sum(x.load(k.local_index()));
        k.while_(
            sum,
            |s| s.gt(0),
            |s| {
                k.barrier();
                s - 1
            },
        );
    })
    .expect("a sum over the group is the same in all");
}

#[test]
fn a_subgroup_operation_where_lanes_part_is_refused() {
    let refused = |outcome| is_refused(outcome, "by the whole subgroup");
    refused(verified(|k, x| k.when(k.lane().lt(3), || x.store(0, k.i32(1).subgroup_sum()))));
    refused(verified(|k, x| k.when(k.local_index().eq(3), || x.store(0, k.i32(1).subgroup_sum()))));
    verified(|k, x| k.when(k.subgroup_id().eq(0), || x.store(0, k.i32(1).subgroup_sum()))).expect("lanes agree");
    verified(|k, x| k.when(k.local_index().lt(32), || x.store(0, k.i32(1).subgroup_sum()))).expect("lanes may agree");
}

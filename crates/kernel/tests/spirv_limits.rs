//! What emission asks of a device: no more than a kernel uses, and an error that names both sides where that is too much.

use pumice_kernel::spirv::emit;
use pumice_kernel::{
    Access, Builder, Elem, Error, Kernel, Matrix, MatrixLayout, MatrixRole, MatrixScope, Scalar, Target, Val,
};
use rspirv::spirv::Capability;

fn kernel(workgroup: [u32; 3], write: impl FnOnce(&Builder)) -> Kernel {
    Kernel::build("k", workgroup, write).expect("the kernel is well formed")
}

fn refusal(kernel: &Kernel, target: &Target) -> String {
    match emit(kernel, target) {
        Err(error @ Error::Unsupported { .. }) => error.to_string(),
        other => panic!("must be refused but gave {other:?}"),
    }
}

/// The capabilities a module declares.
fn capabilities(kernel: &Kernel, target: &Target) -> Vec<u32> {
    let words = emit(kernel, target).expect("the target has what the kernel needs").words;
    let insts = words[5..].chunks(2).take_while(|inst| inst[0] == 2 << 16 | 17);
    insts.map(|inst| inst[1]).collect()
}

fn declares(kernel: &Kernel, capability: Capability) -> bool {
    capabilities(kernel, &Target::full()).contains(&(capability as u32))
}

fn map(elem: Elem, f: impl for<'k> Fn(Val<'k>) -> Val<'k>) -> Kernel {
    kernel([64, 1, 1], |k| {
        let (a, b) = (k.input("a", elem), k.output("b", elem));
        let i = k.global_index();
        b.store(i, f(a.load(i)));
    })
}

#[test]
fn a_workgroup_must_fit_the_device() {
    let target = Target { max_invocations: 256, max_workgroup: [256, 64, 64], ..Target::full() };
    assert_eq!(
        refusal(&kernel([512, 1, 1], |_| ()), &target),
        "[k] a workgroup must have at most the device's 256 invocations but has 512."
    );
    assert_eq!(
        refusal(&kernel([1, 128, 1], |_| ()), &target),
        "[k] a workgroup must have at most the device's 64 invocations along y but has 128."
    );
}

#[test]
fn subgroups_must_fill_the_workgroup() {
    let sum = kernel([48, 1, 1], |k| k.output("a", Elem::I32).store(0, k.local_index().subgroup_sum()));
    assert_eq!(
        refusal(&sum, &Target::full()),
        "[k] a workgroup that uses subgroups must be a multiple of the device's 32 invocations but has 48."
    );
    let alone = Target { subgroup_size: 1, ..Target::full() };
    assert!(emit(&sum, &alone).is_ok());
}

#[test]
fn shared_arrays_must_fit_the_device() {
    let large = kernel([64, 1, 1], |k| {
        k.shared("a", Elem::F32, 4096).store(0, 1.0);
        k.shared("b", Elem::U8, 1).store(0, 1);
    });
    let target = Target { shared_bytes: 16 << 10, ..Target::full() };
    assert_eq!(refusal(&large, &target), "[k] shared arrays must fit the device's 16384 bytes but take 16385.");
    // Without 8-bit integers a byte takes a word.
    let target = Target { int8: false, ..target };
    assert_eq!(refusal(&large, &target), "[k] shared arrays must fit the device's 16384 bytes but take 16388.");
}

#[test]
fn f64_must_be_offered() {
    let wide = map(Elem::F64, |x| x + x);
    assert_eq!(refusal(&wide, &Target::minimal()), "[k] 64-bit floats must be offered by the device but are not.");
}

#[test]
fn wide_atomics_must_be_offered() {
    let count = kernel([64, 1, 1], |k| {
        k.buffer("a", Elem::U64, Access::ReadWrite, 8).atomic_add(0, 1);
    });
    assert_eq!(
        refusal(&count, &Target::minimal()),
        "[k] 64-bit atomics in buffers must be offered by the device but are not."
    );
}

#[test]
fn a_product_must_be_offered() {
    let product = |depth| {
        kernel([32, 1, 1], |k| {
            let matrix = |elem, rows, cols, role| Matrix { scope: MatrixScope::Subgroup, elem, rows, cols, role };
            let a = k.buffer("a", Elem::F16, Access::Read, 16);
            let x = a.load_matrix(matrix(Elem::F16, 16, depth, MatrixRole::A), 0, 16, MatrixLayout::RowMajor, 16);
            let y = a.load_matrix(matrix(Elem::F16, depth, 16, MatrixRole::B), 0, 16, MatrixLayout::RowMajor, 16);
            x.matrix_mul_add(y, k.matrix_fill(matrix(Elem::F32, 16, 16, MatrixRole::Accumulator), 0.0));
        })
    };
    assert!(emit(&product(16), &Target::full()).is_ok());
    assert_eq!(
        refusal(&product(8), &Target::full()),
        "[k] matrix<f16, 16x8, a, subgroup> must be offered by the device but is not."
    );
    assert!(refusal(&product(16), &Target::minimal()).ends_with("must be offered by the device but is not."));
}

#[test]
fn capabilities_are_declared_when_used() {
    let add = map(Elem::F32, |x| x + x);
    for unused in [
        Capability::Float64,
        Capability::Int8,
        Capability::Int16,
        Capability::StorageBuffer8BitAccess,
        Capability::StorageBuffer16BitAccess,
        Capability::GroupNonUniform,
        Capability::CooperativeMatrixKHR,
    ] {
        assert!(!declares(&add, unused), "{unused:?}");
    }
    assert!(declares(&map(Elem::U8, |x| x), Capability::StorageBuffer8BitAccess));
    assert!(declares(&map(Elem::BF16, |x| x), Capability::StorageBuffer16BitAccess));
    assert!(declares(&map(Elem::F64, |x| x), Capability::Float64));
    assert!(declares(&map(Elem::I32, |x| x.subgroup_sum()), Capability::GroupNonUniformArithmetic));
}

#[test]
fn float_controls_are_declared_for_the_widths_in_use() {
    let integers = map(Elem::I32, |x| x + x);
    assert!(!declares(&integers, Capability::DenormPreserve));
    assert!(declares(&map(Elem::F32, |x| x + x), Capability::DenormPreserve));
    assert!(!capabilities(&map(Elem::F32, |x| x), &Target::minimal()).contains(&(Capability::DenormPreserve as u32)));
}

#[test]
fn the_subgroup_size_is_asked_for_when_it_matters() {
    let size =
        |kernel: &Kernel, target: &Target| emit(kernel, target).expect("the target has everything").subgroup_size;
    assert_eq!(size(&map(Elem::F32, |x| x), &Target::full()), None);
    assert_eq!(size(&map(Elem::F32, |x| x.subgroup_sum()), &Target::full()), Some(32));
    assert_eq!(size(&map(Elem::F32, |x| x.subgroup_sum()), &Target::minimal()), None);
    let lane = kernel([32, 1, 1], |k| k.output("a", Elem::F32).store(0, k.lane().to(Scalar::F32)));
    assert_eq!(size(&lane, &Target::full()), Some(32));
}

//! A checked build names kernel, line, index and bound of an overrun, and the process and the device go on.

mod rig;

use pumice::eval::set_checked;
use pumice::eval::site::Site;
use pumice::kernel::{Builder, Elem, Kernel};
use pumice::launch::Build;
use pumice::op::{Kernels, Key, Lowering, Op, Place, Specs, apply};
use pumice::ops::binary::add;
use pumice::{Array, Device, Error, Result, Spec, async_eval, default_stream, synchronize, with_stream};
use rig::Job;

/// Runs one workgroup of 32 with one output of 16 elements; gives the error's text.
fn violation(write: impl FnOnce(&Builder)) -> Option<String> {
    let gpu = rig::gpu()?;
    let kernel = Kernel::build("careless", [32, 1, 1], write).expect("the kernel is well formed");
    let job = Job { kernel: &kernel, groups: [1, 1, 1], scalars: &[], buffers: vec![vec![0; 64]] };
    let found = match job.on_device(gpu, Build::Checked) {
        Err(Error::Index(text)) => text,
        other => panic!("an overrun must be reported but the launch gave {other:?}"),
    };
    // The device goes on: the next launch works.
    well_behaved().expect("a launch after a violation works");
    Some(found)
}

fn well_behaved() -> Result<()> {
    let Some(gpu) = rig::gpu() else { return Ok(()) };
    let kernel = Kernel::build("careful", [16, 1, 1], |k| {
        let out = k.output("out", Elem::I32);
        out.store(k.local_index(), k.local_index() * 3);
    })?;
    let job = Job { kernel: &kernel, groups: [1, 1, 1], scalars: &[], buffers: vec![vec![0; 64]] };
    let found = job.on_device(gpu, Build::Checked)?;
    let expected: Vec<u8> = (0..16i32).flat_map(|i| (i * 3).to_le_bytes()).collect();
    assert_eq!(found[0], expected);
    Ok(())
}

fn assert_names(found: Option<String>, line: u32, index: u64, bound: u64, place: &str) {
    let Some(found) = found else { return };
    let wanted = format!("[careless] index {index} must be below {bound} in {place}");
    assert!(found.starts_with(&wanted), "{found} must start with {wanted}");
    assert!(found.contains(&format!("checked.rs:{line}")), "{found} must name line {line}");
}

#[test]
fn a_store_beyond_a_buffer_is_named() {
    let line = line!() + 3;
    let found = violation(|k| {
        let out = k.output("out", Elem::I32);
        k.when(k.local_index().eq(7), || out.store(1_000_000, 1));
    });
    assert_names(found, line, 1_000_000, 16, "out");
}

#[test]
fn a_load_at_a_negative_index_is_named() {
    let line = line!() + 3;
    let found = violation(|k| {
        let out = k.buffer("out", Elem::I32, pumice::kernel::Access::ReadWrite, 4);
        k.when(k.local_index().eq(0), || out.store(0, out.load(-1)));
    });
    assert_names(found, line, u32::MAX as u64, 16, "out");
}

#[test]
fn an_overrun_of_shared_memory_is_named() {
    let line = line!() + 4;
    let found = violation(|k| {
        let out = k.output("out", Elem::I32);
        let tile = k.shared("tile", Elem::F32, 20);
        k.when(k.local_index().eq(21), || tile.store(k.local_index(), 1.0));
        k.when(k.local_index().eq(0), || out.store(0, 1));
    });
    assert_names(found, line, 21, 20, "tile");
}

#[test]
fn an_overrun_of_a_private_array_is_named() {
    let line = line!() + 4;
    let found = violation(|k| {
        let out = k.output("out", Elem::I32);
        let own = k.private("own", Elem::I32, 4);
        k.when(k.local_index().eq(9), || own.store(k.local_index(), 5));
        k.when(k.local_index().eq(0), || out.store(0, own.load(0)));
    });
    assert_names(found, line, 9, 4, "own");
}

#[test]
fn an_atomic_beyond_a_buffer_is_named() {
    let line = line!() + 4;
    let found = violation(|k| {
        let out = k.buffer("out", Elem::U32, pumice::kernel::Access::ReadWrite, 4);
        k.when(k.local_index().eq(3), || {
            out.atomic_add(16, 1);
        });
    });
    assert_names(found, line, 16, 16, "out");
}

/// An op whose kernel reads one element too far.
#[derive(Debug)]
struct Careless;

impl Op for Careless {
    fn name(&self) -> &'static str {
        "careless"
    }

    fn key(&self, _: &mut Key) {}

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        Ok(inputs.iter().map(|&spec| spec.clone()).collect())
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::Kernels(self)
    }
}

const LINE_OF_THE_OVERRUN: u32 = line!() + 8;

impl Kernels for Careless {
    fn launch(&self, site: &mut Site<'_>) -> Result<()> {
        let build = || {
            Ok(Kernel::build("one too far", [4, 1, 1], |k| {
                let (x, out) = (k.input("x", Elem::F32), k.output("out", Elem::F32));
                let i = k.local_index();
                out.store(i, x.load(i + 1));
            })?)
        };
        let (x, out) = (site.contiguous(0)?, site.output(0));
        let mut key = Key::default();
        key.text("one too far");
        site.launch(&key, build, [1, 1, 1], &[&x, &out], &[])
    }
}

#[test]
fn an_overrun_in_an_ops_kernel_is_an_error_of_whoever_waits() {
    if rig::gpu().is_none() {
        return;
    }
    set_checked(true);
    let stream = default_stream(Device::GPU).expect("the GPU is there");
    with_stream(stream, || {
        let x = Array::from_slice(&[1f32, 2.0, 3.0, 4.0], &[4]).expect("four values");
        let careless = || apply(Careless, std::slice::from_ref(&x)).expect("nothing is wrong with the graph").remove(0);
        let assert_told = |result: Result<()>| {
            let Err(Error::Index(text)) = result else { panic!("the overrun must be told but: {result:?}") };
            assert!(text.starts_with("[one too far] index 4 must be below 4 in x"), "{text}");
            assert!(text.contains(&format!("checked.rs:{LINE_OF_THE_OVERRUN}")), "{text}");
        };
        assert_told(careless().eval());
        assert_told(careless().to_vec::<f32>().map(drop));
        async_eval(&[careless()]).expect("nobody waits");
        assert_told(synchronize(stream));
        let started = careless();
        async_eval(std::slice::from_ref(&started)).expect("nobody waits");
        assert_told(started.to_vec::<f32>().map(drop));
        // It is told once, and the device goes on.
        let sum = add(&x, &x).and_then(|sum| sum.to_vec::<f32>()).expect("nothing is wrong with it");
        assert_eq!(sum, [2.0, 4.0, 6.0, 8.0]);
    });
    set_checked(false);
}

#[test]
fn a_kernel_within_its_bounds_is_fine() {
    well_behaved().expect("nothing is wrong with it");
}

#[test]
fn a_kernel_without_buffers_can_be_checked() {
    let Some(gpu) = rig::gpu() else { return };
    let kernel = Kernel::build("bare", [8, 1, 1], |k| {
        let tile = k.shared("tile", Elem::I32, 8);
        tile.store(k.local_index(), k.local_index());
    })
    .expect("the kernel is well formed");
    let job = Job { kernel: &kernel, groups: [1, 1, 1], scalars: &[], buffers: vec![] };
    job.on_device(gpu, Build::Checked).expect("nothing is wrong with it");
}

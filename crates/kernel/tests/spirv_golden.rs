//! What a few kernels become, as text, so that a change in emission is seen in review.
//!
//! `PUMICE_BLESS=1 cargo test -p pumice-kernel --test spirv_golden` writes the files anew.

mod spirv_samples;

use std::path::PathBuf;

use pumice_kernel::Target;
use pumice_kernel::spirv::{disassemble, emit};

/// Kernels small enough to be read.
const NAMES: [&str; 6] = ["add", "control", "copy_bf16", "subgroups", "product_f16", "tiles_bf16"];

#[test]
fn emission_is_as_it_was() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let bless = std::env::var("PUMICE_BLESS").is_ok();
    let mut changed = Vec::new();
    for kernel in spirv_samples::samples().iter().filter(|k| NAMES.contains(&&k.name[..])) {
        let module = emit(kernel, &Target::full()).expect("the full target has everything");
        let (path, found) = (folder.join(format!("{}.spvasm", kernel.name)), disassemble(&module.words) + "\n");
        if bless {
            std::fs::write(&path, &found).expect("the golden folder can be written");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if found != expected {
            changed.push(kernel.name.clone());
        }
    }
    assert!(changed.is_empty(), "{changed:?} changed; see the difference with PUMICE_BLESS=1 and git diff");
}

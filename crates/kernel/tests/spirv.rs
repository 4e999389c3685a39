//! What is emitted: that `spirv-val` accepts it, and that the same kernel gives the same words.

mod spirv_samples;

use std::io::Write;
use std::process::{Command, Stdio};

use pumice_kernel::spirv::emit;
use pumice_kernel::{Error, Target};
use spirv_samples::samples;

/// What the installed `spirv-val` says about a module: nothing if it accepts it.
fn complaint(words: &[u32]) -> Option<String> {
    let mut child = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.3", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("spirv-val is installed by `cargo xtask test`");
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    child.stdin.take().expect("stdin is piped").write_all(&bytes).expect("spirv-val reads its input");
    let output = child.wait_with_output().expect("spirv-val ends");
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn everything_emitted_is_valid() {
    for (label, target) in [("full", Target::full()), ("minimal", Target::minimal())] {
        for kernel in samples() {
            let module = match emit(&kernel, &target) {
                Ok(module) => module,
                Err(Error::Unsupported { .. }) if label == "minimal" => continue,
                Err(error) => panic!("{error}"),
            };
            let complaint = complaint(&module.words);
            assert_eq!(complaint, None, "{} for the {label} target", kernel.name);
        }
    }
}

#[test]
fn the_same_kernel_gives_the_same_words() {
    for kernel in samples() {
        assert_eq!(emit(&kernel, &Target::full()), emit(&kernel, &Target::full()), "{}", kernel.name);
    }
}

//! What is emitted: that `spirv-val` accepts it, and that the same kernel gives the same words.

mod spirv_samples;

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use pumice_kernel::spirv::emit;
use pumice_kernel::target::Denormals;
use pumice_kernel::{Error, Target};
use rspirv::spirv::Capability;
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

/// Whether a module uses what this `spirv-val` cannot read: those before 2025 know neither cooperative matrices nor bf16.
/// `cargo xtask test` brings a newer one.
fn is_too_new(words: &[u32]) -> bool {
    static YEAR: OnceLock<u32> = OnceLock::new();
    let year = *YEAR.get_or_init(|| {
        let output = Command::new("spirv-val").arg("--version").output().expect("spirv-val is installed");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let year = text.split('v').nth(1).and_then(|rest| rest.get(..4)?.parse().ok());
        year.unwrap_or_else(|| panic!("spirv-val must tell its version but says {text}"))
    });
    if year >= 2025 {
        return false;
    }
    let capabilities = words[5..].chunks(2).take_while(|inst| inst[0] == 2 << 16 | 17).map(|inst| inst[1]);
    capabilities.into_iter().any(|c| c == Capability::CooperativeMatrixKHR as u32)
}

/// Devices that make emission take every way it has.
fn targets() -> [(&'static str, Target); 4] {
    let full = Target::full();
    let flushing = Target { denormals: Denormals::FLUSHED, positive_nan: true, ..full.clone() };
    // As lavapipe: no fused fma, no matrices, small subgroups.
    let software =
        Target { fused_fma: false, signed_zeros: false, subgroup_size: 8, matrices: Vec::new(), ..full.clone() };
    [("full", full), ("minimal", Target::minimal()), ("flushing", flushing), ("software", software)]
}

#[test]
fn everything_emitted_is_valid() {
    let mut skipped = 0;
    for (label, target) in targets() {
        for kernel in samples() {
            let module = match emit(&kernel, &target) {
                Ok(module) => module,
                Err(Error::Unsupported { .. }) if matches!(label, "minimal" | "software") => continue,
                Err(error) => panic!("{error}"),
            };
            keep(&format!("{}_{label}", kernel.name), &module.words);
            if is_too_new(&module.words) {
                skipped += 1;
                continue;
            }
            let complaint = complaint(&module.words);
            assert_eq!(complaint, None, "{} for the {label} target", kernel.name);
        }
    }
    println!("spirv-val skipped {skipped} modules with cooperative matrices");
}

/// Writes a module to the folder `PUMICE_SPIRV_DIR`, for other tools to look at.
fn keep(name: &str, words: &[u32]) {
    let Ok(folder) = std::env::var("PUMICE_SPIRV_DIR") else { return };
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    std::fs::write(format!("{folder}/{name}.spv"), bytes).expect("the folder can be written");
}

#[test]
fn the_same_kernel_gives_the_same_words() {
    for kernel in samples() {
        assert_eq!(emit(&kernel, &Target::full()), emit(&kernel, &Target::full()), "{}", kernel.name);
    }
}

/// The bound is for release builds; what it is in others is printed all the same.
#[test]
fn emission_takes_less_than_a_third_of_a_millisecond() {
    for kernel in samples() {
        emit(&kernel, &Target::full()).expect("the full target has everything");
        let start = std::time::Instant::now();
        let rounds = 20;
        for _ in 0..rounds {
            emit(&kernel, &Target::full()).expect("the full target has everything");
        }
        let micros = start.elapsed().as_secs_f64() * 1e6 / rounds as f64;
        println!("{:>14}: {micros:6.1} µs", kernel.name);
        assert!(cfg!(debug_assertions) || micros < 300.0, "{} took {micros} µs", kernel.name);
    }
}

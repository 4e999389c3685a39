//! The Python package's tests: thousands of snippets against what MLX gives, and the interpreter's rough edges.
//!
//! They run on the extension that `cargo build` makes, in a virtual environment of their own: building a wheel takes longer.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::arguments::Tests;
use crate::command::{run, run_quietly};
use crate::workspace::{cargo, root, target};

/// Of how many snippets one runs on the GPU where tests must be quick: a software driver compiles every kernel.
const GPU_SAMPLE: &str = "40";

/// Builds the extension and runs the tests.
pub fn test(tests: &Tests) -> Result<(), String> {
    let python = interpreter()?;
    run(cargo(&["build", "--package", "pumice-python"]))?;
    let package = assemble().map_err(|error| format!("[python] the package must be written but: {error}."))?;
    let script = |name: &str, arguments: &[&str]| {
        let mut command = Command::new(&python);
        command.arg(root().join("crates/python/tests").join(name)).args(arguments);
        command.env("PYTHONPATH", &package).env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("MESA_SHADER_CACHE_DIR", target().join("mesa-cache"));
        command.env("PUMICE_CACHE_DIR", target().join("pumice-cache"));
        command
    };
    run(script("differential.py", &["cpu"]))?;
    if !tests.no_vulkan {
        let every = if tests.slow { "1" } else { GPU_SAMPLE };
        run(script("differential.py", &["gpu", "--every", every]))?;
    }
    run(script("robustness.py", &[]))
}

/// Builds the wheel, installs it into an environment of its own and runs a first program with it.
pub fn install() -> Result<(), String> {
    let python = environment(&root().join("venv"))?;
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--disable-pip-version-check", "numpy"]).arg(root().join("crates/python"));
    run_quietly("building and installing the wheel", install)?;
    let mut first = Command::new(&python);
    first.arg(root().join("crates/python/examples/first.py"));
    run(first)?;
    println!("Installed: {} -c 'import mlx.core as mx'", python.display());
    Ok(())
}

/// The interpreter of the tests' own environment, with NumPy.
fn interpreter() -> Result<PathBuf, String> {
    let python = environment(&target().join("python-tests"))?;
    if !imports(&python, "numpy") {
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "numpy"]);
        run_quietly("installing NumPy", install)?;
    }
    Ok(python)
}

/// The interpreter of a virtual environment, which is made if it is not there.
fn environment(folder: &Path) -> Result<PathBuf, String> {
    let python = folder.join("bin/python");
    if !python.exists() {
        let mut make = Command::new("python3");
        make.args(["-m", "venv"]).arg(folder);
        run_quietly("making a Python environment", make)?;
    }
    Ok(python)
}

fn imports(python: &Path, module: &str) -> bool {
    Command::new(python).args(["-c", &format!("import {module}")]).status().is_ok_and(|status| status.success())
}

/// The package as a wheel would lay it out.
fn assemble() -> std::io::Result<PathBuf> {
    let package = target().join("python");
    let mlx = package.join("mlx");
    std::fs::create_dir_all(&mlx)?;
    let source = root().join("crates/python/python/mlx");
    for name in ["utils.py", "py.typed"] {
        std::fs::copy(source.join(name), mlx.join(name))?;
    }
    std::fs::copy(target().join("debug/libpumice_python.so"), mlx.join("core.abi3.so"))?;
    Ok(package)
}

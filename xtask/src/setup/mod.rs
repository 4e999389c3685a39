//! `cargo xtask setup`: installs what the tests need where it can, and says what to install where it cannot.
//!
//! Costs one dpkg query when everything is there. Otherwise apt is used, as root or through sudo without a password; a
//! distribution whose Mesa is too old gets its own backports suite as a source.

mod apt;
pub mod packages;
mod sources;
pub mod spirv_tools;

use apt::Apt;

/// Makes sure that the tests have what they need.
pub fn run() -> Result<(), String> {
    install_packages()?;
    if let Err(reason) = spirv_tools::run() {
        // Not fatal: only modules with the newest capabilities go without validation.
        eprintln!("{reason}\nsetup: going on with the spirv-val that is there.");
    }
    Ok(())
}

fn install_packages() -> Result<(), String> {
    let before = packages::installed();
    let missing = packages::missing(&before);
    if missing.is_empty() {
        println!("setup: {}.", describe(&before));
        return Ok(());
    }
    if !packages::has_program("apt-get") {
        return without_apt();
    }
    println!("setup: missing {}.", missing.join(", "));
    install().map_err(|reason| format!("{reason}\n{}", by_hand()))?;
    let after = packages::installed();
    let missing = packages::missing(&after);
    if missing.is_empty() {
        println!("setup: installed {}.", describe(&after));
        return Ok(());
    }
    let still = missing.join(", ");
    Err(format!("[setup] apt must offer everything the tests need but {still} is missing.\n{}", by_hand()))
}

fn install() -> Result<(), String> {
    let apt = Apt::new()?;
    apt.update()?;
    let suite = match apt.candidate(packages::MESA) {
        Some(version) if packages::is_sound_mesa(&version) => None,
        _ => Some(apt.add_backports()?),
    };
    apt.install(&packages::NEEDED.map(|(name, _)| name), suite.as_deref())
}

/// A system without apt may have everything from elsewhere: the files tell.
fn without_apt() -> Result<(), String> {
    let mut missing = Vec::new();
    if !packages::has_vulkan_driver() {
        missing.push("a Vulkan driver");
    }
    if !packages::has_validation_layers() {
        missing.push("the Khronos validation layers");
    }
    if !packages::has_program("spirv-val") {
        missing.push("spirv-val");
    }
    if missing.is_empty() {
        println!("setup: a Vulkan driver, validation layers and spirv-val are there.");
        return Ok(());
    }
    Err(format!("[setup] apt-get must be there to install {} but is not.\n{}", missing.join(", "), by_hand()))
}

fn by_hand() -> String {
    let mut text = String::from("Install by hand, by these names or your system's:");
    for (name, purpose) in packages::NEEDED {
        text.push_str(&format!("\n  {name:<24} {purpose}"));
    }
    text.push_str(&format!("\nMesa must be {} or newer.", packages::OLDEST_MESA));
    text
}

fn describe(installed: &[packages::Installed]) -> String {
    let parts: Vec<String> = installed.iter().map(|package| format!("{} {}", package.name, package.version)).collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_names_every_package() {
        let advice = by_hand();
        for (name, _) in packages::NEEDED {
            assert!(advice.contains(name), "{name}");
        }
    }
}

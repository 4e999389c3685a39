//! What the tests need from the system, and what of it is there: packages where dpkg knows them, files elsewhere.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest Mesa whose lavapipe is sound: 22.3 silently ends loops after 65,535 iterations.
pub const OLDEST_MESA: u32 = 24;

/// The package that brings lavapipe.
pub const MESA: &str = "mesa-vulkan-drivers";

/// Every package the tests need, with what it is for.
pub const NEEDED: [(&str, &str); 4] = [
    (MESA, "lavapipe, the Vulkan driver without a GPU"),
    ("libvulkan1", "the Vulkan loader"),
    ("vulkan-validationlayers", "the Khronos validation layers"),
    ("spirv-tools", "spirv-val"),
];

/// A package dpkg has installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The package's name.
    pub name: String,
    /// Its full version, epoch and revision included.
    pub version: String,
}

/// The needed packages that are installed; nothing where there is no dpkg.
pub fn installed() -> Vec<Installed> {
    let mut query = Command::new("dpkg-query");
    query.args(["-W", "-f", "${Package} ${db:Status-Status} ${Version}\\n"]);
    query.args(NEEDED.map(|(name, _)| name));
    // dpkg-query exits with 1 when one of the packages is unknown, and lists the others all the same.
    query.output().map_or_else(|_| Vec::new(), |output| parse_dpkg(&String::from_utf8_lossy(&output.stdout)))
}

fn parse_dpkg(text: &str) -> Vec<Installed> {
    let mut packages = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [name, "installed", version] = words[..] {
            packages.push(Installed { name: name.into(), version: version.into() });
        }
    }
    packages
}

/// What is missing or too old, each as a phrase for people; empty when the tests have all they need.
pub fn missing(installed: &[Installed]) -> Vec<String> {
    let mut missing = Vec::new();
    for (name, purpose) in NEEDED {
        match installed.iter().find(|package| package.name == name) {
            None => missing.push(format!("{name} ({purpose})")),
            Some(package) if name == MESA && !is_sound_mesa(&package.version) => {
                missing.push(format!("{name} {OLDEST_MESA} or newer ({} is installed)", package.version));
            }
            Some(_) => {}
        }
    }
    missing
}

/// Whether a Mesa package's version is one whose lavapipe can be trusted.
pub fn is_sound_mesa(version: &str) -> bool {
    major(version).is_some_and(|major| major >= OLDEST_MESA)
}

/// The first number of a Debian version, its epoch left out.
fn major(version: &str) -> Option<u32> {
    let upstream = version.split_once(':').map_or(version, |(_, upstream)| upstream);
    upstream.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Whether the Khronos validation layer can be found by the loader.
pub fn has_validation_layers() -> bool {
    let manifest = Path::new("vulkan/explicit_layer.d/VkLayer_khronos_validation.json");
    manifest_roots().iter().any(|root| root.join(manifest).is_file())
}

/// Whether any Vulkan driver is registered with the loader.
pub fn has_vulkan_driver() -> bool {
    if std::env::var_os("VK_DRIVER_FILES").is_some() || std::env::var_os("VK_ICD_FILENAMES").is_some() {
        return true;
    }
    let has_entries =
        |root: &PathBuf| std::fs::read_dir(root.join("vulkan/icd.d")).is_ok_and(|mut folder| folder.next().is_some());
    manifest_roots().iter().any(has_entries)
}

fn manifest_roots() -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> =
        ["/etc", "/usr/local/etc", "/usr/share", "/usr/local/share"].map(PathBuf::from).into();
    if let Some(home) = std::env::var_os("HOME") {
        roots.push(Path::new(&home).join(".local/share"));
    }
    roots
}

/// Whether a program is on the path.
pub fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_with_mesa(version: &str) -> Vec<Installed> {
        let of = |name: &str| if name == MESA { version } else { "1.3.239.0-1" };
        NEEDED.map(|(name, _)| Installed { name: name.into(), version: of(name).into() }).into()
    }

    #[test]
    fn only_fully_installed_packages_count() {
        let text =
            "libvulkan1 installed 1.3.239.0-1\nspirv-tools config-files 2023.1-1\nmesa-vulkan-drivers not-installed \n";
        let expected = vec![Installed { name: "libvulkan1".into(), version: "1.3.239.0-1".into() }];
        assert_eq!(parse_dpkg(text), expected);
    }

    #[test]
    fn a_new_mesa_and_the_rest_leave_nothing_missing() {
        assert_eq!(missing(&all_with_mesa("25.0.7-2~bpo12+1")), Vec::<String>::new());
    }

    #[test]
    fn an_old_mesa_is_missing_and_named_with_its_version() {
        let missing = missing(&all_with_mesa("22.3.6-1+deb12u1"));
        assert_eq!(missing, ["mesa-vulkan-drivers 24 or newer (22.3.6-1+deb12u1 is installed)"]);
    }

    #[test]
    fn every_needed_package_is_missed_with_its_purpose() {
        let missing = missing(&[]);
        assert_eq!(missing.len(), NEEDED.len());
        assert_eq!(missing[3], "spirv-tools (spirv-val)");
    }

    #[test]
    fn epochs_and_revisions_do_not_confuse_the_major_version() {
        assert_eq!(major("1:25.0.7-2"), Some(25));
        assert_eq!(major("24.2.8-1ubuntu1~24.04.1"), Some(24));
        assert_eq!(major("(none)"), None);
    }
}

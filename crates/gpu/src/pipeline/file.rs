//! The file that holds a pipeline cache. It is untrusted input: anything in it may be damaged, cut short, or of another
//! driver.
//!
//! Drivers are known to crash on damaged data, so the driver's blob is wrapped with its length and a checksum, and the
//! header that Vulkan prescribes is checked against the device before the driver sees it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const MAGIC: [u8; 8] = *b"PUMICEPC";
/// Magic, length and checksum.
const WRAPPER: usize = 24;
/// A cache beyond this size is not read.
const LARGEST: u64 = 1 << 30;
/// How long to wait for another process that is writing.
const PATIENCE: Duration = Duration::from_millis(300);

/// The device a blob must be for, as its Vulkan header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) vendor_id: u32,
    pub(super) device_id: u32,
    pub(super) pipeline_uuid: [u8; 16],
}

/// The blob in the file, if the file is there, whole, and for this device.
pub(super) fn read(path: &Path, owner: &Owner) -> Option<Vec<u8>> {
    let size = fs::metadata(path).ok()?.len();
    if size > LARGEST {
        return None;
    }
    unwrap(fs::read(path).ok()?, owner)
}

/// Replaces the file by one that holds the blob; readers see the old one or the new one, never a part.
pub(super) fn write(path: &Path, blob: &[u8]) -> io::Result<()> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let temporary = with_ending(path, &format!("{}-{number}.tmp", std::process::id()));
    let written = fill(&temporary, blob).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Keeps other processes from writing the same cache until dropped. None when one of them takes too long.
pub(super) fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(with_ending(path, "lock"))?;
    let end = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(fs::TryLockError::WouldBlock) if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
            Err(fs::TryLockError::WouldBlock) => return Ok(None),
            // A file system without locks: two writers at once cost each other's news, not the file.
            Err(fs::TryLockError::Error(_)) => return Ok(Some(file)),
        }
    }
}

fn fill(path: &Path, blob: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(&wrapper(blob))?;
    file.write_all(blob)
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

fn wrapper(blob: &[u8]) -> [u8; WRAPPER] {
    let mut bytes = [0; WRAPPER];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..16].copy_from_slice(&(blob.len() as u64).to_le_bytes());
    bytes[16..].copy_from_slice(&checksum(blob).to_le_bytes());
    bytes
}

fn unwrap(mut bytes: Vec<u8>, owner: &Owner) -> Option<Vec<u8>> {
    let blob = bytes.get(WRAPPER..)?;
    let fits = bytes[..WRAPPER] == wrapper(blob) && belongs(blob, owner);
    fits.then(|| bytes.split_off(WRAPPER))
}

/// Whether the blob begins with `VkPipelineCacheHeaderVersionOne` of this device.
fn belongs(blob: &[u8], owner: &Owner) -> bool {
    let word = |at: usize| blob.get(at..at + 4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]));
    let size = word(0).unwrap_or(0) as usize;
    (32..=blob.len()).contains(&size)
        && word(4) == Some(1)
        && word(8) == Some(owner.vendor_id)
        && word(12) == Some(owner.device_id)
        && blob.get(16..32) == Some(&owner.pipeline_uuid[..])
}

/// FNV-1a over eight bytes at a time: finds damage, not malice.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    let step = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    let mut chunks = bytes.chunks_exact(8);
    let mut sum = 0xcbf2_9ce4_8422_2325;
    for chunk in &mut chunks {
        sum = step(sum, u64::from_le_bytes(chunk.try_into().expect("chunks have eight bytes")));
    }
    chunks.remainder().iter().fold(sum, |sum, &byte| step(sum, u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: Owner = Owner { vendor_id: 0x10de, device_id: 0x2335, pipeline_uuid: [7; 16] };

    fn blob(payload: &[u8]) -> Vec<u8> {
        let mut blob = Vec::new();
        for word in [32, 1, OWNER.vendor_id, OWNER.device_id] {
            blob.extend_from_slice(&u32::to_ne_bytes(word));
        }
        blob.extend_from_slice(&OWNER.pipeline_uuid);
        blob.extend_from_slice(payload);
        blob
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("pumice-file-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder is writable");
        folder
    }

    #[test]
    fn what_is_written_is_read() {
        let path = folder("round").join("cache");
        write(&path, &blob(b"pipelines")).expect("writable");
        assert_eq!(read(&path, &OWNER), Some(blob(b"pipelines")));
        let left: Vec<_> = fs::read_dir(path.parent().expect("has one")).expect("exists").collect();
        assert_eq!(left.len(), 1, "no temporary file stays");
    }

    #[test]
    fn any_flipped_bit_and_any_cut_is_noticed() {
        let blob = blob(b"some pipelines");
        let mut whole = wrapper(&blob).to_vec();
        whole.extend_from_slice(&blob);
        assert!(unwrap(whole.clone(), &OWNER).is_some());
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                assert!(unwrap(damaged, &OWNER).is_none(), "bit {bit} of byte {at}");
            }
            assert!(unwrap(whole[..at].to_vec(), &OWNER).is_none(), "cut to {at} bytes");
        }
    }

    #[test]
    fn a_blob_of_another_device_is_refused() {
        let other = Owner { device_id: 1, ..OWNER };
        assert!(belongs(&blob(b"x"), &OWNER));
        assert!(!belongs(&blob(b"x"), &other));
        assert!(!belongs(&blob(b"x"), &Owner { pipeline_uuid: [8; 16], ..OWNER }));
    }

    #[test]
    fn a_missing_file_is_no_cache() {
        assert_eq!(read(&folder("missing").join("none"), &OWNER), None);
    }

    #[test]
    fn a_second_writer_waits_and_then_does_without() {
        let path = folder("lock").join("cache");
        let first = lock(&path).expect("writable");
        assert!(first.is_some());
        assert!(lock(&path).expect("writable").is_none());
        drop(first);
        assert!(lock(&path).expect("writable").is_some());
    }
}

//! The driver's pipeline cache and its file on disk: one per device, driver version and version of this crate.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;

use super::file::{self, Owner};
use crate::calls::Calls;
use crate::error::{Error, Result};
use crate::probe::DeviceInfo;

/// The cache of one device, read from disk when the first pipeline is built.
pub(super) struct Store {
    calls: Arc<Calls>,
    path: Option<PathBuf>,
    owner: Owner,
    state: Mutex<State>,
    /// Counts pipelines the cache did not have.
    grown: AtomicU64,
    /// The count when the cache was last written.
    saved: AtomicU64,
}

#[derive(Default)]
struct State {
    cache: Option<vk::PipelineCache>,
    /// Checksum of the blob as this process last read or wrote it.
    known: Option<u64>,
}

impl Store {
    pub(super) fn new(calls: Arc<Calls>, info: &DeviceInfo, folder: Option<&Path>) -> Self {
        let owner = Owner { vendor_id: info.vendor_id, device_id: info.device_id, pipeline_uuid: info.pipeline_uuid };
        let path = folder.map(|folder| folder.join(file_name(info)));
        let state = Mutex::default();
        Store { calls, path, owner, state, grown: AtomicU64::new(0), saved: AtomicU64::new(0) }
    }

    /// The driver's cache, filled from disk at the first call.
    pub(super) fn cache(&self) -> Result<vk::PipelineCache> {
        let mut state = self.lock();
        if let Some(cache) = state.cache {
            return Ok(cache);
        }
        let blob = self.path.as_ref().and_then(|path| file::read(path, &self.owner));
        let loaded = blob.as_ref().and_then(|blob| self.create(blob).ok());
        let cache = match loaded {
            Some(cache) => {
                state.known = blob.as_deref().map(file::checksum);
                cache
            }
            // The driver does not want the blob, or there is none.
            None => self.create(&[])?,
        };
        state.cache = Some(cache);
        Ok(cache)
    }

    /// Notes that a pipeline was built that the cache did not have.
    pub(super) fn grown(&self) {
        self.grown.fetch_add(1, Ordering::Release);
    }

    /// How many pipelines the cache did not have.
    pub(super) fn growth(&self) -> u64 {
        self.grown.load(Ordering::Acquire)
    }

    /// Whether there is anything new to write, and a place for it.
    pub(super) fn is_dirty(&self) -> bool {
        self.is_kept() && self.growth() != self.saved.load(Ordering::Acquire)
    }

    /// Whether there is a file.
    pub(super) fn is_kept(&self) -> bool {
        self.path.is_some()
    }

    /// Writes the cache, together with what other processes wrote meanwhile.
    pub(super) fn save(&self) -> Result<()> {
        let Some(path) = self.path.as_deref().filter(|_| self.is_dirty()) else { return Ok(()) };
        let mut state = self.lock();
        let Some(cache) = state.cache else { return Ok(()) };
        let growth = self.growth();
        let failed =
            |error: std::io::Error| Error::Cache { path: path.display().to_string(), reason: error.to_string() };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let Some(_lock) = file::lock(path).map_err(failed)? else { return Ok(()) };
        let blob = self.merged(path, cache, state.known)?;
        let sum = file::checksum(&blob);
        if state.known != Some(sum) {
            file::write(path, &blob).map_err(failed)?;
            state.known = Some(sum);
        }
        self.saved.store(growth, Ordering::Release);
        Ok(())
    }

    /// The cache's blob with the pipelines of the file, if the file is not the one this process knows.
    fn merged(&self, path: &Path, cache: vk::PipelineCache, known: Option<u64>) -> Result<Vec<u8>> {
        let news = file::read(path, &self.owner).filter(|blob| known != Some(file::checksum(blob)));
        let Some(both) = news.and_then(|blob| self.create(&blob).ok()) else {
            // SAFETY: the cache is alive and internally synchronised.
            return unsafe { self.calls.pipeline_cache_data(cache) };
        };
        // Merged into the new object, not into the one in use, which builders may be using at this moment.
        // SAFETY: both caches are alive, and nobody else knows the one that is written.
        let merged = unsafe {
            self.calls.merge_pipeline_caches(both, &[cache]).and_then(|()| self.calls.pipeline_cache_data(both))
        };
        self.destroy(both);
        merged
    }

    fn create(&self, blob: &[u8]) -> Result<vk::PipelineCache> {
        let info = vk::PipelineCacheCreateInfo::default().initial_data(blob);
        // SAFETY: the blob is empty, or was written by us and has this device's header.
        unsafe { self.calls.create_pipeline_cache(&info) }
    }

    fn destroy(&self, cache: vk::PipelineCache) {
        if self.calls.may_destroy() {
            // SAFETY: the caller is the last to use it.
            unsafe { self.calls.destroy_pipeline_cache(cache) };
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if let Some(cache) = self.lock().cache.take() {
            self.destroy(cache);
        }
    }
}

fn file_name(info: &DeviceInfo) -> String {
    let uuid: String = info.uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    let (driver, version) = (info.driver_version, env!("CARGO_PKG_VERSION"));
    format!("{:04x}-{:04x}-{uuid}-{driver:08x}-{version}.pipelines", info.vendor_id, info.device_id)
}

//! The pipelines of a device, by content.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::slot::{PendingPipeline, Slot};
use super::store::Store;
use super::workers::{Inbox, Workers};
use super::{Built, Layout, Pipeline, PipelineRequest, build};
use crate::calls::Calls;
use crate::error::Result;
use crate::exit;
use crate::options::Options;
use crate::probe::DeviceInfo;
use crate::stats::Counters;
use crate::trace::Tracer;

/// All pipelines of a device and the threads that build them. Dropped, it ends the threads and writes the disk cache.
pub(crate) struct Pipelines {
    // The threads go before what they work on.
    workers: Workers,
    shared: Arc<Shared>,
}

/// What the threads share.
pub(super) struct Shared {
    calls: Arc<Calls>,
    info: DeviceInfo,
    layout: Arc<Layout>,
    slots: Mutex<HashMap<Key, Arc<Slot>>>,
    counters: Arc<Counters>,
    tracer: Arc<Tracer>,
    pub(super) store: Store,
    pub(super) inbox: Inbox,
}

/// What makes two requests the same kernel.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    spirv: Arc<[u32]>,
    subgroup_size: Option<u32>,
}

impl Pipelines {
    pub(crate) fn new(
        calls: Arc<Calls>,
        info: &DeviceInfo,
        options: &Options,
        counters: Arc<Counters>,
        tracer: Arc<Tracer>,
    ) -> Result<Self> {
        let layout = Arc::new(Layout::new(calls.clone())?);
        let store = Store::new(calls.clone(), info, options.cache_dir.as_deref());
        let shared = Shared {
            calls,
            info: info.clone(),
            layout,
            slots: Mutex::default(),
            counters,
            tracer,
            store,
            inbox: Inbox::default(),
        };
        let shared = Arc::new(shared);
        Ok(Pipelines { workers: Workers::new(shared.clone()), shared })
    }

    /// The pipeline, built by this thread if nobody has begun to.
    pub(crate) fn get(&self, request: &PipelineRequest) -> Result<Pipeline> {
        self.workers.keep_store();
        self.shared.finish(&self.shared.slot(request).0)
    }

    /// The pipeline, built in the background.
    pub(crate) fn get_async(&self, request: &PipelineRequest) -> PendingPipeline {
        let (slot, new) = self.shared.slot(request);
        if new {
            self.workers.keep_store();
            self.workers.push(slot.clone());
        }
        PendingPipeline { slot, shared: self.shared.clone() }
    }

    /// Writes what was built to disk now.
    pub(crate) fn save(&self) -> Result<()> {
        self.shared.store.save()
    }
}

impl Pipelines {
    /// Ends the background threads and writes what was built to disk.
    pub(crate) fn rest(&self) {
        self.workers.stop();
        // The cache is a convenience: a full disk must not disturb the end of a program.
        let _ = self.shared.store.save();
    }
}

impl Drop for Pipelines {
    fn drop(&mut self) {
        self.rest();
    }
}

impl Shared {
    /// The place of the request's pipeline, and whether it is new.
    fn slot(&self, request: &PipelineRequest) -> (Arc<Slot>, bool) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Key { spirv: request.spirv.clone(), subgroup_size: request.subgroup_size };
        let mut new = false;
        let slot = slots.entry(key).or_insert_with(|| {
            new = true;
            Arc::new(Slot::new(request.clone()))
        });
        let counter = if new { &self.counters.pipeline_misses } else { &self.counters.pipeline_hits };
        counter.add(1);
        (slot.clone(), new)
    }

    /// Builds the slot's pipeline or waits for the thread that does.
    pub(super) fn finish(&self, slot: &Arc<Slot>) -> Result<Pipeline> {
        if let Some(claim) = slot.claim() {
            let outcome = self.build(&slot.request);
            if outcome.is_err() {
                // What failed for lack of memory may succeed later: the next request starts anew.
                self.forget(slot);
            }
            claim.settle(outcome);
        }
        slot.wait()
    }

    fn build(&self, request: &PipelineRequest) -> Result<Pipeline> {
        let (cache, start) = (self.store.cache()?, Instant::now());
        let built = build::build(&self.calls, &self.info.limits, self.layout.raw, cache, request);
        exit::come_first();
        self.tracer.compiled(&request.name, start);
        let (raw, cached) = built?;
        if !cached {
            self.counters.pipelines_compiled.add(1);
            self.store.grown();
            self.inbox.nudge();
        }
        let name = request.name.as_str().into();
        Ok(Pipeline(Arc::new(Built { calls: self.calls.clone(), layout: self.layout.clone(), raw, name })))
    }

    fn forget(&self, slot: &Arc<Slot>) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.retain(|_, found| !Arc::ptr_eq(found, slot));
    }
}

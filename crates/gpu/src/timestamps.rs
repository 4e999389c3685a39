//! GPU time: when the device passed a point of a stream, in its own nanoseconds.
//!
//! A timestamp waits for everything before it and holds back everything after it, so the difference of two is the time
//! the work between them took, and nothing else.

use std::sync::Arc;
use std::time::Duration;

use ash::vk;

use crate::calls::Calls;
use crate::commands::Commands;
use crate::device::Device;
use crate::error::{Error, Result};

/// Timestamps per query pool.
const QUERIES: u32 = 64;

/// A point of a stream whose time can be read once the device has passed it.
#[derive(Clone)]
pub struct Timestamp {
    queries: Arc<Queries>,
    index: u32,
}

/// Makes timestamps for one stream.
#[derive(Default)]
pub(crate) struct Timestamps {
    queries: Option<Arc<Queries>>,
    used: u32,
}

struct Queries {
    calls: Arc<Calls>,
    pool: vk::QueryPool,
    period_ns: f64,
}

impl Timestamp {
    /// The device time in nanoseconds since some moment in the past.
    pub fn nanoseconds(&self) -> Result<f64> {
        Ok(self.ticks()? as f64 * self.queries.period_ns)
    }

    /// The time that passed on the device from an earlier timestamp to this one.
    pub fn since(&self, earlier: &Timestamp) -> Result<Duration> {
        let ticks = self.ticks()?.saturating_sub(earlier.ticks()?);
        Ok(Duration::from_secs_f64(ticks as f64 * self.queries.period_ns * 1e-9))
    }

    /// Records the query; the first of a pool empties the pool before.
    pub(crate) fn record(&self, commands: &mut Commands) {
        if self.index == 0 {
            commands.reset_queries(self.queries.pool, QUERIES);
        }
        commands.timestamp(self.queries.pool, self.index);
    }

    fn ticks(&self) -> Result<u64> {
        let mut ticks = [0u64];
        let (calls, pool) = (&self.queries.calls, self.queries.pool);
        // SAFETY: the pool is alive and has this query; 64-bit results go into a 64-bit slice.
        let outcome = unsafe { calls.query_results(pool, self.index, &mut ticks, vk::QueryResultFlags::TYPE_64) };
        match outcome {
            Ok(()) => Ok(ticks[0]),
            Err(Error::Vulkan { code, .. }) if code == vk::Result::NOT_READY.as_raw() => Err(Error::InvalidArgument(
                "[timestamp] the device must have passed the timestamp but has not; wait for its event first.".into(),
            )),
            Err(other) => Err(other),
        }
    }
}

impl Timestamps {
    /// A timestamp that is not recorded yet. They must be recorded in the order they are made.
    pub(crate) fn next(&mut self, device: &Device) -> Result<Timestamp> {
        let queries = match &self.queries {
            Some(queries) if self.used < QUERIES => queries.clone(),
            _ => {
                let fresh = Arc::new(Queries::new(device)?);
                self.used = 0;
                self.queries.insert(fresh).clone()
            }
        };
        self.used += 1;
        Ok(Timestamp { queries, index: self.used - 1 })
    }
}

impl Queries {
    fn new(device: &Device) -> Result<Self> {
        if !device.limits().has_timestamps {
            return Err(Error::InvalidArgument(format!(
                "[timestamp] the device must write timestamps but {} does not.",
                device.info().name
            )));
        }
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(QUERIES);
        let calls = device.timeline().calls().clone();
        // SAFETY: the info lives until the call returns.
        let pool = unsafe { calls.create_query_pool(&info) }?;
        Ok(Self { calls, pool, period_ns: f64::from(device.limits().timestamp_period_ns) })
    }
}

impl Drop for Queries {
    fn drop(&mut self) {
        if self.calls.may_destroy() {
            // SAFETY: submissions that write into the pool hold it, so none is left.
            unsafe { self.calls.destroy_query_pool(self.pool) }
        }
    }
}

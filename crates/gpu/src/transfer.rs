//! Bytes between host and device.
//!
//! Where memory is unified, and for uploads wherever device memory is mapped, the host copies directly. One thread
//! fills the window into an H200 with 9 GB/s and four with 20, the same as filling staging memory, so staging is for
//! devices whose memory the host cannot reach. Downloads from a device with memory of its own always go through cached
//! host memory: the device fills it with 52 GB/s, while reading through the window runs at 0.03.
//!
//! Transfers are synchronous. The device's functions wait for all work submitted before; the stream's commit what the
//! stream has recorded and wait for that alone. Work on other streams is theirs to order by events, as for launches.

mod copy;
mod staging;

pub(crate) use staging::Staging;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::memory::{Buffer, Mapped, writing};
use crate::options::Transfers;
use crate::stream::Stream;

impl Device {
    /// Copies bytes into a buffer. Waits for submitted work that may use the buffer; what streams have not committed is
    /// theirs.
    pub fn upload(&self, to: &Buffer, offset: u64, bytes: &[u8]) -> Result<()> {
        // Submitted work holds a clone of every buffer it uses.
        if !to.is_unique() {
            self.timeline().wait_idle("upload")?;
        }
        self.upload_now(to, offset, bytes)
    }

    /// Copies bytes out of a buffer. Waits for all submitted work; what streams have not committed is theirs.
    pub fn download(&self, from: &Buffer, offset: u64, into: &mut [u8]) -> Result<()> {
        self.timeline().wait_idle("download")?;
        self.download_now(from, offset, into)
    }

    fn upload_now(&self, to: &Buffer, offset: u64, bytes: &[u8]) -> Result<()> {
        check("upload", to, offset, bytes.len())?;
        self.timeline().check("upload")?;
        self.counters().bytes_uploaded.add(bytes.len() as u64);
        writing("upload", &[to], || {
            if to.is_mapped() && self.options().transfers == Transfers::Automatic {
                copy::write(to, offset, bytes);
                return Ok(());
            }
            self.staging().upload(self.timeline(), to, offset, bytes)
        })
    }

    /// The bytes of a buffer where they lie: no copy, where memory is the host's too and nothing else holds the buffer, neither
    /// another handle nor work that is recorded or in flight. Whoever waited for what writes it has nothing else to wait for.
    pub fn read_mapped(&self, from: &Buffer) -> Option<Mapped> {
        if self.is_unified() && self.options().transfers == Transfers::Automatic { Mapped::of(from) } else { None }
    }

    fn download_now(&self, from: &Buffer, offset: u64, into: &mut [u8]) -> Result<()> {
        check("download", from, offset, into.len())?;
        self.timeline().check("download")?;
        self.counters().bytes_downloaded.add(into.len() as u64);
        if from.is_mapped() && self.is_unified() {
            copy::read(from, offset, into);
            return Ok(());
        }
        self.staging().download(self.timeline(), from, offset, into)
    }
}

impl Event {
    /// Copies bytes out of a buffer once the event is reached, whatever was submitted later.
    pub fn download(&self, from: &Buffer, offset: u64, into: &mut [u8]) -> Result<()> {
        self.wait()?;
        self.device.download_now(from, offset, into)
    }
}

impl Stream {
    /// Copies bytes into a buffer, after everything this stream was given.
    pub fn upload(&self, to: &Buffer, offset: u64, bytes: &[u8]) -> Result<()> {
        if !to.is_unique() {
            self.synchronize()?;
        }
        self.device().upload_now(to, offset, bytes)
    }

    /// Copies bytes out of a buffer, after everything this stream was given.
    pub fn download(&self, from: &Buffer, offset: u64, into: &mut [u8]) -> Result<()> {
        self.synchronize()?;
        self.device().download_now(from, offset, into)
    }
}

fn check(op: &'static str, buffer: &Buffer, offset: u64, len: usize) -> Result<()> {
    if offset.checked_add(len as u64).is_some_and(|end| end <= buffer.len()) {
        return Ok(());
    }
    let have = buffer.len();
    Err(Error::InvalidArgument(format!(
        "[{op}] {len} bytes at {offset} must lie in the buffer but it has {have} bytes."
    )))
}

//! A range of elements, its part of every output, and the blocks it is run in.

use std::ops::Range;

use pumice_kernel::Elem;
use smallvec::SmallVec;

use super::loops::{Chunk, LANES};
use super::machine::{Lanewise, Machine};
use super::operands::{Sink, Source};
use super::program::{Port, Program, Reg, Width};
use super::space::{Order, Region, each_region};
use super::transfer::{self, Placing};
use crate::error::Result;

/// Registers that are the same for all elements: constants and scalars, a chunk of each.
#[derive(Default)]
pub(super) struct Splats {
    narrow: Vec<(Reg, Chunk<u32>)>,
    wide: Vec<(Reg, Chunk<u64>)>,
}

impl Splats {
    /// A chunk for every constant of a program.
    pub(super) fn constants(program: &Program) -> Splats {
        let mut splats = Splats::default();
        for (reg, bits) in &program.constants {
            match reg.width {
                Width::Narrow => splats.narrow.push((*reg, [*bits as u32; LANES])),
                Width::Wide => splats.wide.push((*reg, [*bits; LANES])),
            }
        }
        splats
    }

    /// A chunk for every scalar among the inputs.
    pub(super) fn scalars(program: &Program, sources: &[Source<'_>]) -> Splats {
        let mut splats = Splats::default();
        for (port, source) in program.inputs.iter().zip(sources) {
            let Source::Scalar(bytes) = source else {
                continue;
            };
            for (part, reg) in port.parts.iter().enumerate() {
                match reg.width {
                    Width::Narrow => {
                        let mut word = [0];
                        transfer::read_narrow(port.elem, part, bytes, Placing::Packed, &mut word);
                        splats.narrow.push((*reg, [word[0]; LANES]));
                    }
                    Width::Wide => {
                        let mut word = [0];
                        transfer::read_wide(bytes, Placing::Packed, &mut word);
                        splats.wide.push((*reg, [word[0]; LANES]));
                    }
                }
            }
        }
        splats
    }
}

/// What all tasks of a run share.
pub(super) struct Shared<'a> {
    pub(super) program: &'a Program,
    pub(super) constants: &'a Splats,
    pub(super) scalars: &'a Splats,
    pub(super) sources: &'a [Source<'a>],
    pub(super) shape: &'a [usize],
    pub(super) order: Order,
    /// Lanes of a block.
    pub(super) lanes: usize,
}

/// A task being run.
struct Run<'a> {
    shared: &'a Shared<'a>,
    machine: Machine<'a>,
    sinks: Vec<Sink<'a>>,
}

/// Runs a program over a range of elements, given its part of every output.
pub(super) fn run<'a>(shared: &'a Shared<'a>, range: Range<usize>, sinks: Vec<Sink<'a>>) -> Result<()> {
    let mut machine = Machine::new(shared.program);
    for splats in [shared.constants, shared.scalars] {
        for (reg, chunk) in &splats.narrow {
            machine.narrow[reg.number as usize].read_from(std::slice::from_ref(chunk), true);
        }
        for (reg, chunk) in &splats.wide {
            machine.wide[reg.number as usize].read_from(std::slice::from_ref(chunk), true);
        }
    }
    let mut run = Run { shared, machine, sinks };
    each_region(shared.shape, shared.order, range, shared.lanes, |region| run.block(region))
}

impl<'a> Run<'a> {
    fn block(&mut self, region: &Region) -> Result<()> {
        let lanes = region.lanes();
        self.machine.chunks = lanes.div_ceil(LANES);
        let shared = self.shared;
        for (port, source) in shared.program.inputs.iter().zip(shared.sources) {
            self.load(port, source, region);
        }
        self.number(region);
        let mut packed: SmallVec<[&'a mut [u8]; 4]> = SmallVec::new();
        for output in 0..self.sinks.len() {
            packed.push(self.open(output, region));
        }
        self.machine.run(lanes)?;
        for (output, bytes) in packed.into_iter().enumerate() {
            self.close(output, bytes, region);
        }
        Ok(())
    }

    /// Puts an input into its registers; where the bytes are lanes already, the registers are put on the bytes.
    fn load(&mut self, port: &Port, source: &'a Source<'a>, region: &Region) {
        let (bytes, layout, origin): (&[u8], _, _) = match source {
            Source::Scalar(_) => return,
            Source::Bytes { bytes, layout: None } => {
                let bytes = packed(port.elem, bytes, region);
                if region.lanes().is_multiple_of(LANES) && transfer::is_plain(port.elem) && self.view(port, bytes) {
                    return;
                }
                (bytes, None, 0)
            }
            Source::Bytes { bytes, layout } => (bytes, layout.as_ref(), 0),
            Source::InPlace(output) => {
                let sink = &self.sinks[*output];
                (&*sink.bytes, sink.layout.as_ref(), sink.origin)
            }
        };
        let placing = match layout {
            None => Placing::Packed,
            Some(layout) => Placing::Spread { region, shape: self.shared.shape, layout, origin },
        };
        fetch(&mut self.machine, port, bytes, placing, region.lanes());
    }

    fn view(&mut self, port: &Port, bytes: &'a [u8]) -> bool {
        let number = port.parts[0].number as usize;
        match port.parts[0].width {
            Width::Narrow => transfer::chunks(bytes).map(|c| self.machine.narrow[number].read_from(c, false)),
            Width::Wide => transfer::chunks(bytes).map(|c| self.machine.wide[number].read_from(c, false)),
        }
        .is_some()
    }

    fn number(&mut self, region: &Region) {
        let (chunks, shape) = (self.machine.chunks, self.shared.shape);
        let Some(reg) = self.shared.program.index else {
            return;
        };
        let number = reg.number as usize;
        match reg.width {
            Width::Narrow => {
                let out = self.machine.narrow[number].overwrite(chunks, false);
                transfer::number(region, shape, out, |i| i as u32);
            }
            Width::Wide => {
                let out = self.machine.wide[number].overwrite(chunks, false);
                transfer::number(region, shape, out, |i| i as u64);
            }
        }
    }

    /// Readies an output's registers. Gives the bytes of the block where they stand together and the lanes are yet to
    /// be written there.
    fn open(&mut self, output: usize, region: &Region) -> &'a mut [u8] {
        let port = &self.shared.program.outputs[output];
        let lanes = region.lanes();
        let sink = &mut self.sinks[output];
        let mut bytes: &'a mut [u8] = &mut [];
        if sink.layout.is_none() {
            let (head, rest) = std::mem::take(&mut sink.bytes).split_at_mut(lanes * port.elem.bytes());
            (sink.bytes, bytes) = (rest, head);
            if lanes.is_multiple_of(LANES) && transfer::is_plain(port.elem) && is_aligned(port, bytes) {
                self.write_to(port, bytes);
                return &mut [];
            }
        }
        for reg in &port.parts {
            match reg.width {
                Width::Narrow => self.machine.narrow[reg.number as usize].keep(),
                Width::Wide => self.machine.wide[reg.number as usize].keep(),
            }
        }
        if port.partial {
            let sink = &self.sinks[output];
            let (held, placing) = match &sink.layout {
                None => (&*bytes, Placing::Packed),
                Some(layout) => {
                    let (shape, origin) = (self.shared.shape, sink.origin);
                    (&*sink.bytes, Placing::Spread { region, shape, layout, origin })
                }
            };
            fetch(&mut self.machine, port, held, placing, lanes);
        }
        bytes
    }

    fn write_to(&mut self, port: &Port, bytes: &'a mut [u8]) {
        let number = port.parts[0].number as usize;
        match port.parts[0].width {
            Width::Narrow => {
                self.machine.narrow[number].write_to(transfer::chunks_mut(bytes).expect("it is aligned"));
            }
            Width::Wide => {
                self.machine.wide[number].write_to(transfer::chunks_mut(bytes).expect("it is aligned"));
            }
        }
    }

    /// Stores an output's registers, unless they are its bytes.
    fn close(&mut self, output: usize, bytes: &'a mut [u8], region: &Region) {
        let (shape, lanes) = (self.shared.shape, region.lanes());
        let port = &self.shared.program.outputs[output];
        let sink = &mut self.sinks[output];
        let (bytes, placing) = match &sink.layout {
            None => (bytes, Placing::Packed),
            Some(layout) => (&mut *sink.bytes, Placing::Spread { region, shape, layout, origin: sink.origin }),
        };
        for (part, reg) in port.parts.iter().enumerate() {
            match reg.width {
                Width::Narrow => {
                    if let Some(words) = finished::<u32>(&mut self.machine, *reg, lanes) {
                        transfer::write_narrow(port.elem, part, bytes, placing, words);
                    }
                }
                Width::Wide => {
                    if let Some(words) = finished::<u64>(&mut self.machine, *reg, lanes) {
                        transfer::write_wide(bytes, placing, words);
                    }
                }
            }
        }
    }
}

/// The bytes of a run of elements that stand one after another.
fn packed<'b>(elem: Elem, bytes: &'b [u8], region: &Region) -> &'b [u8] {
    let Region::Run(range) = region else { unreachable!("tiles come with layouts") };
    &bytes[range.start * elem.bytes()..range.end * elem.bytes()]
}

fn is_aligned(port: &Port, bytes: &[u8]) -> bool {
    bytes.as_ptr().addr().is_multiple_of(port.elem.bytes())
}

/// Reads elements into a port's registers.
fn fetch(machine: &mut Machine<'_>, port: &Port, bytes: &[u8], placing: Placing<'_>, lanes: usize) {
    let chunks = machine.chunks;
    for (part, reg) in port.parts.iter().enumerate() {
        match reg.width {
            Width::Narrow => {
                let out = machine.narrow[reg.number as usize].overwrite(chunks, false).as_flattened_mut();
                transfer::read_narrow(port.elem, part, bytes, placing, &mut out[..lanes]);
            }
            Width::Wide => {
                let out = machine.wide[reg.number as usize].overwrite(chunks, false).as_flattened_mut();
                transfer::read_wide(bytes, placing, &mut out[..lanes]);
            }
        }
    }
}

/// The lanes of an output's register, all of them there; none if they are the output's bytes.
fn finished<'m, T: Lanewise>(machine: &'m mut Machine<'_>, reg: Reg, lanes: usize) -> Option<&'m [T]> {
    let chunks = machine.chunks;
    let column = &mut T::columns_mut(machine)[reg.number as usize];
    let in_place = column.is_output();
    let words = &column.change(chunks).as_flattened()[..lanes];
    (!in_place).then_some(words)
}

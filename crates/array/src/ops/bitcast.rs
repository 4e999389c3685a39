//! `view(x, dtype)`: the same bytes as another type. Where the sizes of the types differ, the last axis grows or shrinks.

use smallvec::smallvec;

use crate::array::{Array, Data, call_one};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{Key, Lowering, Op, Place, Specs, View, expect_inputs};
use crate::ops::astype::astype;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::copy::Copy;
use crate::ops::views::moveaxis;
use crate::shape::{Layout, Spec};
use crate::storage::Source;

/// The same bytes as another type. Where its size differs, the last axis has more or fewer elements.
pub fn view(x: &Array, dtype: Dtype) -> Result<Array> {
    let op = Bitcast { dtype };
    let spec = op.infer(&[x.spec()])?.swap_remove(0);
    match dtype {
        _ if dtype == x.dtype() => Ok(x.clone()),
        // A bool in memory is 0 or 1, whatever the byte was.
        Dtype::Bool => astype(&view(x, Dtype::U8)?, Dtype::Bool),
        _ if dtype.size() == x.dtype().size() => call_one(op, [x.clone()]),
        _ => match resized(x, &spec) {
            Some(y) => Ok(y),
            // In memory of their own the bytes begin where an element of any type may.
            None => call_one(op, [call_one(Copy, [x.clone()])?]),
        },
    }
}

/// A look at the bytes of an array that is there already, if they lie side by side and begin where an element may.
fn resized(x: &Array, spec: &Spec) -> Option<Array> {
    let data = x.data().filter(|data| !x.is_tracer() && matches!(data.source, Source::Memory(_)))?;
    let (start, size) = (data.layout.offset * x.dtype().size() as i64, spec.dtype.size() as i64);
    if !data.layout.is_row_contiguous() || start % size != 0 {
        return None;
    }
    let layout = Layout { offset: start / size, ..Layout::contiguous(&spec.shape) };
    Some(Array::evaluated(spec.clone(), Data { source: data.source, layout }))
}

#[derive(Debug)]
struct Bitcast {
    dtype: Dtype,
}

impl Op for Bitcast {
    fn name(&self) -> &'static str {
        "view"
    }

    fn key(&self, key: &mut Key) {
        key.word(self.dtype as u64);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), inputs)?;
        let mut spec = x.with_dtype(self.dtype);
        let (from, to) = (x.dtype.size() as i64, self.dtype.size() as i64);
        if from == to {
            return Ok(smallvec![spec]);
        }
        let Some(last) = spec.shape.last_mut() else {
            let (from, to) = (x.dtype, self.dtype);
            return Err(Error::Value(format!("[view] a scalar's types must have one size but are {from} and {to}.")));
        };
        let bytes = *last as i64 * from;
        match i32::try_from(bytes / to) {
            Ok(elements) if bytes % to == 0 => *last = elements,
            _ => {
                let dtype = self.dtype;
                let text = format!("[view] the last axis must have whole elements of {dtype} but has {bytes} bytes.");
                return Err(Error::Value(text));
            }
        }
        Ok(smallvec![spec])
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let Some(axis) = axes[0] else { return Ok(vec![(view(&inputs[0], self.dtype)?, None)]) };
        if inputs[0].ndim() == 1 && inputs[0].dtype().size() != self.dtype.size() {
            self.infer(&[&Spec::new(&[][..], inputs[0].dtype())])?;
        }
        Ok(vec![(view(&moveaxis(&inputs[0], axis as i32, 0)?, self.dtype)?, Some(0))])
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::View(self)
    }
}

impl View for Bitcast {
    fn view(&self, input: &Layout, output: &Spec) -> Option<Layout> {
        if input.shape == output.shape {
            return Some(input.clone());
        }
        (input.is_row_contiguous() && input.offset == 0).then(|| Layout::contiguous(&output.shape))
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let case = |dtype: Dtype, shape: &[i32], dtypes: &'static [Dtype]| Case {
        name: format!("as {dtype}"),
        inputs: vec![Sample::within(shape, 0.0, 100.0)],
        dtypes,
        call: Box::new(move |x| Ok(vec![view(&x[0], dtype)?])),
        differentiable: false,
    };
    let cases = vec![
        case(Dtype::I32, &[3, 4], &Dtype::ALL),
        case(Dtype::U8, &[3, 4], &Dtype::ALL),
        case(Dtype::BF16, &[], &[Dtype::U16, Dtype::I16, Dtype::F16, Dtype::BF16]),
        case(Dtype::I64, &[0, 8], &Dtype::ALL),
    ];
    vec![Entry { name: "view", doc: "The same bytes as another type.", cases }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{default_stream, with_stream};
    use crate::ops::binary::add;

    fn on_both(check: impl Fn()) {
        for device in crate::device::test_devices() {
            with_stream(default_stream(device).expect("it is available"), &check);
        }
    }

    /// Expected values: 1.0 is 0x3f800000, and the machine is little-endian.
    #[test]
    fn bytes_are_kept_whatever_the_sizes_are() {
        on_both(|| {
            let x = Array::from_slice(&[1f32, -2.0], &[2]).expect("two");
            let later = add(&x, 0.0).expect("they add");
            for x in [x, later] {
                assert_eq!(
                    view(&x, Dtype::U32).expect("same size").to_vec::<u32>().expect("u32"),
                    [0x3f80_0000, 0xc000_0000]
                );
                let bytes = view(&x, Dtype::U8).expect("smaller");
                assert_eq!(bytes.shape(), [8]);
                assert_eq!(bytes.to_vec::<u8>().expect("bytes"), [0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]);
                assert_eq!(
                    view(&x, Dtype::U64).expect("larger").to_vec::<u64>().expect("u64"),
                    [0xc000_0000_3f80_0000]
                );
            }
        });
    }

    #[test]
    fn the_last_axis_must_have_whole_elements() {
        let x = Array::from_slice(&[1u8, 2, 3], &[3]).expect("three");
        let error = view(&x, Dtype::U16).expect_err("three bytes are not whole");
        assert_eq!(error.to_string(), "[view] the last axis must have whole elements of uint16 but has 3 bytes.");
        let error = view(&Array::scalar(1u8), Dtype::U16).expect_err("scalars keep their size");
        assert_eq!(error.to_string(), "[view] a scalar's types must have one size but are uint8 and uint16.");
    }
}

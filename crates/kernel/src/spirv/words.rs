//! SPIR-V as words: instructions and strings appended to a list.

use rspirv::spirv::Op;

/// A result id. 0 is never one.
pub(super) type Id = u32;

/// Appends an instruction.
pub(super) fn push(out: &mut Vec<u32>, op: Op, operands: &[u32]) {
    out.push(((operands.len() as u32 + 1) << 16) | op as u32);
    out.extend_from_slice(operands);
}

/// Appends an instruction whose operands come in two parts.
pub(super) fn push_parts(out: &mut Vec<u32>, op: Op, head: &[u32], tail: &[u32]) {
    out.push(((head.len() + tail.len() + 1) as u32) << 16 | op as u32);
    out.extend_from_slice(head);
    out.extend_from_slice(tail);
}

/// A literal string: UTF-8, ended by a zero byte, padded to whole words.
pub(super) fn string(text: &str) -> Vec<u32> {
    let mut bytes: Vec<u8> = text.bytes().filter(|&b| b != 0).collect();
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_starts_with_its_length_and_opcode() {
        let mut out = Vec::new();
        push(&mut out, Op::IAdd, &[1, 2, 3, 4]);
        push_parts(&mut out, Op::CompositeConstruct, &[1, 2], &[3]);
        assert_eq!(out, [5 << 16 | 128, 1, 2, 3, 4, 4 << 16 | 80, 1, 2, 3]);
    }

    #[test]
    fn a_string_ends_with_a_zero_byte() {
        assert_eq!(string("main"), [u32::from_le_bytes(*b"main"), 0]);
        assert_eq!(string("add"), [u32::from_le_bytes(*b"add\0")]);
    }
}

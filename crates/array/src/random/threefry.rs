//! Threefry-2x32 with 20 rounds, in the kernel language.

use pumice_kernel::Val;

const ROTATIONS: [[i32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
const PARITY: i32 = 0x1BD1_1BDA;

/// The two words that a key makes of two counters.
pub(super) fn hash<'k>(key: [Val<'k>; 2], counters: [Val<'k>; 2]) -> [Val<'k>; 2] {
    let keys = [key[0], key[1], key[0] ^ key[1] ^ PARITY];
    let mut x = [counters[0] + keys[0], counters[1] + keys[1]];
    for turn in 0..5 {
        for rotation in ROTATIONS[turn % 2] {
            x[0] = x[0] + x[1];
            x[1] = rotated(x[1], rotation) ^ x[0];
        }
        x[0] = x[0] + keys[(turn + 1) % 3];
        x[1] = x[1] + keys[(turn + 2) % 3] + (turn as i32 + 1);
    }
    x
}

fn rotated(x: Val<'_>, left: i32) -> Val<'_> {
    (x << left) | x.shr_u(32 - left)
}

//! The last wave of a product, cut along K so that no part of the device is idle while it runs.
//!
//! A *place* is room for one workgroup; a multiprocessor has a few. Tiles go to places as these become free, so tiles that cost the same
//! run in waves, and in the last one only `tiles % places` of them are left. Here those are laid end to end along K, a bundle
//! of tiles at a time, and each bundle is cut into equal shares, one a place:
//!
//! ```text
//! tiles    |-------- 0 --------|-------- 1 --------|        a bundle of two, three shares:
//! shares   |----- 0 -----|----- 1 -----|----- 2 ----|       the wave takes two thirds of a tile's time
//! pieces   |----- 0 -----|- 1 -|-- 2 --|----- 3 ----|
//! ```
//!
//! A share that goes from one tile into the next is two pieces. Each piece is a workgroup that writes its sums to scratch memory, and a
//! second kernel adds those of each tile in their order along K: the same bits in every run. The longest pieces start first; as the
//! two of a share are as long together as a whole one, what starts last fits what ends first.
//!
//! Times here are counted in steps of the kernel's main loop.

use pumice_kernel::arguments::Argument;

/// The most pieces of a bundle: as many as the table in the kernel's arguments holds.
pub const MOST: usize = 64;

/// Steps that a workgroup needs besides its loop: to start, to wait for the first reads, to write its sums. An estimate.
const BEGIN: f64 = 2.0;
/// Steps that the launch of the kernel that adds costs: 2.3 µs of 2.7 (a step of the largest cut on an H200, two workgroups a
/// multiprocessor).
const LAUNCH: f64 = 0.9;
/// Bytes that memory moves in a step's time for each place: 4.3 TB/s, 264 places, 2.7 µs.
const TRAFFIC: f64 = 44e3;
/// By how many times its cost the time saved must exceed it: costs are estimates, and what runs beside a product may fill the wave
/// as well.
const MARGIN: f64 = 2.0;

/// A product and a device, as far as waves go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// Tiles of the product, numbered as the kernel does.
    pub tiles: i64,
    /// Steps of a tile along K.
    pub steps: i64,
    /// Places that the device has; 0 where it does not tell.
    pub places: i64,
}

/// How the last wave is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LastWave {
    work: Work,
    /// Tiles of whole waves, which are made as ever.
    before: i64,
    /// Tiles that are cut together.
    bundle: i64,
    /// Shares that they are cut into.
    shares: i64,
}

/// A part of a tile's K: what a workgroup sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Which tile of the bundle.
    pub tile: i64,
    /// Its first step, and the one after its last.
    pub steps: [i64; 2],
    /// Which of the bundle's pieces it is, in their order along K.
    pub number: i64,
}

impl LastWave {
    /// The way of cutting that takes least time, whether or not that is less than not to cut; none if waves are whole, or a tile has too
    /// few steps.
    pub fn shortest(work: Work) -> Option<LastWave> {
        let pairs = (2..=MOST as i64).flat_map(|shares| (1..shares).map(move |bundle| (bundle, shares)));
        let all = pairs.filter_map(|(bundle, shares)| LastWave::cut(work, bundle, shares));
        all.min_by(|a, b| a.time().total_cmp(&b.time()))
    }

    /// Every `bundle` tiles of the last wave cut into so many shares; none if that cannot be, or takes more shares than there are places.
    pub fn cut(work: Work, bundle: i64, shares: i64) -> Option<LastWave> {
        let before = work.tiles - work.tiles.checked_rem(work.places)?;
        let wave = LastWave { work, before, bundle, shares };
        let few = wave.pieces() <= MOST as i64 && shares <= work.steps && gcd(bundle, shares) == 1;
        let fits = before < work.tiles && bundle < shares && wave.bundles() * shares <= work.places;
        (few && fits).then_some(wave)
    }

    /// Whether it saves more time than it costs, with a margin.
    pub fn pays(&self) -> bool {
        self.work.steps as f64 + BEGIN - self.makespan() >= MARGIN * self.adding()
    }

    /// Steps until the wave's results stand, adding included.
    pub fn time(&self) -> f64 {
        self.makespan() + self.adding()
    }

    /// Steps until the last place is done.
    pub fn makespan(&self) -> f64 {
        let begins = if self.bundle == 1 { 1.0 } else { 2.0 };
        self.longest() as f64 + begins * BEGIN
    }

    /// Steps of the longest share.
    pub fn longest(&self) -> i64 {
        (self.bundle * self.work.steps + self.shares - 1) / self.shares
    }

    /// Steps that adding costs: its launch, and sums that are written and read once more.
    fn adding(&self) -> f64 {
        // Of the largest cut.
        const TILE_BYTES: f64 = 4.0 * 128.0 * 128.0;
        LAUNCH + 2.0 * TILE_BYTES * self.slots() as f64 / (TRAFFIC * self.work.places as f64)
    }

    /// Tiles of whole waves, which come first and are made as ever.
    pub fn before(&self) -> i64 {
        self.before
    }

    /// Tiles of the last wave.
    pub fn tiles(&self) -> i64 {
        self.work.tiles - self.before
    }

    /// Number of bundles; the last may lack tiles.
    fn bundles(&self) -> i64 {
        (self.tiles() + self.bundle - 1) / self.bundle
    }

    /// Pieces of a bundle.
    fn pieces(&self) -> i64 {
        self.bundle + self.shares - 1
    }

    /// Tiles' worth of scratch memory, which is also the number of workgroups that make the pieces.
    pub fn slots(&self) -> i64 {
        self.bundles() * self.pieces()
    }

    /// The pieces of a bundle, longest first.
    pub fn table(&self) -> Vec<Piece> {
        let steps = self.work.steps;
        let share = |i: i64| i * self.bundle * steps / self.shares;
        let mut ends: Vec<i64> = (0..=self.shares).map(share).chain((1..self.bundle).map(|i| i * steps)).collect();
        ends.sort_unstable();
        let piece = |(number, ends): (usize, &[i64])| {
            let tile = ends[0] / steps;
            Piece { tile, steps: [ends[0], ends[1]].map(|end| end - tile * steps), number: number as i64 }
        };
        let mut pieces: Vec<Piece> = ends.windows(2).enumerate().map(piece).collect();
        pieces.sort_by_key(|piece| piece.steps[0] - piece.steps[1]);
        pieces
    }

    /// Where it is told to the kernel that makes the pieces (`pieces::kernel`), of steps this long and a K of this depth.
    pub fn scalars(&self, step: u32, depth: i64) -> Vec<Argument> {
        let mut values = vec![self.work.tiles, self.before, self.bundle, self.bundles(), self.pieces()];
        for Piece { tile, steps, number } in self.table() {
            let [low, high] = steps.map(|at| (at * step as i64).min(depth));
            values.extend([tile, low, high, number]);
        }
        values.resize(SCALARS, 0);
        values.into_iter().map(|value| Argument::I32(value as i32)).collect()
    }

    /// The same for the kernel that adds them (`pieces::add`).
    pub fn adding_scalars(&self) -> [Argument; 4] {
        [self.work.tiles, self.before, self.bundle, self.shares].map(|value| Argument::I32(value as i32))
    }
}

/// How many [`LastWave::scalars`] there are: five, and four for each piece.
const SCALARS: usize = 5 + 4 * MOST;

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places of an H200.
    const PLACES: i64 = 264;

    /// Products of many sizes on devices of many sizes.
    fn waves() -> impl Iterator<Item = LastWave> {
        let places = [6, 7, 48, 264, 1000];
        let sizes = |places: i64| {
            let tiles = [1, 2, 5, places - 1, places + 1, 2 * places + places / 3, 3 * places + 4, 1024];
            let steps = [2, 3, 17, 64, 256, 511];
            tiles.into_iter().flat_map(move |tiles| steps.map(move |steps| Work { tiles, steps, places }))
        };
        places.into_iter().flat_map(sizes).filter_map(LastWave::shortest)
    }

    /// When the last place is done, if each piece takes its steps and those to begin, and goes to the place that is free first.
    fn simulated(wave: &LastWave) -> f64 {
        let mut free = vec![0f64; wave.work.places as usize];
        for piece in wave.table() {
            for bundle in 0..wave.bundles() {
                if bundle * wave.bundle + piece.tile < wave.tiles() {
                    let first = free.iter_mut().min_by(|a, b| a.total_cmp(b)).expect("there are places");
                    *first += (piece.steps[1] - piece.steps[0]) as f64 + BEGIN;
                }
            }
        }
        free.into_iter().fold(0.0, f64::max)
    }

    #[test]
    fn the_pieces_of_a_tile_are_its_steps_in_order() {
        for wave in waves() {
            let mut pieces = wave.table();
            assert_eq!(pieces.len() as i64, wave.pieces(), "{wave:?}");
            pieces.sort_by_key(|piece| piece.number);
            let mut at = (0, 0);
            for (number, Piece { tile, steps: [low, high], .. }) in pieces.iter().copied().enumerate() {
                assert!(low < high && high <= wave.work.steps, "{wave:?}: piece {number} from {low} to {high}");
                assert_eq!((tile, low), at, "{wave:?}: piece {number} follows the one before");
                at = if high == wave.work.steps { (tile + 1, 0) } else { (tile, high) };
            }
            assert_eq!(at, (wave.bundle, 0), "{wave:?}");
        }
    }

    #[test]
    fn pieces_on_places_take_as_long_as_the_model_says() {
        for wave in waves() {
            // A step more where shares are of uneven length.
            let (found, said) = (simulated(&wave), wave.makespan());
            assert!(found <= said + 1.0, "{wave:?}: {found} steps, said to be {said}");
        }
    }

    #[test]
    fn what_pays_is_shorter_than_a_wave() {
        for wave in waves().filter(LastWave::pays) {
            assert!(simulated(&wave) < wave.work.steps as f64 + BEGIN, "{wave:?}");
        }
    }

    #[test]
    fn large_products_fill_their_last_wave() {
        // 4096³ has 1,024 tiles of 256 steps, 3.88 waves; 8192³ 4,096 of 512, 15.52 waves.
        for (tiles, steps, most) in [(1024, 256, 0.9), (4096, 512, 0.6)] {
            let wave = LastWave::shortest(Work { tiles, steps, places: PLACES }).expect("waves are not whole");
            assert!(wave.pays(), "{wave:?}");
            assert!(simulated(&wave) <= most * (steps as f64 + BEGIN), "{wave:?}: {}", simulated(&wave));
            assert!(wave.slots() <= 2 * PLACES, "{wave:?}: two pieces a place at most");
        }
    }

    #[test]
    fn whole_waves_are_not_cut() {
        for (tiles, places) in [(2 * PLACES, PLACES), (1024, 0)] {
            assert_eq!(LastWave::shortest(Work { tiles, steps: 256, places }), None);
        }
    }

    #[test]
    fn a_short_k_does_not_pay() {
        for steps in [1, 2, 4, 8, 16] {
            let wave = LastWave::shortest(Work { tiles: 1024, steps, places: PLACES });
            assert!(wave.is_none_or(|wave| !wave.pays()), "{wave:?}");
        }
    }

    #[test]
    fn a_wave_that_is_nearly_full_does_not_pay() {
        let wave = LastWave::shortest(Work { tiles: 4 * PLACES - 4, steps: 256, places: PLACES });
        assert!(wave.is_none_or(|wave| !wave.pays()), "{wave:?}");
    }
}

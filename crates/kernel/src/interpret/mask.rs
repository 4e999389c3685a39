//! Which invocations are active, and copying values for those only.

/// One word per invocation: all ones where it is active, zero elsewhere.
#[derive(Debug, Default)]
pub(super) struct Mask {
    words: Vec<u64>,
    active: usize,
}

impl Mask {
    /// All of them.
    pub(super) fn full(invocations: usize) -> Mask {
        Mask { words: vec![u64::MAX; invocations], active: invocations }
    }

    /// How many are active.
    pub(super) fn active(&self) -> usize {
        self.active
    }

    /// Whether none is.
    pub(super) fn none(&self) -> bool {
        self.active == 0
    }

    /// Whether all are.
    pub(super) fn all(&self) -> bool {
        self.active == self.words.len()
    }

    /// Whether this one is.
    pub(super) fn is(&self, invocation: usize) -> bool {
        self.words[invocation] != 0
    }

    /// The active ones, lowest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().filter(|(_, word)| **word != 0).map(|(i, _)| i)
    }

    /// Becomes a copy of another.
    pub(super) fn copy_from(&mut self, other: &Mask) {
        self.words.clone_from(&other.words);
        self.active = other.active;
    }

    /// Becomes those for which the iterator says so.
    pub(super) fn assign(&mut self, active: impl Iterator<Item = bool>) {
        self.words.clear();
        self.words.extend(active.map(|active| if active { u64::MAX } else { 0 }));
        self.recount();
    }

    /// Becomes those of another where a function of the invocation's word holds.
    pub(super) fn restrict(&mut self, other: &Mask, words: &[u64], holds: impl Fn(u64) -> bool) {
        self.words.clear();
        self.words.extend(other.words.iter().zip(words).map(|(m, w)| if holds(*w) { *m } else { 0 }));
        self.recount();
    }

    /// Keeps those for which a function of two words holds.
    pub(super) fn keep(&mut self, a: &[u64], b: &[u64], holds: impl Fn(u64, u64) -> bool) {
        for ((m, a), b) in self.words.iter_mut().zip(a).zip(b) {
            *m = if holds(*a, *b) { *m } else { 0 };
        }
        self.recount();
    }

    fn recount(&mut self) {
        self.active = self.words.iter().filter(|word| **word != 0).count();
    }

    /// Copies components of a column where active; a vector's components stand one after another.
    pub(super) fn copy(&self, to: &mut [u64], from: &[u64]) {
        if self.all() {
            to.copy_from_slice(from);
            return;
        }
        let n = self.words.len();
        for (to, from) in to.chunks_exact_mut(n).zip(from.chunks_exact(n)) {
            for ((to, from), m) in to.iter_mut().zip(from).zip(&self.words) {
                *to = (from & m) | (*to & !m);
            }
        }
    }
}

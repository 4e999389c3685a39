//! Search spaces as data: the choices a kernel leaves open (tile sizes, elements per invocation, unrolling), which
//! combinations make sense, and how to get from one to the next.
//!
//! ```
//! use pumice_kernel::search::Space;
//! let space = Space::new()
//!     .axis("rows", [1, 2, 4])
//!     .axis("width", [32, 64, 128])
//!     .require("at most 256 elements", |c| c.get("rows") * c.get("width") <= 256);
//! assert_eq!(space.candidates().len(), 8);
//! let first = space.first().expect("the rule leaves some");
//! assert_eq!(first.to_string(), "rows=1,width=32");
//! assert_eq!(space.parse("rows=4,width=64").map(|c| c.get("width")), Some(64));
//! ```

use std::fmt::{self, Debug, Display, Formatter};
use std::sync::Arc;

/// Named axes of integers, and the rules a combination must keep.
#[derive(Clone, Default, Debug)]
pub struct Space {
    names: Arc<[&'static str]>,
    values: Vec<Vec<u32>>,
    rules: Vec<Rule>,
}

/// A condition on combinations, with what it says.
#[derive(Clone)]
struct Rule {
    says: &'static str,
    holds: Arc<dyn Fn(&Choice) -> bool + Send + Sync>,
}

impl Debug for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.says)
    }
}

/// One value for each axis. Its text, `name=value` with commas between, is the key of caches.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Choice {
    names: Arc<[&'static str]>,
    values: Vec<u32>,
}

impl Choice {
    /// A fixed choice, outside any space.
    pub fn of(values: &[(&'static str, u32)]) -> Choice {
        Choice { names: values.iter().map(|v| v.0).collect(), values: values.iter().map(|v| v.1).collect() }
    }

    /// The value chosen for an axis.
    ///
    /// # Panics
    /// If there is no such axis.
    pub fn get(&self, name: &str) -> u32 {
        self.find(name).unwrap_or_else(|| panic!("[search] {name} must be one of {:?}.", self.names))
    }

    /// The value chosen for an axis, if there is such an axis.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.names.iter().position(|n| *n == name).map(|i| self.values[i])
    }

    /// The axes with their values, in the space's order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u32)> {
        self.names.iter().copied().zip(self.values.iter().copied())
    }
}

impl Display for Choice {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.iter().enumerate() {
            write!(f, "{}{name}={value}", if i > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl Space {
    /// A space with one empty choice.
    pub fn new() -> Space {
        Space::default()
    }

    /// Adds an axis; its values in the order in which they should be tried, neighbours next to each other.
    ///
    /// # Panics
    /// If the axis has no values or the name is taken.
    pub fn axis(mut self, name: &'static str, values: impl IntoIterator<Item = u32>) -> Space {
        let values: Vec<u32> = values.into_iter().collect();
        assert!(!values.is_empty(), "[search] {name} must have values but has none.");
        assert!(!self.names.contains(&name), "[search] {name} must be the name of one axis but is that of two.");
        self.names = self.names.iter().copied().chain([name]).collect();
        self.values.push(values);
        self
    }

    /// Adds a rule that every combination must keep.
    pub fn require(mut self, says: &'static str, holds: impl Fn(&Choice) -> bool + Send + Sync + 'static) -> Space {
        self.rules.push(Rule { says, holds: Arc::new(holds) });
        self
    }

    /// The first rule a choice breaks, in words.
    pub fn broken_rule(&self, choice: &Choice) -> Option<&'static str> {
        self.rules.iter().find(|rule| !(rule.holds)(choice)).map(|rule| rule.says)
    }

    /// Whether a choice takes its values from the axes and keeps the rules.
    pub fn contains(&self, choice: &Choice) -> bool {
        self.positions(choice).is_some() && self.broken_rule(choice).is_none()
    }

    /// Every valid choice, the last axis running fastest.
    pub fn candidates(&self) -> Vec<Choice> {
        self.all().filter(|c| self.broken_rule(c).is_none()).collect()
    }

    /// The first valid choice.
    pub fn first(&self) -> Option<Choice> {
        self.all().find(|c| self.broken_rule(c).is_none())
    }

    /// Valid choices one step away along one axis: what hill-climbing tries next.
    pub fn neighbours(&self, choice: &Choice) -> Vec<Choice> {
        let Some(at) = self.positions(choice) else { return Vec::new() };
        let mut list = Vec::new();
        for (axis, values) in self.values.iter().enumerate() {
            let steps = [at[axis].checked_sub(1), Some(at[axis] + 1).filter(|i| *i < values.len())];
            for position in steps.into_iter().flatten() {
                let mut next = choice.clone();
                next.values[axis] = values[position];
                if self.broken_rule(&next).is_none() {
                    list.push(next);
                }
            }
        }
        list
    }

    /// The choice of a key; none if it is not one of this space, as when a cache is older than the space.
    pub fn parse(&self, key: &str) -> Option<Choice> {
        let parts: Vec<&str> = if key.is_empty() { Vec::new() } else { key.split(',').collect() };
        if parts.len() != self.names.len() {
            return None;
        }
        let value = |(part, name): (&str, &&str)| part.strip_prefix(*name)?.strip_prefix('=')?.parse().ok();
        let values = parts.into_iter().zip(self.names.iter()).map(value).collect::<Option<Vec<u32>>>()?;
        let choice = Choice { names: self.names.clone(), values };
        self.contains(&choice).then_some(choice)
    }

    /// Every combination, valid or not.
    fn all(&self) -> impl Iterator<Item = Choice> {
        let count: usize = self.values.iter().map(Vec::len).product();
        (0..count).map(|mut rest| {
            let mut values: Vec<u32> = self
                .values
                .iter()
                .rev()
                .map(|axis| {
                    let value = axis[rest % axis.len()];
                    rest /= axis.len();
                    value
                })
                .collect();
            values.reverse();
            Choice { names: self.names.clone(), values }
        })
    }

    /// Where a choice stands on each axis.
    fn positions(&self, choice: &Choice) -> Option<Vec<usize>> {
        if choice.names != self.names {
            return None;
        }
        let position = |(value, axis): (&u32, &Vec<u32>)| axis.iter().position(|v| v == value);
        choice.values.iter().zip(&self.values).map(position).collect()
    }
}

//! The table in `docs/math.md`: a row per function, a column per device it was measured on.

use super::{MathFunction, Worst, table};

const PREFACE: &str = "\
# Mathematical functions

Largest errors found, in units in the last place (ulp) of the exact result, and where. The functions are written once in the
kernel language (`crates/kernel/src/math`), so the bits are the same everywhere, but for some of the smallest numbers on
devices whose fma takes denormals for zeros; the bounds hold there too.
Tried are special values, every 257th of all floats, and the neighbourhoods where formulas meet; of functions of two numbers
sixteen million pairs. Special values follow C99's Annex F and count as errors where they do not.

Where a sum can cancel (lgamma and digamma below 0, logaddexp) the error counts in units of the sum of its terms' magnitudes:
near their zeros the absolute error is bounded, not the relative one.

Made by `PUMICE_SLOW=1 PUMICE_BLESS=1 cargo test --release -p pumice-kernel --test math_accuracy`, which fills the
interpreter's column and keeps the others.
";

/// The document with one device's column replaced, or added; the errors are in the order of the table.
pub fn document(previous: &str, device: &str, worsts: &[Worst]) -> String {
    assert_eq!(worsts.len(), table().len(), "there is an error for every function");
    let mut columns = columns_of(previous);
    let cells = table().iter().zip(worsts).map(|(f, w)| (f.name.to_owned(), cell(f, w))).collect();
    match columns.iter_mut().find(|column| column.device == device) {
        Some(column) => column.cells = cells,
        None => columns.push(Column { device: device.to_owned(), cells }),
    }
    let mut text = format!("{PREFACE}\n| function | defined for | bound |");
    columns.iter().for_each(|column| text += &format!(" {} |", column.device));
    text += &format!("\n|---|---|--:|{}\n", "---|".repeat(columns.len()));
    for f in table() {
        text += &format!("| {} | {} | {} |", f.name, f.domain, f.bound_ulp);
        columns.iter().for_each(|column| text += &format!(" {} |", column.cell(f.name)));
        text += "\n";
    }
    text
}

/// What was measured on one device: a function's name and its cell.
struct Column {
    device: String,
    cells: Vec<(String, String)>,
}

impl Column {
    fn cell(&self, function: &str) -> &str {
        self.cells.iter().find(|(name, _)| name == function).map_or("", |(_, cell)| cell)
    }
}

fn cell(function: &MathFunction, worst: &Worst) -> String {
    match function.arity() {
        _ if worst.ulp == 0.0 => "0".to_owned(),
        1 => format!("{:.2} at {:e}", worst.ulp, worst.x),
        _ => format!("{:.2} at {:e}, {:e}", worst.ulp, worst.x, worst.y),
    }
}

/// The columns of an earlier document: the header's cells from the fourth on are devices.
fn columns_of(document: &str) -> Vec<Column> {
    let mut rows = document.lines().filter(|line| line.starts_with('|')).map(|line| {
        let inner = line.trim_matches('|');
        inner.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    });
    let Some(header) = rows.next() else { return Vec::new() };
    let rows: Vec<Vec<String>> = rows.skip(1).collect();
    let cells = |at: usize| rows.iter().filter_map(|row| Some((row.first()?.clone(), row.get(at)?.clone()))).collect();
    header.iter().enumerate().skip(3).map(|(at, device)| Column { device: device.clone(), cells: cells(at) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worsts(ulp: f64) -> Vec<Worst> {
        vec![Worst { ulp, x: 1.5, y: 0.0, found: 0.0, expected: 0.0 }; table().len()]
    }

    #[test]
    fn a_column_is_replaced_and_the_others_stay() {
        let first = document("", "interpreter", &worsts(0.5));
        let both = document(&first, "lavapipe", &worsts(0.75));
        let again = document(&both, "interpreter", &worsts(1.25));
        let row = again.lines().find(|line| line.starts_with("| exp |")).expect("exp has a row");
        assert_eq!(row, "| exp | all | 2 | 1.25 at 1.5e0 | 0.75 at 1.5e0 |");
    }

    #[test]
    fn every_function_has_a_row() {
        let text = document("", "interpreter", &worsts(0.5));
        for function in table() {
            assert!(text.contains(&format!("\n| {} |", function.name)), "{} is missing", function.name);
        }
    }
}

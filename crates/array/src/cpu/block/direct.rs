//! Results made where they belong: an instruction whose value is only stored writes the output's register itself.

use std::collections::HashMap;

use super::program::{Program, Reg, Step};

/// Drops copies to outputs where the value has no other use.
pub(super) fn store_directly(program: &mut Program) {
    let mut reads: HashMap<Reg, usize> = HashMap::new();
    let mut count = |reg| *reads.entry(reg).or_default() += 1;
    program.steps.iter().for_each(|step| step.each_read_within(&mut count));
    let mut found: HashMap<Reg, Reg> = HashMap::new();
    for output in program.outputs.iter().filter(|output| !output.partial) {
        for part in &output.parts {
            let mut copies = program.steps.iter().filter_map(|step| match step {
                Step::Copy(m) if m.to == *part => Some(m.from),
                _ => None,
            });
            let (Some(from), None) = (copies.next(), copies.next()) else {
                continue;
            };
            let made = program.steps.iter().any(|step| matches!(step, Step::Apply { out, .. } if *out == from));
            if made && reads[&from] == 1 {
                found.insert(from, *part);
            }
        }
    }
    program.steps.retain(|step| !matches!(step, Step::Copy(m) if found.get(&m.from) == Some(&m.to)));
    for step in &mut program.steps {
        if let Step::Apply { out, .. } = step {
            *out = found.get(out).copied().unwrap_or(*out);
        }
    }
}

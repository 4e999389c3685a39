//! The table, and the same as JSON.

use pumice::Error;
use serde_json::{Value, json};

use super::case::{Case, Figure, Session, Work};
use super::ceilings::Ceilings;

type Row<'a> = (&'a Case, Result<Option<Figure>, Error>);

/// Prints all rows.
pub fn print(session: &Session, ceilings: &Ceilings, rows: &[Row<'_>], as_json: bool) {
    if as_json {
        let cases: Vec<Value> = rows.iter().map(|row| json_row(ceilings, row)).collect();
        let info = session.gpu.device().info();
        let whole = json!({
            "device": info.name,
            "driver": info.driver,
            "ceilings": {
                "bytes_per_second": ceilings.bytes,
                "flops_per_second": ceilings.flops,
                "matrix_flops_per_second": ceilings.matrix_flops,
            },
            "cases": cases,
        });
        println!("{whole:#}");
        return;
    }
    println!("{} ({})", session.gpu.device().info().name, session.gpu.device().info().driver);
    let matrix = ceilings.matrix_flops.map_or("none".to_owned(), |f| format!("{:.1} TFLOP/s", f / 1e12));
    println!(
        "measured ceilings: memory {:.0} GB/s, f32 fma {:.1} TFLOP/s, 16-bit matrices {matrix}",
        ceilings.bytes / 1e9,
        ceilings.flops / 1e12
    );
    println!("{:<44} {:>12} {:>16} {:>10}", "case", "time", "rate", "of ceiling");
    for (case, outcome) in rows {
        match outcome {
            Ok(Some(figure)) => print_figure(&case.name, figure, ceilings),
            Ok(None) => println!("{:<44} {:>12}", case.name, "not here"),
            Err(error) => println!("{:<44} failed: {error}", case.name),
        }
    }
}

fn print_figure(name: &str, figure: &Figure, ceilings: &Ceilings) {
    let time = format!("{:.2} µs", figure.time.as_secs_f64() * 1e6);
    let rate = match rate(figure) {
        Some((rate, Work::Bytes(_))) => format!("{:.1} GB/s", rate / 1e9),
        Some((rate, _)) => format!("{:.1} TFLOP/s", rate / 1e12),
        None => String::new(),
    };
    let share = share(figure, ceilings).map_or(String::new(), |s| format!("{:.1} %", 100.0 * s));
    println!("{name:<44} {time:>12} {rate:>16} {share:>10}");
}

/// Work per second.
fn rate(figure: &Figure) -> Option<(f64, Work)> {
    let amount = match figure.work {
        Work::Bytes(n) | Work::Flops(n) | Work::MatrixFlops(n) => n,
        Work::Launch | Work::Host => return None,
    };
    Some((amount / figure.time.as_secs_f64(), figure.work))
}

/// The part of the ceiling that was reached.
fn share(figure: &Figure, ceilings: &Ceilings) -> Option<f64> {
    let (rate, work) = rate(figure)?;
    match work {
        Work::Bytes(_) => Some(rate / ceilings.bytes),
        Work::Flops(_) => Some(rate / ceilings.flops),
        Work::MatrixFlops(_) => ceilings.matrix_flops.map(|c| rate / c),
        Work::Launch | Work::Host => None,
    }
}

fn json_row(ceilings: &Ceilings, (case, outcome): &Row<'_>) -> Value {
    match outcome {
        Ok(Some(figure)) => json!({
            "case": case.name,
            "seconds": figure.time.as_secs_f64(),
            "unit": match figure.work {
                Work::Bytes(_) => "bytes_per_second",
                Work::Flops(_) | Work::MatrixFlops(_) => "flops_per_second",
                Work::Launch => "launch",
                Work::Host => "host",
            },
            "rate": rate(figure).map(|(rate, _)| rate),
            "share_of_ceiling": share(figure, ceilings),
        }),
        Ok(None) => json!({ "case": case.name, "unsupported": true }),
        Err(error) => json!({ "case": case.name, "error": error.to_string() }),
    }
}

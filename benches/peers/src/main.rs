//! The table: horngate's command line beside its peers, each a process of its own from the text to the count.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml` builds horngate, makes the workloads, runs everything and
//! prints the table. `--help` says the rest.

mod engines;
mod measure;
#[allow(dead_code, reason = "shared with the benchmarks of the library")]
#[path = "../../support/mod.rs"]
mod support;

use engines::ENGINES;
use measure::{Cost, cheapest};
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use support::Workload;

const HELP: &str = "\
The same work on horngate and its peers: CPU seconds and peak memory of whole processes.

cargo run --release --manifest-path benches/peers/Cargo.toml -- [OPTIONS]

  --runs N          the cheapest of N runs (3)
  --only NAME       this workload, as the table names it; may be repeated
  --small           a hundredth of the work, to see that all still fits together
  --data DIR        take the workloads as they lie there, instead of making them
  --horngate PATH   this binary, instead of building one

The exit code is 1 when two engines count differently.";

/// A row of the table: its name, what it is, and its workload: full size, or small.
struct Row {
    name: &'static str,
    about: &'static str,
    make: fn(small: bool) -> Workload,
}

/// All but the first workload, which is about loading and asking.
const ROWS: &[Row] = &[
    Row {
        name: "w2",
        about: "100,000 users in nested groups",
        make: |small| support::groups(if small { 1_000 } else { 100_000 }),
    },
    Row {
        name: "w3r",
        about: "closure of a random graph",
        make: |small| match small {
            true => support::random_graph(200, 1_000),
            false => support::random_graph(2_000, 10_000),
        },
    },
    Row {
        name: "w3c",
        about: "closure of a chain of 2,000",
        make: |small| support::chain(if small { 200 } else { 2_000 }),
    },
    Row {
        name: "w4",
        about: "same generation, depth 10",
        make: |small| support::tree(if small { 6 } else { 10 }),
    },
    Row {
        name: "w5",
        about: "closure by itself twice, 600 nodes",
        make: |small| match small {
            true => support::random_graph_squared(60, 300),
            false => support::random_graph_squared(600, 3_000),
        },
    },
    Row {
        name: "w6",
        about: "closure of a chain of 10,000",
        make: |small| support::chain(if small { 300 } else { 10_000 }),
    },
];

struct Options {
    runs: u32,
    only: Vec<String>,
    small: bool,
    data: Option<PathBuf>,
    horngate: Option<PathBuf>,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        // These two are how the program calls itself.
        ["measure", ..] => measure::run(&args[1..]).map(|()| true),
        ["run", engine, workload, folder] => {
            engines::run(engine, workload, Path::new(folder)).map(|count| {
                println!(
                    "{}",
                    count.map_or("none".to_owned(), |count| count.to_string())
                );
                true
            })
        }
        ["--help" | "-h"] => {
            println!("{HELP}");
            Ok(true)
        }
        _ => options(&args).and_then(|options| table(&options)),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn options(args: &[String]) -> Result<Options, Box<dyn Error>> {
    let mut options = Options {
        runs: 3,
        only: Vec::new(),
        small: false,
        data: None,
        horngate: None,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("`{arg}` needs a value"));
        match arg.as_str() {
            "--runs" => options.runs = value()?.parse()?,
            "--only" => options.only.push(value()?.clone()),
            "--small" => options.small = true,
            "--data" => options.data = Some(value()?.into()),
            "--horngate" => options.horngate = Some(value()?.into()),
            _ => return Err(format!("`{arg}` is no option; see `--help`").into()),
        }
    }
    Ok(options)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Builds the command line as it is released; where it lies.
fn horngate() -> Result<PathBuf, Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--release", "-p", "horngate-cli"])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(root())
        .stderr(std::process::Stdio::inherit())
        .output()?;
    let messages = String::from_utf8(output.stdout)?;
    messages
        .lines()
        .filter_map(|line| line.split_once("\"executable\":\"")?.1.split_once('"'))
        .map(|(path, _)| PathBuf::from(path))
        .find(|path| path.file_stem().is_some_and(|name| name == "horngate"))
        .ok_or_else(|| "horngate could not be built; give one with `--horngate`".into())
}

/// What one engine counted on one workload, and what that cost; none where it takes no part.
type Cell = Option<(usize, Cost)>;

/// The rows of the table: what it is, and the cells, horngate's first.
type Table = Vec<(String, Vec<Cell>)>;

/// Prints the table; whether all counts agree.
fn table(options: &Options) -> Result<bool, Box<dyn Error>> {
    let binary = match &options.horngate {
        Some(path) => path.clone(),
        None => horngate()?,
    };
    let scratch = std::env::temp_dir().join(format!("horngate-peers-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let rows = rows(options, &binary, &scratch);
    fs::remove_dir_all(&scratch)?;
    let rows = rows?;
    let mut out = format!(
        "| workload | horngate | {} | to the best | count |\n",
        ENGINES.join(" | ")
    );
    let _ = writeln!(out, "|{}", "---|".repeat(ENGINES.len() + 4));
    let mut agree = true;
    for (name, cells) in rows {
        let [ours, peers @ ..] = &cells[..] else {
            continue;
        };
        let _ = write!(out, "| {name} ");
        for cell in &cells {
            match cell {
                Some((_, cost)) => {
                    let _ = write!(out, "| {:.2} ({:.0}) ", cost.seconds, cost.megabytes);
                }
                None => out.push_str("| "),
            }
        }
        let best = peers.iter().flatten().map(|(_, cost)| cost.seconds);
        let best = best.fold(f64::INFINITY, f64::min);
        let (count, ratio) =
            ours.map_or((0, f64::NAN), |(count, cost)| (count, cost.seconds / best));
        let _ = writeln!(out, "| {ratio:.2} | {count} |");
        for (engine, cell) in std::iter::once(&"horngate").chain(ENGINES).zip(&cells) {
            if let Some((other, _)) = cell
                && *other != count
            {
                agree = false;
                eprintln!("{name}: {engine} counts {other}, horngate {count}");
            }
        }
    }
    let size = match options.small {
        true => " A hundredth of the work that is named.",
        false => "",
    };
    println!(
        "CPU seconds (peak MB) of whole processes, the cheapest of {} runs.{size}\n\n{out}",
        options.runs
    );
    Ok(agree)
}

/// Runs what is wanted.
fn rows(options: &Options, binary: &Path, scratch: &Path) -> Result<Table, Box<dyn Error>> {
    let folder = options.data.as_deref().unwrap_or(scratch);
    let wanted =
        |name: &str| options.only.is_empty() || options.only.iter().any(|only| only == name);
    let mut rows = Vec::new();
    if wanted("w1") {
        let about = "w1: load 1,000,000 grants, decide 100,000 times".to_owned();
        rows.push((about, first(options, binary, scratch)?));
    }
    for row in ROWS.iter().filter(|row| wanted(row.name)) {
        eprintln!("{}: {}", row.name, row.about);
        let workload = (row.make)(options.small);
        let rules = scratch.join(format!("{}_rules.pl", row.name));
        fs::write(&rules, workload.rules)?;
        let facts = folder.join(format!("{}.pl", row.name));
        if options.data.is_none() {
            fs::write(&facts, &workload.facts)?;
        }
        let goal = workload.goal();
        let command = [
            path(binary),
            "query".to_owned(),
            format!("--rules={}", path(&rules)),
            format!("--rules={}", path(&facts)),
            "--max-tuples=100000000".to_owned(),
            "--max-firings=100000000000".to_owned(),
            "--count".to_owned(),
            goal,
        ];
        let (output, cost) = cheapest(&command, options.runs)?;
        let count = output
            .trim()
            .parse()
            .map_err(|_| format!("no count in {output:?}"))?;
        let mut cells = vec![Some((count, cost))];
        cells.extend(peers(options, row.name, folder)?);
        rows.push((format!("{}: {}", row.name, row.about), cells));
    }
    Ok(rows)
}

/// Loading and asking.
fn first(options: &Options, binary: &Path, scratch: &Path) -> Result<Vec<Cell>, Box<dyn Error>> {
    eprintln!("w1: grants");
    let folder = options.data.as_deref().unwrap_or(scratch);
    let (facts, questions, batch) = (
        folder.join("w1.pl"),
        folder.join("w1q.pl"),
        scratch.join("w1q.jsonl"),
    );
    if options.data.is_none() {
        let (text, pairs) = support::grants(if options.small { 10_000 } else { 1_000_000 });
        fs::write(&facts, text)?;
        let mut lines = String::new();
        for (actor, tool) in pairs {
            let _ = writeln!(lines, "q('{actor}', tool_{tool}).");
        }
        fs::write(&questions, lines)?;
    }
    let mut asked = Vec::new();
    let mut lines = String::new();
    for line in fs::read_to_string(&questions)?.lines() {
        let (actor, tool) = question(line).ok_or_else(|| format!("no question: {line}"))?;
        let _ = writeln!(lines, "{{\"actor\":\"{actor}\",\"tool\":\"{tool}\"}}");
        asked.push((actor.to_owned(), tool.to_owned()));
    }
    fs::write(&batch, lines)?;
    let command = [
        path(binary),
        "decide".to_owned(),
        format!("--rules={}", path(&facts)),
        format!("--batch={}", path(&batch)),
    ];
    let (output, cost) = cheapest(&command, options.runs)?;
    // The peers count each pair that is asked and granted once.
    let allowed = output.lines().filter(|line| !line.is_empty()).zip(&asked);
    let allowed: std::collections::BTreeSet<_> = allowed
        .filter(|(line, _)| line.contains("\"decision\":\"allow\""))
        .map(|(_, pair)| pair)
        .collect();
    let mut cells = vec![Some((allowed.len(), cost))];
    cells.extend(peers(options, "w1", folder)?);
    Ok(cells)
}

/// Actor and tool of a line `q('U:K1', tool_2).`
fn question(line: &str) -> Option<(&str, &str)> {
    let inner = line.trim().strip_prefix("q(")?.strip_suffix(").")?;
    let (actor, tool) = inner.split_once(", ")?;
    Some((actor.trim_matches('\''), tool.strip_prefix("tool_")?))
}

fn peers(options: &Options, workload: &str, folder: &Path) -> Result<Vec<Cell>, Box<dyn Error>> {
    let mut cells = Vec::new();
    let this = path(&std::env::current_exe()?);
    for engine in ENGINES {
        if *engine == "by hand" && workload != "w1" {
            cells.push(None);
            continue;
        }
        let words = ["run", engine, workload].map(str::to_owned);
        let command: Vec<String> = std::iter::once(this.clone())
            .chain(words)
            .chain([path(folder)])
            .collect();
        let (output, cost) = cheapest(&command, options.runs)?;
        let count = output
            .trim()
            .parse()
            .map_err(|_| format!("{engine}: {output:?}"))?;
        cells.push(Some((count, cost)));
    }
    Ok(cells)
}

fn path(path: &Path) -> String {
    path.display().to_string()
}

//! What this machine has and lacks.

use std::process::Command;

use serde::Serialize;

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub struct Check {
    /// What.
    pub name: &'static str,
    /// Whether it is as it should be.
    pub good: bool,
    /// What was found and, where something lacks, what to do.
    pub finding: String,
}

/// Looks at everything that the toolkit uses.
pub fn examine() -> Vec<Check> {
    vec![cores(), kernel(), memory(), disk(), torch(), python()]
}

fn check(name: &'static str, found: Result<String, String>) -> Check {
    let good = found.is_ok();
    Check { name, good, finding: found.unwrap_or_else(|lack| lack) }
}

fn cores() -> Check {
    let found = std::thread::available_parallelism();
    check(
        "cores",
        found.map(|n| format!("{n} for self-play and rating")).map_err(|e| e.to_string()),
    )
}

fn kernel() -> Check {
    let kernel = surakarta_net::Kernel::best().name();
    check(
        "inference",
        match kernel {
            "portable" => {
                Err("portable code only: networks run many times slower than with AVX2".to_owned())
            }
            _ => Ok(format!("native networks use {kernel}")),
        },
    )
}

fn memory() -> Check {
    let field = |text: &str| -> Option<f64> {
        let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    let available = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| field(&text));
    check(
        "memory",
        match available.map(|kib| kib / (1 << 20) as f64) {
            Some(gib) if gib >= 2.0 => Ok(format!("{gib:.1} GiB free")),
            Some(gib) => Err(format!("{gib:.1} GiB free; a run wants 2 GiB: close other programs")),
            None => Ok("not known on this system".to_owned()),
        },
    )
}

fn disk() -> Check {
    check(
        "disk",
        match fs4::available_space(".") {
            Ok(bytes) => {
                let gib = bytes as f64 / (1u64 << 30) as f64;
                let text = format!("{gib:.1} GiB free here");
                if gib >= 2.0 { Ok(text) } else { Err(text + "; a run wants 2 GiB: make room") }
            }
            Err(error) => Err(error.to_string()),
        },
    )
}

fn torch() -> Check {
    check("training", surakarta_train::library())
}

fn python() -> Check {
    let found = Command::new("python3").args(["-m", "pip", "--version"]).output();
    check(
        "python",
        match found {
            Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout)
                .split(" from")
                .next()
                .unwrap_or("")
                .to_owned()),
            _ => {
                Err("no python3 with pip: only notebooks and the set-up of libtorch need it"
                    .to_owned())
            }
        },
    )
}

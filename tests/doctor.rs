//! `surakarta doctor`.

mod support;

use serde_json::Value;
use support::stdout;
use tempfile::TempDir;

#[test]
fn the_machine_is_described() {
    let folder = TempDir::new().unwrap();
    let checks: Value = serde_json::from_str(&stdout(folder.path(), "doctor --json")).unwrap();
    let checks = checks.as_array().unwrap();
    let names: Vec<_> = checks.iter().map(|check| check["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["cores", "inference", "memory", "disk", "training", "python"]);
    let text = stdout(folder.path(), "doctor");
    for (check, line) in checks.iter().zip(text.lines()) {
        let mark = if check["good"].as_bool().unwrap() { "ok " } else { "lacking " };
        assert!(line.starts_with(mark), "{line}");
        assert!(line.contains(check["name"].as_str().unwrap()), "{line}");
        assert!(!check["finding"].as_str().unwrap().is_empty());
    }
    let training = &checks[4];
    // A binary with libtorch has loaded it by now; one without says what to do.
    assert_eq!(training["good"], cfg!(feature = "torch"), "{training}");
}

//! `cargo xtask setup` and `quickstart`.

use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};

use crate::checkout;
use crate::fetch;
use crate::libtorch::{Libtorch, VERSION};

/// The link in the checkout that `.cargo/config.toml` names.
const LINK: &str = ".libtorch";

/// Provides libtorch: the user's own, the one already linked, the cached, an installed PyTorch, or
/// else a download; then links it into the checkout.
pub(crate) fn setup() -> Result<()> {
    require_compiler()?;
    let linked = checkout::root().join(LINK);
    let before = Libtorch::at(&linked).ok();
    let (libtorch, origin) = provide(before.clone())?;
    if checkout::link(LINK, &libtorch.path)? {
        forget_builds(before.as_ref(), &libtorch)?;
    }
    eprintln!(
        "libtorch {VERSION} ({}), {origin}: {}",
        if libtorch.cuda { "CUDA" } else { "CPU" },
        libtorch.path.display()
    );
    Ok(())
}

fn provide(linked: Option<Libtorch>) -> Result<(Libtorch, &'static str)> {
    if let Some(path) = checkout::libtorch_of_user() {
        return match Libtorch::at(&path) {
            Ok(libtorch) => Ok((libtorch, "named by LIBTORCH")),
            Err(wrong) => bail!(
                "LIBTORCH is {}, which {wrong}: unset LIBTORCH, or let it name a libtorch {VERSION}",
                path.display()
            ),
        };
    }
    if let Some(libtorch) = linked {
        return Ok((libtorch, "already linked"));
    }
    let cache = checkout::cache()?;
    if let Ok(libtorch) = Libtorch::at(&fetch::destination(&cache)) {
        return Ok((libtorch, "from the cache"));
    }
    if let Some(libtorch) = installed_pytorch() {
        return Ok((libtorch, "part of an installed PyTorch"));
    }
    Ok((fetch::fetch(&cache)?, "fetched"))
}

/// The folder of the package `torch` of `python3`, if it is there and fits. Importing it would take seconds.
fn installed_pytorch() -> Option<Libtorch> {
    const FIND: &str = "import importlib.util as u; s = u.find_spec('torch'); \
                        print(s.submodule_search_locations[0] if s else '')";
    let output = Command::new("python3").args(["-c", FIND]).output().ok()?;
    let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    if folder.as_os_str().is_empty() {
        return None;
    }
    match Libtorch::at(&folder) {
        Ok(libtorch) => Some(libtorch),
        Err(wrong) => {
            eprintln!("Leaving PyTorch in {} alone: it {wrong}.", folder.display());
            None
        }
    }
}

/// Compiles one line, as tch's build will compile many: the compiler is there, and its headers too.
fn require_compiler() -> Result<()> {
    let named = env::var("CXX").ok().filter(|name| !name.trim().is_empty());
    let compiler = named.as_deref().unwrap_or("c++");
    if compiles(compiler) {
        return Ok(());
    }
    if let Some(named) = &named {
        bail!(
            "CXX is `{named}`, which does not compile C++17: unset CXX, or let it name a C++ compiler"
        );
    }
    match ["g++", "clang++"].into_iter().find(|other| compiles(other)) {
        Some(other) => {
            bail!("There is no `c++` but there is `{other}`: set CXX={other} and try again")
        }
        None => {
            bail!("There is no C++ compiler: install one (Debian: `apt install g++`) and try again")
        }
    }
}

fn compiles(compiler: &str) -> bool {
    let mut words = compiler.split_whitespace();
    let Some(program) = words.next() else { return false };
    let child = Command::new(program)
        .args(words)
        .args(["-x", "c++", "-std=c++17", "-fsyntax-only", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // A compiler that ends early breaks the pipe; its exit status says so.
        let _ = stdin.write_all(b"#include <cstddef>\nstd::size_t n;\n");
    }
    child.wait().is_ok_and(|status| status.success())
}

/// Cargo sees the same path when the link moves, so what was built for the old folder must go.
/// The C++ of torch-sys takes minutes and stays where the old folder is known to be like the new one.
fn forget_builds(before: Option<&Libtorch>, now: &Libtorch) -> Result<()> {
    if !checkout::root().join("target").exists() {
        return Ok(());
    }
    let mut packages = vec!["surakarta-train", "surakarta-cli"];
    if before.is_none_or(|before| before.cuda != now.cuda) {
        packages.push("torch-sys");
    }
    for profile in ["dev", "release"] {
        let mut cargo = checkout::cargo();
        cargo.args(["clean", "--quiet", "--profile", profile]);
        for package in &packages {
            cargo.args(["--package", package]);
        }
        if !cargo.status()?.success() {
            bail!("What was built for another libtorch could not be removed: run `cargo clean`");
        }
    }
    Ok(())
}

/// Builds the release binary and becomes it, so that Ctrl-C reaches the run alone.
pub(crate) fn quickstart(args: &[OsString]) -> Result<ExitCode> {
    let built = checkout::cargo()
        .args(["build", "--release", "--package", "surakarta-cli"])
        .status()
        .context("cargo does not start")?;
    if !built.success() {
        return Ok(ExitCode::FAILURE);
    }
    let error = Command::new(Path::new("target/release/surakarta"))
        .current_dir(checkout::root())
        .args(["run", "configs/quickstart.toml"])
        .args(args)
        .exec();
    Err(error).context("target/release/surakarta does not start")
}

//! Where things are: the checkout, the user's cache folder, cargo.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap_or(root)
}

/// The folder that outlives `cargo clean`: libtorch and Python packages. Created if missing.
pub(crate) fn cache() -> Result<PathBuf> {
    let cache = dirs::cache_dir()
        .context("This user has no cache folder: set HOME or XDG_CACHE_HOME")?
        .join("surakarta-zero");
    fs::create_dir_all(&cache).with_context(|| {
        format!(
            "The cache folder {} cannot be created: set XDG_CACHE_HOME to a folder that you can write to",
            cache.display()
        )
    })?;
    Ok(cache)
}

/// The `LIBTORCH` that the user set, as opposed to the one that cargo takes from `.cargo/config.toml`.
pub(crate) fn libtorch_of_user() -> Option<PathBuf> {
    own_libtorch(std::env::var_os("LIBTORCH"), &root())
}

fn own_libtorch(variable: Option<OsString>, root: &Path) -> Option<PathBuf> {
    let path = PathBuf::from(variable?);
    let ours = path == root.join(".libtorch") || path.as_os_str().is_empty();
    (!ours).then_some(path)
}

/// Cargo in the root of the checkout, in the environment that a user's own `cargo` would have.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    if libtorch_of_user().is_none() {
        cargo.env_remove("LIBTORCH");
    }
    cargo
}

/// Makes `<checkout>/<name>` a link to `target`, replacing an older link in one step.
/// Returns whether anything changed.
pub(crate) fn link(name: &str, target: &Path) -> Result<bool> {
    link_in(&root(), name, target)
}

fn link_in(root: &Path, name: &str, target: &Path) -> Result<bool> {
    let link = root.join(name);
    match fs::symlink_metadata(&link) {
        Ok(found) if !found.is_symlink() => {
            bail!(
                "{} is not the link that set-up would put there: move it away and try again",
                link.display()
            )
        }
        Ok(_) if fs::read_link(&link).is_ok_and(|old| old == target) => return Ok(false),
        _ => {}
    }
    let fresh = root.join(format!("{name}.new"));
    match fs::remove_file(&fresh) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("Cannot remove {}", fresh.display()));
        }
        _ => {}
    }
    symlink(target, &fresh).and_then(|()| fs::rename(&fresh, &link)).with_context(|| {
        format!("Cannot make the link {}: is the checkout writable?", link.display())
    })?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libtorch_of_the_checkout_is_not_the_users_own() {
        let root = Path::new("/checkout");
        let own = |value: &str| own_libtorch(Some(value.into()), root);
        assert_eq!(own_libtorch(None, root), None);
        assert_eq!(own(""), None);
        assert_eq!(own("/checkout/.libtorch"), None);
        assert_eq!(own("/opt/libtorch"), Some("/opt/libtorch".into()));
    }

    #[test]
    fn a_link_is_made_kept_and_moved_but_a_folder_is_never_replaced() {
        let root = tempfile::tempdir().unwrap();
        let (a, b) = (root.path().join("a"), root.path().join("b"));
        assert!(link_in(root.path(), ".x", &a).unwrap());
        assert!(!link_in(root.path(), ".x", &a).unwrap());
        assert!(link_in(root.path(), ".x", &b).unwrap());
        assert_eq!(fs::read_link(root.path().join(".x")).unwrap(), b);

        fs::create_dir(&a).unwrap();
        let error = link_in(root.path(), "a", &b).unwrap_err().to_string();
        assert!(error.contains("move it away"), "{error}");
        assert!(a.is_dir());
    }
}

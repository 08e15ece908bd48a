//! Lets the tests of this crate find libtorch at run time, from any folder.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Absent without the feature `torch`.
    let Some(lib) = std::env::var_os("DEP_TCH_LIBTORCH_LIB") else {
        return;
    };
    // `.libtorch` is a link that the next set-up may point elsewhere: record the folder behind it.
    let lib = Path::new(&lib);
    let lib = lib.canonicalize().unwrap_or_else(|_| lib.to_owned());
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", lib.display());
    // Nothing calls into libtorch_cuda by name, so the linker would drop it, and CUDA with it.
    if lib.join("libtorch_cuda.so").exists() {
        println!("cargo:rustc-link-arg=-Wl,--push-state,--no-as-needed");
        println!("cargo:rustc-link-arg=-ltorch_cuda");
        println!("cargo:rustc-link-arg=-Wl,--pop-state");
    }
}

//! Lets the binary find libtorch at run time.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if let Ok(libtorch) = std::env::var("DEP_TCH_LIBTORCH_LIB") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{libtorch}");
    }
}

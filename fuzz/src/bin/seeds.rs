//! Writes the first inputs of each target to the folder `HORNGATE_SEEDS`. It runs as a target does, since nothing else
//! may have the instrumentation.
#![no_main]

use std::path::Path;

fn write() {
    let folder = std::env::var_os("HORNGATE_SEEDS").expect("HORNGATE_SEEDS names a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    horngate_fuzz::seeds::write(&root, Path::new(&folder)).expect("seeds are written");
    std::process::exit(0);
}

libfuzzer_sys::fuzz_target!(init: write(), |data| { let _ = data; });

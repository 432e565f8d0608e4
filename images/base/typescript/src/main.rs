//! Runs a program that reads a TypeScript module from standard input, and gives it JavaScript instead:
//!
//!     sandhaven-typescript PATH NAME ARGUMENT...
//!
//! becomes the program at PATH, with NAME and the arguments. Node's own reader of types is WebAssembly that it compiles for
//! each run. Where this one cannot make JavaScript of the text, whatever the reason, the program reads the text as it is.

mod input;
mod transform;

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, exit};

const TYPESCRIPT: &str = "--input-type=module-typescript";
const JAVASCRIPT: &str = "--input-type=module";

/// As a shell's, where a program cannot be run.
const CANNOT_RUN: i32 = 126;

fn main() {
    let mut given = env::args_os().skip(1);
    let (Some(path), Some(name)) = (given.next(), given.next()) else {
        eprintln!("usage: sandhaven-typescript PATH NAME ARGUMENT...");
        exit(CANNOT_RUN);
    };
    let mut arguments: Vec<OsString> = given.collect();
    if let Some(language) = arguments.iter_mut().find(|one| *one == TYPESCRIPT) {
        if input::replace(transform::to_javascript) {
            *language = JAVASCRIPT.into();
        }
    }
    let failed: io::Error = Command::new(&path).arg0(name).args(arguments).exec();
    eprintln!("{}: {failed}", path.to_string_lossy());
    exit(CANNOT_RUN);
}

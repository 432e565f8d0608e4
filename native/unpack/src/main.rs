//! Makes a root file system from the layers of an image. It opens them, confines itself to the folder that it fills,
//! and only then reads their first byte. It is static and single-threaded, because it moves between namespaces.
//!
//!     sandhaven-unpack --root FOLDER --bytes N --entries N --file-bytes N --depth N --ratio N --ratio-free N
//!                      --reserve N [--layer DIGEST:DIFF_ID:FILE]…
//!
//! Standard output: `progress BYTES ENTRIES` now and then, `done BYTES ENTRIES` at the end, when all is on the disk.

mod apply;
mod archive;
mod budget;
mod confine;
mod failure;
mod header;
mod layer;
mod name;
mod pax;
mod seccomp;
mod sparse;
mod tree;
mod zstd;

#[cfg(test)]
mod tests;

use apply::Applier;
use archive::Archive;
use budget::{Budget, Limits};
use failure::{Failure, Kind, Step};
use layer::{Layer, LayerStream};
use lexopt::prelude::*;
use rustix::fd::AsFd;
use rustix::fs::syncfs;
use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;
use tree::Tree;

struct Options {
    root: PathBuf,
    limits: Limits,
    layers: Vec<Layer>,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run() -> Result<(), Failure> {
    let Options {
        root,
        limits,
        layers,
    } = options()?;
    let root = confine::confine(&root, limits.file_bytes)?;
    let own = root
        .try_clone()
        .map_err(|error| Failure::new(Kind::Internal, error.to_string()))?;
    let mut budget = Budget::new(limits, own);
    let mut applier = Applier::new(Tree::new(root, limits.depth));
    for layer in layers {
        let mut archive = Archive::new(LayerStream::open(layer, &mut budget)?);
        let outcome = applier.apply(&mut archive);
        archive.into_source().finish(outcome)?;
    }
    applier.add_standard_folders()?;
    syncfs(applier.into_tree().root().as_fd()).step("write to the disk")?;
    println!("done {} {}", budget.stream_bytes, budget.entries);
    Ok(())
}

fn options() -> Result<Options, Failure> {
    let mut args = lexopt::Parser::from_env();
    let mut root = None;
    let mut layers = Vec::new();
    let mut limits = Limits {
        bytes: 0,
        entries: 0,
        file_bytes: 0,
        depth: 0,
        ratio: 0,
        ratio_free: 0,
        reserve_bytes: 0,
    };
    while let Some(arg) = args.next()? {
        match arg {
            Long("root") => root = Some(PathBuf::from(args.value()?)),
            Long("bytes") => limits.bytes = args.value()?.parse()?,
            Long("entries") => limits.entries = args.value()?.parse()?,
            Long("file-bytes") => limits.file_bytes = args.value()?.parse()?,
            Long("depth") => limits.depth = args.value()?.parse()?,
            Long("ratio") => limits.ratio = args.value()?.parse()?,
            Long("ratio-free") => limits.ratio_free = args.value()?.parse()?,
            Long("reserve") => limits.reserve_bytes = args.value()?.parse()?,
            Long("layer") => layers.push(open_layer(&args.value()?.string()?)?),
            other => return Err(other.unexpected().into()),
        }
    }
    let root = root.ok_or_else(|| Failure::new(Kind::Internal, "expected --root"))?;
    Ok(Options {
        root,
        limits,
        layers,
    })
}

fn open_layer(text: &str) -> Result<Layer, Failure> {
    let internal = |message: String| Failure::new(Kind::Internal, message);
    let mut parts = text.splitn(3, ':').map(str::to_owned);
    let (Some(digest), Some(diff_id), Some(path)) = (parts.next(), parts.next(), parts.next())
    else {
        return Err(internal("expected --layer DIGEST:DIFF_ID:FILE".into()));
    };
    let file = File::open(path).map_err(|error| internal(format!("open a layer: {error}")))?;
    Ok(Layer {
        file,
        digest,
        diff_id,
    })
}

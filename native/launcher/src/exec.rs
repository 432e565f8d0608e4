//! `exec [--cgroup TASKS] [--unified-cgroup FOLDER] [--lock IMAGE] [--nice N] -- PROGRAM [ARGUMENT…]`

use crate::failure::{Failure, Step, usage};
use crate::fence::Fence;
use crate::image;
use lexopt::prelude::*;
use std::convert::Infallible;
use std::os::fd::IntoRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

pub fn exec(mut args: lexopt::Parser) -> Result<Infallible, Failure> {
    let mut fence = Fence::default();
    let mut lock = None;
    let mut niceness = 0;
    let program = loop {
        match args.next()? {
            Some(Long("cgroup")) => fence.list = Some(args.value()?.into()),
            Some(Long("unified-cgroup")) => fence.group = Some(args.value()?.into()),
            Some(Long("lock")) => lock = Some(args.value()?),
            Some(Long("nice")) => niceness = args.value()?.parse()?,
            Some(Value(program)) => break program,
            Some(other) => return Err(other.unexpected().into()),
            None => return Err(usage("expected a program to execute")),
        }
    };
    fence.enter()?;
    if let Some(path) = lock {
        // The open file, and so the lock, passes to the program and ends with it.
        let image = image::open_locked(&path)?;
        rustix::io::fcntl_setfd(&image, rustix::io::FdFlags::empty()).step("keep the lock")?;
        let _ = image.into_raw_fd();
    }
    if niceness != 0 {
        rustix::process::nice(niceness).step("lower the priority")?;
    }
    let error = Command::new(&program).args(args.raw_args()?).exec();
    Err(error).step(format!("execute {}", program.display()))
}

//! The operation `run_code`: runs code in an interpreter, without a shell and without a file in the sandbox.
//!
//! Python gets the code on descriptor 3 and sends charts to descriptor 4 (`run.py`; `imports.py`, `charts.py`). Node
//! reads the code from standard input, which takes any length (`preload.mjs`).

use rustix::fs::{MemfdFlags, OFlags, SeekFrom, fcntl_setfl, memfd_create, seek};
use rustix::pipe::{PipeFlags, pipe_with};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;

use super::charts::{Bounds, Chart, Receiver};
use crate::exec::command::Command;
use crate::exec::execute::{Limits, execute, reply, watched};
use crate::exec::live::{Live, Wish};
use crate::init::context::Context;
use crate::wire::connection::{Connection, Interrupted, Outcome};
use crate::wire::fault::{Code, Fault};

/// The host's bound of a request is lower.
const MAX_CODE_BYTES: usize = 32 << 20;

const PYTHON_RUN: &str = concat!(include_str!("imports.py"), include_str!("run.py"));
pub const PYTHON_CHARTS: &str = include_str!("charts.py");
/// In the base image: translates the TypeScript that Node is about to read into JavaScript (images/base/typescript).
const TYPESCRIPT_STARTER: &CStr = c"/usr/local/libexec/sandhaven-typescript";
const NODE_PRELOAD: &str = include_str!("preload.mjs");
/// Short, since it shows in the list of processes.
pub const PYTHON_START: &str = "source = open(3, 'rb'); \
    exec(compile(source.read(int.from_bytes(source.read(4), 'little')), '<run>', 'exec'), {'source': source})";

/// Environment that the request may override.
const PYTHON_DEFAULTS: [(&str, &str); 2] = [
    // A sandbox has no display, so figures are drawn as pictures.
    ("MPLBACKEND", "Agg"),
    // Each idle thread of numpy runs for 2^20 cycles before it sleeps, and not for 2^26, which are 25 ms of a processor.
    ("OPENBLAS_THREAD_TIMEOUT", "20"),
];

/// The code follows as data and `end`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    language: Language,
    env: BTreeMap<String, String>,
    timeout_ms: u64,
    /// Most bytes kept of each stream.
    output_bytes: usize,
    max_charts: usize,
    /// Most bytes of one chart's picture.
    chart_bytes: usize,
    /// Most bytes of all pictures together.
    charts_total_bytes: usize,
    /// Output is sent while the code runs, too (version 4).
    #[serde(default)]
    live: bool,
    /// With `live`: no output is left out, and the code waits for the host (version 6).
    #[serde(default)]
    whole: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Language {
    Python,
    Typescript,
    Javascript,
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let code = receive_code(connection).await?;
    let limits = Limits::new(request.timeout_ms, request.output_bytes);
    let (command, receiver) = match request.language {
        Language::Python => {
            let (command, receiver) = python(context, &request, &code)?;
            (command, Some(receiver))
        }
        Language::Javascript | Language::Typescript => (node(context, &request, &code)?, None),
    };
    drop(code);
    let live = Live::wanted(Wish {
        live: request.live,
        whole: request.whole,
    })?;
    let work = with_charts(execute(context, command, &limits, live.clone()), receiver);
    let (finished, charts) = watched(connection, live, work).await?;
    for Chart { json, png } in charts {
        connection.item(&json, &png).await?;
    }
    reply(connection, finished).await
}

pub async fn receive_code(connection: &mut Connection) -> Result<Vec<u8>, Interrupted> {
    let mut code = Vec::new();
    while connection.read_data(&mut code).await? {
        if code.len() > MAX_CODE_BYTES {
            return Err(Fault::new(Code::TooLarge, "The code is too large.")
                .parameter("code")
                .into());
        }
    }
    Ok(code)
}

async fn with_charts<T>(
    work: impl Future<Output = Result<T, Fault>>,
    receiver: Option<Receiver>,
) -> Result<(T, Vec<Chart>), Fault> {
    let Some(mut receiver) = receiver else {
        return Ok((work.await?, Vec::new()));
    };
    let result = tokio::select! {
        biased;
        result = work => result?,
        broken = receiver.pump() => {
            return Err(broken.map_or_else(Fault::from, |()| Fault::new(Code::Internal, "The charts ended.")));
        }
    };
    Ok((result, receiver.finish()))
}

fn python(context: &Context, request: &Request, code: &[u8]) -> Result<(Command, Receiver), Fault> {
    let length = |text: &str| (text.len() as u32).to_le_bytes();
    let source = memory_file(&[
        &length(PYTHON_RUN),
        PYTHON_RUN.as_bytes(),
        &length(PYTHON_CHARTS),
        PYTHON_CHARTS.as_bytes(),
        code,
    ])?;
    let (read, write) = pipe_with(PipeFlags::CLOEXEC).map_err(std::io::Error::from)?;
    fcntl_setfl(&read, OFlags::NONBLOCK).map_err(std::io::Error::from)?;
    let bounds = Bounds {
        charts: request.max_charts,
        png_bytes: request.chart_bytes,
        total_bytes: request.charts_total_bytes,
    };
    let argv = ["python3", "-u", "-c", PYTHON_START].map(str::to_owned);
    let env = python_environment(&request.env);
    let mut command = Command::new(context, &argv, "", &env, context.null()?)?;
    command.extra = vec![source, write];
    Ok((command, Receiver::new(read, bounds)?))
}

/// Adds what Python has by default.
pub fn python_environment(env: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let defaults = PYTHON_DEFAULTS.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let given = env
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()));
    defaults.into_iter().chain(given).collect()
}

fn node(context: &Context, request: &Request, code: &[u8]) -> Result<Command, Fault> {
    let mut argv = vec![
        "node".to_owned(),
        format!("--import={}", data_url(NODE_PRELOAD)),
    ];
    argv.extend(
        match request.language {
            // Types in JavaScript are syntax errors, and do not make it TypeScript.
            Language::Javascript => &["--no-experimental-strip-types"][..],
            // Runs it as a module. Node tries a script first otherwise, in which `f<string>(x)` is two comparisons.
            _ => &[
                "--experimental-transform-types",
                "--disable-warning=ExperimentalWarning",
                "--input-type=module-typescript",
            ],
        }
        .iter()
        .map(|flag| (*flag).to_owned()),
    );
    let stdin = memory_file(&[code])?;
    let command = Command::new(context, &argv, "", &request.env, stdin)?;
    Ok(match request.language {
        Language::Typescript => command.started_by(TYPESCRIPT_STARTER),
        _ => command,
    })
}

fn data_url(module: &str) -> String {
    let mut url = String::from("data:text/javascript,");
    for byte in module.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                url.push(char::from(byte));
            }
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}

/// A file without a name, read from its beginning.
pub fn memory_file(parts: &[&[u8]]) -> Result<OwnedFd, Fault> {
    let file = memfd_create("code", MemfdFlags::CLOEXEC).map_err(std::io::Error::from)?;
    let mut file = File::from(file);
    for part in parts {
        file.write_all(part)?;
    }
    seek(&file, SeekFrom::Start(0)).map_err(std::io::Error::from)?;
    Ok(file.into())
}

//! The operation `context_run`: runs code in a context, and answers when it has ended. What it displays comes in its place
//! between its output where the host wants that while it runs, else before the result.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::kernel::{Ends, Kernel};
use super::messages::{Done, Message};
use super::program;
use super::registry::Registry;
use crate::code::run::receive_code;
use crate::exec::execute::{Limits, watched};
use crate::exec::live::{Live, Wish};
use crate::exec::pipes::{Captures, Collected, Outputs};
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;

/// Time for code to end once it is interrupted at its timeout.
const GRACE: Duration = Duration::from_secs(2);
/// Most that a run displays; more is left out, and counted.
const MAX_DISPLAYS: usize = 100;
const MAX_DISPLAY_BYTES: usize = 12 << 20;

/// The code follows as data and `end`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    context_id: String,
    timeout_ms: u64,
    /// Variables of this run alone.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Most bytes kept of each stream.
    output_bytes: usize,
    #[serde(default)]
    live: bool,
    #[serde(default)]
    whole: bool,
}

#[derive(Serialize)]
struct Reply {
    #[serde(flatten)]
    done: Done,
    /// The cause for which the context itself has ended.
    end: Option<String>,
    timed_out: bool,
    truncated: bool,
    /// Displays that were too much.
    left_out: usize,
    run: u64,
    duration_ms: u64,
    stdout_bytes: usize,
    stderr_bytes: usize,
    output_bytes: usize,
}

pub async fn answer(connection: &mut Connection, contexts: &Registry, request: Request) -> Outcome {
    let code = receive_code(connection).await?;
    let kernel = contexts.find(&request.context_id)?;
    let text = program::text(kernel.about.language, &request.env, &code)?;
    drop(code);
    let live = Live::wanted(Wish {
        live: request.live,
        whole: request.whole,
    })?;
    let limits = Limits::new(request.timeout_ms, request.output_bytes);
    let displays = Displays::new(live.clone());
    let work = run(&kernel, &text, &limits, live.clone(), &displays);
    let finished = watched(connection, live, work).await?;
    for display in displays.kept.take() {
        connection.item(&Display { display }, &[]).await?;
    }
    let Finished { reply, collected } = finished;
    let Collected {
        stdout,
        stderr,
        output,
    } = collected;
    let reply = Reply {
        truncated: stdout.truncated || stderr.truncated || output.truncated,
        left_out: displays.left_out.take(),
        stdout_bytes: stdout.bytes.len(),
        stderr_bytes: stderr.bytes.len(),
        output_bytes: output.bytes.len(),
        ..reply
    };
    connection
        .reply_with_data(&reply, &[&stdout.bytes, &stderr.bytes, &output.bytes])
        .await
}

struct Finished {
    reply: Reply,
    collected: Collected,
}

/// The stand of a run that ended without the interpreter's word.
struct Stand {
    done: Done,
    end: Option<String>,
    timed_out: bool,
}

/// Dropping the future interrupts the code.
async fn run(
    kernel: &Rc<Kernel>,
    text: &[u8],
    limits: &Limits,
    live: Option<Rc<Live>>,
    displays: &Displays,
) -> Result<Finished, Fault> {
    let deadline = Instant::now() + limits.timeout;
    let mut turn = kernel.turn(deadline).await?;
    if let Some(cause) = kernel.end() {
        turn.over();
        return Err(kernel.gone(&cause));
    }
    let started = Instant::now();
    let run = kernel.runs.get() + 1;
    kernel.runs.set(run);
    kernel.notes_memory();
    let outputs = turn.ends().outputs(Captures::new(limits.output_bytes));
    let mut outputs = match outputs {
        Ok(outputs) => outputs,
        Err(fault) => {
            turn.over();
            return Err(fault);
        }
    };
    if let Some(live) = live {
        outputs.show(live);
    }
    let ends = turn.ends();
    let stand = follow(kernel, ends, &mut outputs, text, deadline, displays).await?;
    if stand.is_some() && ends.control.torn.get() {
        kernel.kill("It did not read its code.");
    }
    outputs.drain();
    // What is printed before the next run finds room.
    outputs.leave_exact_order();
    let collected = outputs.snapshot();
    // Code that goes on past its timeout keeps its turn until it has ended.
    if let Some(Stand {
        done,
        end,
        timed_out,
    }) = stand
    {
        turn.over();
        Ok(finished(done, end, timed_out, run, started, collected))
    } else {
        Ok(finished(
            Done::default(),
            None,
            true,
            run,
            started,
            collected,
        ))
    }
}

fn finished(
    done: Done,
    end: Option<String>,
    timed_out: bool,
    run: u64,
    started: Instant,
    collected: Collected,
) -> Finished {
    let reply = Reply {
        done,
        end,
        timed_out,
        run,
        duration_ms: started.elapsed().as_millis() as u64,
        truncated: false,
        left_out: 0,
        stdout_bytes: 0,
        stderr_bytes: 0,
        output_bytes: 0,
    };
    Finished { reply, collected }
}

/// Returns None where the code goes on after its timeout, though it was interrupted.
async fn follow(
    kernel: &Kernel,
    ends: &mut Ends,
    outputs: &mut Outputs,
    text: &[u8],
    deadline: Instant,
    displays: &Displays,
) -> Result<Option<Stand>, Fault> {
    let mut deadline = deadline;
    let mut timed_out = false;
    let ended = |end: String, timed_out| {
        Ok(Some(Stand {
            done: Done::default(),
            end: Some(end),
            timed_out,
        }))
    };
    let go = Notify::new();
    let (incoming, sending) = ends.control.talk(text, &go);
    // What is displayed has its place between what is printed.
    outputs.beside(incoming.as_fd())?;
    let mut sending = pin!(sending);
    let mut sent = false;
    loop {
        tokio::select! {
            biased;
            () = &mut sending, if !sent => sent = true,
            end = kernel.ended() => return ended(end, timed_out),
            () = sleep_until(deadline) => {
                if timed_out {
                    return Ok(None);
                }
                kernel.interrupt();
                timed_out = true;
                deadline = Instant::now() + GRACE;
            }
            other = outputs.pump_to_other() => {
                other?;
                while let Some(message) = incoming.take_now() {
                    match message {
                        Ok(Message::Done(done)) => return Ok(Some(Stand { done, end: None, timed_out })),
                        Ok(Message::Begun) => {
                            if kernel.begins() && kernel.about.language.waits_for_go() {
                                go.notify_one();
                            }
                        }
                        Ok(Message::Display(display)) => displays.show(display),
                        Ok(Message::Ready) => {}
                        // The interpreter has ended, or the code writes to its channel.
                        Err(_) => return ended(kernel.close().await, timed_out),
                    }
                }
            }
        }
    }
}

#[derive(Serialize)]
struct Display {
    display: Box<RawValue>,
}

struct Displays {
    live: Option<Rc<Live>>,
    kept: RefCell<Vec<Box<RawValue>>>,
    count: RefCell<(usize, usize)>,
    left_out: RefCell<usize>,
}

impl Displays {
    fn new(live: Option<Rc<Live>>) -> Self {
        Self {
            live,
            kept: RefCell::default(),
            count: RefCell::default(),
            left_out: RefCell::default(),
        }
    }

    fn show(&self, display: Box<RawValue>) {
        let (number, bytes) = &mut *self.count.borrow_mut();
        *number += 1;
        *bytes += display.get().len();
        if *number > MAX_DISPLAYS || *bytes > MAX_DISPLAY_BYTES {
            *self.left_out.borrow_mut() += 1;
            return;
        }
        match &self.live {
            None => self.kept.borrow_mut().push(display),
            Some(live) => {
                if let Ok(json) = serde_json::to_vec(&Display { display }) {
                    live.push_item(json);
                }
            }
        }
    }
}

//! The table of operations, which alone knows them all. An operation is one line of it, and one file of its
//! feature with the fields of its request (`Request`) and its handler (`answer`).

use serde::Deserialize;
use serde::de::{Error, IgnoredAny};
use std::pin::Pin;
use std::rc::Rc;

use crate::accounts::account_of;
use crate::contexts::registry::Registry as Contexts;
use crate::detached::registry::Registry as Processes;
use crate::files::watching::seats::Seats as Watches;
use crate::init::context::Context;
use crate::own_figures::OwnFigures;
use crate::session::registry::Registry;
use crate::terminal::registry::Registry as Terminals;
use crate::tunnel::listeners::Listeners;
use crate::wire::connection::{Connection, Interrupted, Outcome, protocol_fault};
use crate::wire::request::{check_version, operation_of};
use crate::wire::stream::Stream;
use crate::{
    code, contexts, detached, exec, files, link, process, search, session, sftp, terminal, trust,
    tunnel,
};

/// The state that outlives one request.
#[derive(Clone)]
struct Agent {
    context: Context,
    /// None where the sandbox shows the host's figures.
    figures: Option<Rc<OwnFigures>>,
    sessions: Rc<Registry>,
    listeners: Rc<Listeners>,
    terminals: Rc<Terminals>,
    processes: Rc<Processes>,
    watches: Rc<Watches>,
    contexts: Rc<Contexts>,
}

/// A line of the table.
struct Operation {
    name: &'static str,
    /// The first version with the operation.
    since: u32,
    read: fn(&[u8]) -> serde_json::Result<Asked>,
}

/// A request that was read and is not carried out yet.
struct Asked {
    /// None in hello, which negotiates the version.
    version: Option<u32>,
    /// The user in whose name it is made; root without one (version 7).
    user: Option<String>,
    /// The answer, or a program that the operation starts, may show the kernel's figures of memory and processors.
    may_show_figures: bool,
    answer: Answer,
}

type Answer = Box<dyn for<'a> FnOnce(&'a mut Connection, &'a Agent) -> Answering<'a>>;
type Answering<'a> = Pin<Box<dyn Future<Output = Outcome> + 'a>>;

macro_rules! operations {
    ($($name:literal $since:tt $user:ident $figures:path => $($module:ident)::+($($part:ident),*);)*) => {
        const OPERATIONS: &[Operation] = &[$(Operation {
            name: $name,
            since: since!($since),
            read: |payload| {
                let Tagged::<$($module)::+::Request>::Request(request) =
                    serde_json::from_slice(payload)?;
                Ok(Asked {
                    version: version!($since, request),
                    user: user!($user, request),
                    may_show_figures: $figures(&request),
                    answer: Box::new(|connection, _agent| {
                        Box::pin($($module)::+::answer(connection, $(&_agent.$part,)* request))
                    }),
                })
            },
        }),*];

        /// A request under any name of the table. The first name matches no request: JSON writes NUL as an
        /// escape, and operation names are read without escapes.
        #[derive(Deserialize)]
        #[serde(tag = "op")]
        enum Tagged<T> {
            #[serde(rename = "\0", $(alias = $name),*)]
            Request(T),
        }
    };
}

macro_rules! since {
    (any) => {
        1
    };
    ($version:literal) => {
        $version
    };
}

macro_rules! user {
    (root, $request:ident) => {
        None
    };
    (user, $request:ident) => {
        $request.user.clone()
    };
}

macro_rules! version {
    (any, $request:ident) => {
        None
    };
    ($version:literal, $request:ident) => {
        Some($request.v)
    };
}

operations! {
    // Name, first version (any for hello, which negotiates one), root where no user can call it, figures that it may
    // show, and the handler with the parts of the agent that it uses.
    "hello"            any root never                                  => link::hello(context);
    "watch"            1   root never                                  => link::watch();
    "exec"             1   user always                                 => exec::run(context);
    "start_background" 1   user always                                 => exec::start_background(context);
    "run_code"         1   user always                                 => code::run(context);
    "list"             1   user never                                  => files::listing::list(context);
    "find"             1   user never                                  => files::listing::find(context);
    "stat"             1   user never                                  => files::stat(context);
    "read"             1   user files::reading::lines::may_show_figures=> files::reading::lines(context);
    "read_stream"      1   user files::reading::stream::may_show_figures=> files::reading::stream(context);
    "write"            1   user never                                  => files::writing::write(context);
    "mkdir"            1   user never                                  => files::writing::mkdir(context);
    "move"             1   user never                                  => files::tree::relocate(context);
    "remove"           1   user never                                  => files::tree::remove(context);
    "entries"          7   user never                                  => files::details::entries(context);
    "set_attributes"   7   user never                                  => files::details::set(context);
    "watch_files"      8   user never                                  => files::watching::watch(context, watches);
    "process"          2   user always                                 => process::open(context);
    "sftp"             2   user always                                 => sftp::open(context);
    "session_create"   2   user always                                 => session::create(context, sessions);
    "session_list"     2   root always                                 => session::list(sessions);
    "session_run"      2   root always                                 => session::run(sessions);
    "session_logs"     2   root always                                 => session::logs(sessions);
    "session_follow"   3   root always                                 => session::follow(sessions);
    "session_input"    2   root always                                 => session::input(sessions);
    "session_delete"   7   root always                                 => session::delete(sessions);
    "search"           2   user never                                  => search::content::search(context);
    "replace"          2   user never                                  => search::replacing::replace(context);
    "tcp"              2   root never                                  => tunnel::tcp(context, listeners);
    "listen"           2   root never                                  => tunnel::listen(listeners);
    "accept"           2   root never                                  => tunnel::accept(listeners);
    "ports"            2   root never                                  => tunnel::ports(context);
    "terminal_open"    4   user always                                 => terminal::open(context, terminals);
    "terminal_list"    4   root never                                  => terminal::list(terminals);
    "terminal_close"   4   root never                                  => terminal::close(terminals);
    "process_start"    7   user always                                 => detached::start(context, processes);
    "process_list"     7   root never                                  => detached::list(processes);
    "process_view"     7   root always                                 => detached::view(processes);
    "process_input"    7   root always                                 => detached::input(processes);
    "process_signal"   7   root never                                  => detached::control::signal(processes);
    "process_resize"   7   root never                                  => detached::control::resize(processes);
    "process_end"      7   root never                                  => detached::control::end(processes);
    "context_create"   9   user always                                 => contexts::create(context, contexts);
    "context_list"     9   root never                                  => contexts::list(contexts);
    "context_run"      9   root always                                 => contexts::run(contexts);
    "context_interrupt" 9  root never                                  => contexts::control::interrupt(contexts);
    "context_delete"   9   root never                                  => contexts::control::delete(contexts);
    "trust"            5   root never                                  => trust::install(context);
}

/// Answers the one request of each connection that it is called with.
pub fn start(context: Context) -> impl AsyncFn(Stream) {
    let agent = Agent {
        context,
        figures: OwnFigures::start(),
        sessions: Rc::default(),
        listeners: Rc::default(),
        terminals: Rc::default(),
        processes: Rc::default(),
        watches: Rc::default(),
        contexts: Rc::default(),
    };
    async move |stream| {
        let mut connection = Connection::new(stream);
        match agent.answer(&mut connection).await {
            Ok(()) => connection.end().await,
            Err(Interrupted::Fault(fault)) => connection.refuse(&fault).await,
            Err(Interrupted::Gone) => {}
        }
    }
}

impl Agent {
    async fn answer(&self, connection: &mut Connection) -> Outcome {
        let payload = connection.request().await?;
        let (operation, asked) =
            read(&payload).map_err(|error| protocol_fault(&error.to_string()))?;
        drop(payload);
        if let Some(version) = asked.version {
            check_version(version, operation.since)?;
        }
        if let Some(figures) = &self.figures
            && asked.may_show_figures
        {
            figures.on_request();
        }
        match asked.user {
            None => (asked.answer)(connection, self).await,
            Some(user) => {
                let (account, base) = account_of(&self.context.workers, user).await?;
                let agent = Self {
                    context: self.context.of_user(account, base),
                    ..self.clone()
                };
                (asked.answer)(connection, &agent).await
            }
        }
    }
}

fn read(payload: &[u8]) -> serde_json::Result<(&'static Operation, Asked)> {
    let name = operation_of(payload)?;
    match OPERATIONS.iter().find(|operation| operation.name == name) {
        Some(operation) => Ok((operation, (operation.read)(payload)?)),
        None => Err(unknown(payload, name)),
    }
}

/// Lists the operations that every agent knows; for a name of a session operation, those on sessions.
fn unknown(payload: &[u8], name: &str) -> serde_json::Error {
    const SESSION: &str = "session_";
    let known: Vec<_> = OPERATIONS
        .iter()
        .filter(|known| match name.starts_with(SESSION) {
            true => known.name.starts_with(SESSION),
            false => known.since == 1,
        })
        .map(|known| format!("`{}`", known.name))
        .collect();
    let detail = format!(
        "unknown variant `{name}`, expected one of {}",
        known.join(", ")
    );
    match serde_json::from_slice::<Tagged<IgnoredAny>>(payload) {
        Err(error) if error.is_data() => serde_json::Error::custom(format!(
            "{detail} at line {} column {}",
            error.line(),
            error.column()
        )),
        Err(error) => error,
        Ok(_) => serde_json::Error::custom(detail),
    }
}

fn always<T>(_request: &T) -> bool {
    true
}

fn never<T>(_request: &T) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::frame::{HEADER_BYTES, Kind};
    use crate::wire::golden::{exchanges, unhex};

    fn refusal(request: &str) -> String {
        match read(request.as_bytes()) {
            Ok((operation, _)) => panic!("{} takes {request}", operation.name),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn golden_requests_are_read() {
        let mut seen = 0;
        for (name, exchange) in exchanges() {
            if name.starts_with("carrier-") {
                continue;
            }
            for frame in exchange["host"].as_array().unwrap() {
                let bytes = unhex(frame["hex"].as_str().unwrap());
                if bytes[HEADER_BYTES - 1] == Kind::Request as u8 {
                    let asked = read(&bytes[HEADER_BYTES..]);
                    assert!(asked.is_ok(), "{name}: {}", asked.err().unwrap());
                    seen += 1;
                }
            }
        }
        assert!(seen > 30, "only {seen} golden requests");
    }

    #[test]
    fn a_request_with_a_field_too_many_is_refused() {
        assert_eq!(
            refusal(r#"{"v":1,"op":"remove","path":"x","recursive":true,"force":true}"#),
            "unknown field `force`, expected one of `v`, `user`, `path`, `recursive`"
        );
    }

    #[test]
    fn a_request_with_a_field_too_few_is_refused() {
        assert_eq!(refusal(r#"{"op":"stat","path":"x"}"#), "missing field `v`");
    }

    #[test]
    fn an_unknown_operation_is_refused_with_names_to_choose_from() {
        assert_eq!(
            refusal(r#"{"v":1,"op":"chmod","path":"x"}"#),
            "unknown variant `chmod`, expected one of `hello`, `watch`, `exec`, `start_background`, `run_code`, \
             `list`, `find`, `stat`, `read`, `read_stream`, `write`, `mkdir`, `move`, `remove` at line 1 column 19"
        );
        assert_eq!(
            refusal(r#"{"v":2,"op":"session_end"}"#),
            "unknown variant `session_end`, expected one of `session_create`, `session_list`, `session_run`, \
             `session_logs`, `session_follow`, `session_input`, `session_delete` at line 1 column 25"
        );
    }

    #[test]
    fn an_operation_is_answered_from_its_first_version_on() {
        let since = |name| {
            let of = |operation: &&Operation| operation.name == name;
            OPERATIONS.iter().find(of).unwrap().since
        };
        assert_eq!(since("exec"), 1);
        assert_eq!(since("session_run"), 2);
        assert_eq!(since("session_follow"), 3);
        assert_eq!(since("terminal_open"), 4);
        assert_eq!(since("trust"), 5);
    }

    #[test]
    fn figures_are_renewed_before_what_may_show_them() {
        for (request, expected) in [
            (r#"{"v":2,"op":"session_list"}"#, true),
            (r#"{"v":2,"op":"ports"}"#, false),
            (
                r#"{"v":1,"op":"read","path":"/proc/meminfo","max_bytes":1}"#,
                true,
            ),
            (r#"{"v":1,"op":"read","path":"a","max_bytes":1}"#, false),
        ] {
            let (_, asked) = read(request.as_bytes()).unwrap();
            assert_eq!(asked.may_show_figures, expected, "{request}");
        }
    }
}

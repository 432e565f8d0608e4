//! The interpreters of contexts: how each is started, and the text that makes it one.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use crate::code::run::{PYTHON_CHARTS, PYTHON_START, memory_file, python_environment};
use crate::exec::command::Command;
use crate::init::context::Context;
use crate::wire::fault::Fault;

const PYTHON: &str = concat!(
    include_str!("../code/imports.py"),
    include_str!("kernel.py")
);
const NODE: &str = include_str!("kernel.mjs");
const BASH: &str = include_str!("kernel.bash");

#[derive(Clone, Copy, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    Python,
    Typescript,
    Javascript,
    Bash,
}

impl Language {
    /// Says whether the interpreter waits once more when it has begun: kernel.bash.
    pub fn waits_for_go(self) -> bool {
        self == Self::Bash
    }
}

/// @param control The interpreter's end of its channel.
pub fn command(
    context: &Context,
    language: Language,
    (cwd, env): (&str, &BTreeMap<String, String>),
    memory_mb: Option<u64>,
    control: OwnedFd,
) -> Result<Command, Fault> {
    let made = |argv: &[String], env, stdin| Command::new(context, argv, cwd, env, stdin);
    Ok(match language {
        Language::Python => {
            let argv = bounded(
                &["python3", "-c", PYTHON_START].map(str::to_owned),
                memory_mb,
            );
            let mut command = made(&argv, &python_environment(env), context.null()?)?;
            let length = (PYTHON.len() as u32).to_le_bytes();
            let text = [&length, PYTHON.as_bytes(), PYTHON_CHARTS.as_bytes()];
            command.extra = vec![memory_file(&text)?, control];
            command
        }
        Language::Javascript | Language::Typescript => {
            let mut argv = vec!["node".to_owned()];
            argv.extend(memory_mb.map(|bound| format!("--max-old-space-size={bound}")));
            let language = match language {
                Language::Typescript => "typescript",
                _ => "javascript",
            };
            let flags = [
                "--disable-warning=ExperimentalWarning",
                "--input-type=module",
            ];
            argv.extend(flags.into_iter().chain(["-", language]).map(str::to_owned));
            let mut command = made(&argv, env, memory_file(&[NODE.as_bytes()])?)?;
            command.extra = vec![control];
            command
        }
        Language::Bash => {
            let lines = BASH.lines().filter(|line| !line.starts_with('#'));
            let text: Vec<_> = lines.collect();
            let argv = ["bash", "--norc", "--noprofile", "-c"].map(str::to_owned);
            let argv = [&argv[..], &[text.join(" "), "bash".to_owned()]].concat();
            let mut command = made(&bounded(&argv, memory_mb), env, context.null()?)?;
            command.extra = vec![control];
            command
        }
    })
}

/// A run as the interpreter gets it: its variables as JSON, or for bash as a command, and its code, each with NUL behind it.
pub fn text(
    language: Language,
    env: &BTreeMap<String, String>,
    code: &[u8],
) -> Result<Vec<u8>, Fault> {
    if let Some(name) = env.keys().find(|name| !is_variable(name)) {
        let detail = format!("'{name}' is not the name of a variable.");
        return Err(Fault::invalid("env", detail));
    }
    let variables = match language {
        Language::Bash => {
            let quoted = |(name, value): (&String, &String)| {
                format!(
                    "builtin local -x {name}='{}';",
                    value.replace('\'', r"'\''")
                )
            };
            env.iter().map(quoted).collect::<String>().into_bytes()
        }
        _ => serde_json::to_vec(env).unwrap_or_default(),
    };
    for (parameter, bytes) in [("env", &variables[..]), ("code", code)] {
        if bytes.contains(&0) {
            return Err(Fault::invalid(parameter, "A NUL byte cannot be passed on."));
        }
    }
    Ok([&variables, &b"\0"[..], code, &b"\0"[..]].concat())
}

fn is_variable(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && !name.as_bytes()[0].is_ascii_digit() && name.bytes().all(is_plain)
}

/// Bounds what each process of the context may write to: with more, Python raises MemoryError.
fn bounded(argv: &[String], memory_mb: Option<u64>) -> Vec<String> {
    let Some(bound) = memory_mb else {
        return argv.to_vec();
    };
    let limit = format!("ulimit -d {} && exec \"$@\"", bound.saturating_mul(1_024));
    let shell = ["sh".to_owned(), "-c".to_owned(), limit, "sh".to_owned()];
    [&shell[..], argv].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(language: Language, name: &str, value: &str) -> Option<String> {
        let env = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        let text = text(language, &env, b"x").ok()?;
        Some(String::from_utf8(text).unwrap())
    }

    #[test]
    fn variables_come_before_the_code_and_are_quoted() {
        assert_eq!(
            sent(Language::Python, "A", "b\"").unwrap(),
            "{\"A\":\"b\\\"\"}\0x\0"
        );
        assert_eq!(
            sent(Language::Bash, "A_1", "b'; exit").unwrap(),
            "builtin local -x A_1='b'\\''; exit';\0x\0"
        );
    }

    #[test]
    fn what_is_no_variable_is_refused() {
        for name in ["", "1a", "a b", "a=b", "é", "a;b"] {
            assert_eq!(sent(Language::Bash, name, ""), None, "{name}");
        }
        assert_eq!(sent(Language::Bash, "A", "b\0c"), None);
    }
}

//! Commands of the service.

use crate::bounds::RULES;
use crate::policy::{Rule, RuleText};
use crate::secrets::{AuthorityText, SecretText, Vault};
use crate::world::Policy;
use serde::Deserialize;
use std::net::{IpAddr, Ipv4Addr};

pub struct Command {
    pub id: u64,
    pub action: Action,
}

pub enum Action {
    Set { address: Ipv4Addr, policy: Policy },
    Drop { address: Ipv4Addr },
    Resolvers(Vec<IpAddr>),
}

#[derive(Deserialize)]
struct Numbered {
    id: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: u64,
    set: Option<SetText>,
    drop: Option<DropText>,
    resolvers: Option<Vec<IpAddr>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetText {
    address: Ipv4Addr,
    sandbox: String,
    owner: String,
    rules: Vec<RuleText>,
    #[serde(default)]
    open: bool,
    #[serde(default)]
    secrets: Vec<SecretText>,
    authority: Option<AuthorityText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DropText {
    address: Ipv4Addr,
}

impl Command {
    /// An error has the command's number where that can be read.
    pub fn parse(line: &[u8]) -> Result<Command, (Option<u64>, String)> {
        let number = || {
            serde_json::from_slice::<Numbered>(line)
                .ok()
                .map(|numbered| numbered.id)
        };
        let line: Line = serde_json::from_slice(line).map_err(|error| {
            // The parser's message may quote the line, and with it a secret.
            let has_secrets = memchr::memmem::find(line, b"\"secrets\"").is_some();
            let why = match has_secrets {
                true => format!("a line that is no command, at character {}", error.column()),
                false => error.to_string(),
            };
            (number(), why)
        })?;
        let id = line.id;
        let action = match (line.set, line.drop, line.resolvers) {
            (Some(set), None, None) => set.compile().map_err(|why| (Some(id), why))?,
            (None, Some(DropText { address }), None) => Action::Drop { address },
            (None, None, Some(resolvers)) => Action::Resolvers(resolvers),
            _ => return Err((Some(id), "expected one command".into())),
        };
        Ok(Command { id, action })
    }
}

impl SetText {
    fn compile(self) -> Result<Action, String> {
        if self.rules.len() > RULES {
            return Err(format!("more than {RULES} rules"));
        }
        let rules = self
            .rules
            .into_iter()
            .map(Rule::compile)
            .collect::<Result<_, _>>()?;
        let policy = Policy {
            sandbox: self.sandbox.into(),
            owner: self.owner.into(),
            rules,
            open: self.open,
            vault: Vault::compile(self.secrets, self.authority)?,
        };
        Ok(Action::Set {
            address: self.address,
            policy,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(line: &str) -> Option<u64> {
        Command::parse(line.as_bytes()).err().unwrap().0
    }

    #[test]
    fn a_policy_is_read_with_its_rules() {
        let line = br#"{"id":1,"set":{"address":"10.213.0.5","sandbox":"sb_1","owner":"us_1","rules":[
            {"text":"https://a.example","protocol":"https","host":"a.example","address":null,"ports":[443,443],"methods":[],"path":null}
        ]}}"#;
        let command = Command::parse(line).unwrap_or_else(|(_, why)| panic!("{why}"));
        let Action::Set { address, policy } = command.action else {
            panic!()
        };
        assert_eq!((command.id, address), (1, Ipv4Addr::new(10, 213, 0, 5)));
        assert_eq!(
            (&*policy.sandbox, &*policy.owner, policy.rules.len()),
            ("sb_1", "us_1", 1)
        );
    }

    #[test]
    fn a_policy_is_open_where_it_says_so() {
        let is_open = |more: &str| {
            let set =
                format!(r#""address":"10.213.0.5","sandbox":"s","owner":"o","rules":[]{more}"#);
            let line = format!(r#"{{"id":1,"set":{{{set}}}}}"#);
            match Command::parse(line.as_bytes()).map(|command| command.action) {
                Ok(Action::Set { policy, .. }) => policy.open,
                _ => panic!(),
            }
        };
        assert!(is_open(r#","open":true"#));
        assert!(!is_open(r#","open":false"#));
        assert!(!is_open(""));
    }

    #[test]
    fn a_policy_without_more_is_of_rules_and_has_no_secrets() {
        let policy = |more: &str| {
            let line = format!(
                r#"{{"id":1,"set":{{"address":"1.2.3.4","sandbox":"s","owner":"o","rules":[]{more}}}}}"#
            );
            let command = Command::parse(line.as_bytes()).map_err(|(_, why)| why)?;
            match command.action {
                Action::Set { policy, .. } => Ok((policy.open, policy.vault.is_some())),
                _ => Err("no policy".to_owned()),
            }
        };
        assert_eq!(policy(""), Ok((false, false)));
        let named = r#","open":true,"secrets":[],"authority":null"#;
        assert_eq!(policy(named), Ok((true, false)));
        let secret = r#"{"secret":"se_1","name":"n","placeholder":"sandhaven-secret-0","value":"the-value",
            "targets":[],"place":{"in":"aws"},"expiresAt":null}"#;
        let given = format!(r#","secrets":[{secret}]"#);
        assert_eq!(policy(&given), Err("secrets need an authority".into()));
    }

    #[test]
    fn no_failure_quotes_a_secret() {
        let line = br#"{"id":1,"set":{"address":"1.2.3.4","sandbox":"s","owner":"o","rules":[],"secrets":["the-value"]}}"#;
        let (number, why) = Command::parse(line).err().unwrap();
        assert_eq!(number, Some(1));
        assert_eq!(why, "a line that is no command, at character 94");
    }

    #[test]
    fn a_wrong_command_fails_by_its_number() {
        assert_eq!(failure(r#"{"id":7}"#), Some(7));
        assert_eq!(failure(r#"{"id":7,"drop":{"address":"x"}}"#), Some(7));
        assert_eq!(failure(r#"{"id":7,"other":1}"#), Some(7));
        assert_eq!(
            failure(r#"{"id":7,"drop":{"address":"1.2.3.4"},"resolvers":[]}"#),
            Some(7)
        );
        assert_eq!(
            failure(
                r#"{"id":7,"set":{"address":"1.2.3.4","sandbox":"s","owner":"o","rules":[{}]}}"#
            ),
            Some(7)
        );
        assert_eq!(failure("no JSON"), None);
    }
}

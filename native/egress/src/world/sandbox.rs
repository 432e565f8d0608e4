//! One sandbox with network rules, and the connections that they admitted.

use super::live::Live;
use super::names::Names;
use super::rate::Rate;
use crate::policy::{Asked, Kind, Rule, Target};
use crate::secrets::Vault;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::time::Instant;

pub struct Policy {
    pub sandbox: Arc<str>,
    pub owner: Arc<str>,
    pub rules: Vec<Rule>,
    /// True: traffic that no rule admits passes too.
    pub open: bool,
    /// None where the sandbox has no secrets.
    pub vault: Option<Arc<Vault>>,
}

/// Text of the rule that admits a connection. None in an open network, which needs no rule.
pub type RuleName = Option<Arc<str>>;

#[derive(Debug, PartialEq, Eq)]
pub enum Decision {
    Allowed(RuleName),
    Refused(&'static str),
}

const NO_RULE: &str = "no rule allows it";
const NO_ADDRESS: &str = "the resolver gave the sandbox no such address for this name";

pub struct Sandbox {
    pub policy: Policy,
    pub names: Names,
    pub rate: Rate,
    /// By number: the newest is the last.
    pub open: BTreeMap<u64, Open>,
}

pub struct Open {
    pub live: Arc<Live>,
    admitted: Admitted,
}

/// The reason for which a connection is allowed.
enum Admitted {
    /// It is not decided yet.
    Not,
    ByRule(Asked),
    /// Its content is not examined, so no rule can admit it later.
    ByOpenness,
}

impl Sandbox {
    pub fn new(policy: Policy, now: Instant) -> Sandbox {
        Sandbox {
            policy,
            names: Names::default(),
            rate: Rate::new(now),
            open: BTreeMap::new(),
        }
    }

    pub fn add(&mut self, live: Arc<Live>) {
        self.open.insert(
            live.number,
            Open {
                live,
                admitted: Admitted::Not,
            },
        );
    }

    pub fn resolves(&self, name: &str) -> bool {
        self.policy.open || self.policy.rules.iter().any(|rule| rule.names(name))
    }

    /// Returns the wildcard rule that allows a name, unless an exact rule has the name or the resolver
    /// remembers it: such a question may carry data.
    pub fn widely(&self, name: &str) -> Option<Arc<str>> {
        let naming = || self.policy.rules.iter().filter(|rule| rule.names(name));
        let is_exact =
            |rule: &Rule| matches!(&rule.target, Target::Name(pattern) if pattern.is_exact());
        if self.names.knows(name) || naming().any(is_exact) {
            return None;
        }
        naming().next().map(|rule| rule.text.clone())
    }

    /// Decides about a connection, or about the next request on it.
    pub fn decide(&mut self, number: u64, asked: Asked, now: Instant) -> Decision {
        let decision = match self.judge(&asked, now) {
            Ok(rule) => Decision::Allowed(Some(rule)),
            Err(why) => Decision::Refused(why),
        };
        if let (Decision::Allowed(_), Some(open)) = (&decision, self.open.get_mut(&number)) {
            open.admitted = Admitted::ByRule(asked);
        }
        decision
    }

    /// Returns a rule for any traffic to the destination, with the name of the destination.
    pub fn decide_tcp(
        &mut self,
        number: u64,
        to: SocketAddrV4,
        now: Instant,
    ) -> Option<(Arc<str>, Asked)> {
        let names = self
            .names
            .of(*to.ip(), now)
            .map(|name| Some(name.to_owned()));
        let mut candidates = names.chain([None]).map(|name| Asked {
            kind: Kind::Tcp,
            name,
            destination: to,
            method: String::new(),
            path: String::new(),
        });
        let (rule, asked) =
            candidates.find_map(|asked| Some((self.judge(&asked, now).ok()?, asked)))?;
        if let Some(open) = self.open.get_mut(&number) {
            open.admitted = Admitted::ByRule(asked.clone());
        }
        Some((rule, asked))
    }

    /// Admits everything while the policy is open, and names the rule that would admit it, if any.
    pub fn admit_open(&mut self, number: u64, asked: &Asked, now: Instant) -> Option<RuleName> {
        let open = self.open.get_mut(&number).filter(|_| self.policy.open)?;
        open.admitted = Admitted::ByOpenness;
        Some(self.judge(asked, now).ok())
    }

    /// Returns the connections that the new rules do not admit.
    pub fn replace(&mut self, policy: Policy) -> Vec<Arc<Live>> {
        self.policy = policy;
        let rules = &self.policy.rules;
        if self.policy.open {
            return Vec::new();
        }
        let is_lost = |open: &&Open| match &open.admitted {
            Admitted::Not => false,
            Admitted::ByRule(asked) => !rules.iter().any(|rule| rule.admits(asked)),
            Admitted::ByOpenness => true,
        };
        let lost = self.open.values().filter(is_lost);
        lost.map(|open| open.live.clone()).collect()
    }

    /// Returns the rule that admits it, or the reason why none does.
    fn judge(&self, asked: &Asked, now: Instant) -> Result<Arc<str>, &'static str> {
        let mut why = NO_RULE;
        for rule in self.policy.rules.iter().filter(|rule| rule.admits(asked)) {
            if matches!(rule.target, Target::Range(_)) || self.knows(asked, now) {
                return Ok(rule.text.clone());
            }
            why = NO_ADDRESS;
        }
        Err(why)
    }

    fn knows(&self, asked: &Asked, now: Instant) -> bool {
        let address: Ipv4Addr = *asked.destination.ip();
        asked
            .name
            .as_ref()
            .is_some_and(|name| self.names.has(name, address, now))
    }
}

//! The sandboxes by their addresses, behind one lock.

use super::live::Live;
use super::places::Places;
use super::sandbox::{Decision, Policy, RuleName, Sandbox};
use crate::bounds::{BODIES, CONNECTIONS_PER_SANDBOX, OPENED, RESOLVER_CONNECTIONS, WAITING};
use crate::policy::Asked;
use crate::secrets::Vault;
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub struct World {
    state: Mutex<State>,
    /// Connections of all sandboxes.
    capacity: usize,
    /// Questions that wait for an upstream resolver.
    pub waiting: Arc<Places>,
    pub resolver_connections: Arc<Places>,
    /// Connections whose TLS is opened.
    pub opened: Arc<Places>,
    /// Bodies that are read ahead.
    pub bodies: Arc<Places>,
}

#[derive(Default)]
struct State {
    sandboxes: HashMap<Ipv4Addr, Sandbox>,
    connections: usize,
    last: u64,
}

/// Reasons for refusing a connection before reading from it.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    UnknownSource,
    TooMany { sandbox: Arc<str> },
}

/// A question of a sandbox to the resolver.
#[derive(Debug, PartialEq, Eq)]
pub enum Question {
    UnknownSource,
    TooMany,
    NotAllowed {
        sandbox: Arc<str>,
    },
    Allowed {
        sandbox: Arc<str>,
        owner: Arc<str>,
        /// A wildcard rule, where the name may carry data.
        widely: RuleName,
    },
}

impl World {
    pub fn new(capacity: usize) -> Arc<World> {
        Arc::new(World {
            state: Mutex::default(),
            capacity,
            waiting: Places::new(WAITING),
            resolver_connections: Places::new(RESOLVER_CONNECTIONS),
            opened: Places::new(OPENED),
            bodies: Places::new(BODIES),
        })
    }

    /// Puts a policy in force. Returns the connections that it ends, after asking them to end.
    pub fn set(&self, address: Ipv4Addr, policy: Policy) -> Vec<Arc<Live>> {
        let mut state = self.lock();
        let mut ended = Vec::new();
        match state.sandboxes.get_mut(&address) {
            Some(sandbox) if sandbox.policy.sandbox == policy.sandbox => {
                ended = sandbox.replace(policy)
            }
            _ => {
                ended.extend(state.remove(address));
                state
                    .sandboxes
                    .insert(address, Sandbox::new(policy, Instant::now()));
            }
        }
        stop(ended)
    }

    /// Forgets a sandbox. Returns its connections, after asking them to end.
    pub fn forget(&self, address: Ipv4Addr) -> Vec<Arc<Live>> {
        stop(self.lock().remove(address))
    }

    /// Enters a new connection. Where all places are taken, the owner with the most loses the newest
    /// connection of its largest sandbox.
    pub fn enter(&self, source: Ipv4Addr) -> Result<Arc<Live>, Refusal> {
        let mut state = self.lock();
        let sandbox = state.sandboxes.get(&source).ok_or(Refusal::UnknownSource)?;
        let (id, owner) = (sandbox.policy.sandbox.clone(), sandbox.policy.owner.clone());
        let is_full = state.connections >= self.capacity;
        if sandbox.open.len() >= CONNECTIONS_PER_SANDBOX || (is_full && !state.make_room(&owner)) {
            return Err(Refusal::TooMany { sandbox: id });
        }
        state.last += 1;
        state.connections += 1;
        let live = Arc::new(Live::new(state.last, source, id));
        if let Some(sandbox) = state.sandboxes.get_mut(&source) {
            sandbox.add(live.clone());
        }
        Ok(live)
    }

    pub fn leave(&self, live: &Live) {
        let mut state = self.lock();
        let open = state
            .sandboxes
            .get_mut(&live.source)
            .and_then(|sandbox| sandbox.open.remove(&live.number));
        if open.is_some() {
            state.connections -= 1;
        }
    }

    pub fn decide(&self, live: &Live, asked: Asked) -> Decision {
        let decide = |sandbox: &mut Sandbox| sandbox.decide(live.number, asked, Instant::now());
        self.with(live, decide)
            .unwrap_or(Decision::Refused("the sandbox ended"))
    }

    /// Returns a rule for any traffic to the destination.
    pub fn decide_tcp(&self, live: &Live, to: SocketAddrV4) -> Option<(Arc<str>, Asked)> {
        self.with(live, |sandbox| {
            sandbox.decide_tcp(live.number, to, Instant::now())
        })?
    }

    /// True while traffic that no rule admits passes too.
    pub fn is_open(&self, live: &Live) -> bool {
        self.with(live, |sandbox| sandbox.policy.open)
            .unwrap_or(false)
    }

    /// None where the policy is not open, or no longer open.
    pub fn admit_open(&self, live: &Live, asked: Asked) -> Option<RuleName> {
        self.with(live, |sandbox| {
            sandbox.admit_open(live.number, &asked, Instant::now())
        })?
    }

    /// Returns a name for which the resolver gave the sandbox this address.
    pub fn name_of(&self, live: &Live, address: Ipv4Addr) -> Option<String> {
        self.with(live, |sandbox| {
            let mut names = sandbox.names.of(address, Instant::now());
            names.next().map(str::to_owned)
        })?
    }

    /// True where names that the sandbox resolves must be reported.
    pub fn is_open_at(&self, source: Ipv4Addr) -> bool {
        let state = self.lock();
        state
            .sandboxes
            .get(&source)
            .is_some_and(|sandbox| sandbox.policy.open)
    }

    /// Returns the sandbox's current secrets.
    pub fn vault(&self, live: &Live) -> Option<Arc<Vault>> {
        self.with(live, |sandbox| sandbox.policy.vault.clone())?
    }

    /// Returns owner and id of the sandbox at an address.
    pub fn sandbox_at(&self, source: Ipv4Addr) -> Option<(Arc<str>, Arc<str>)> {
        let state = self.lock();
        let policy = &state.sandboxes.get(&source)?.policy;
        Some((policy.owner.clone(), policy.sandbox.clone()))
    }

    /// Counts a question, and decides about its name; None stands for a name that no host can have.
    pub fn question(&self, source: Ipv4Addr, name: Option<&str>) -> Question {
        let mut state = self.lock();
        let Some(sandbox) = state.sandboxes.get_mut(&source) else {
            return Question::UnknownSource;
        };
        let id = sandbox.policy.sandbox.clone();
        if !sandbox.rate.take(Instant::now()) {
            return Question::TooMany;
        }
        match name.filter(|name| sandbox.resolves(name)) {
            Some(name) => Question::Allowed {
                sandbox: id,
                owner: sandbox.policy.owner.clone(),
                widely: sandbox.widely(name),
            },
            None => Question::NotAllowed { sandbox: id },
        }
    }

    /// Remembers an answer before the sandbox gets it. False where its policy no longer allows the name.
    pub fn remember(
        &self,
        source: Ipv4Addr,
        id: &str,
        name: &str,
        addresses: &[Ipv4Addr],
        ttl: Duration,
    ) -> bool {
        let mut state = self.lock();
        match state.sandboxes.get_mut(&source) {
            Some(sandbox) if &*sandbox.policy.sandbox == id && sandbox.resolves(name) => {
                sandbox.names.remember(name, addresses, ttl, Instant::now());
                true
            }
            _ => false,
        }
    }

    /// Calls `work` with the sandbox of a connection, unless another one has its address by now.
    fn with<T>(&self, live: &Live, work: impl FnOnce(&mut Sandbox) -> T) -> Option<T> {
        let mut state = self.lock();
        let sandbox = state.sandboxes.get_mut(&live.source)?;
        sandbox
            .open
            .contains_key(&live.number)
            .then(|| work(sandbox))
    }

    #[cfg(test)]
    pub fn connections(&self) -> usize {
        self.lock().connections
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remove(&mut self, address: Ipv4Addr) -> Vec<Arc<Live>> {
        let open = self
            .sandboxes
            .remove(&address)
            .map(|sandbox| sandbox.open)
            .unwrap_or_default();
        self.connections -= open.len();
        open.into_values().map(|open| open.live).collect()
    }

    /// Ends a connection of the owner with the most. Returns false where no other owner has more than this one.
    fn make_room(&mut self, owner: &Arc<str>) -> bool {
        let mut counts: HashMap<&Arc<str>, usize> = HashMap::new();
        for sandbox in self.sandboxes.values() {
            *counts.entry(&sandbox.policy.owner).or_default() += sandbox.open.len();
        }
        let own = counts.get(owner).copied().unwrap_or(0);
        let Some((most, count)) = counts.into_iter().max_by_key(|&(_, count)| count) else {
            return false;
        };
        if count <= own + 1 {
            return false;
        }
        let most = most.clone();
        let theirs = self
            .sandboxes
            .values_mut()
            .filter(|sandbox| sandbox.policy.owner == most);
        let newest = theirs
            .max_by_key(|sandbox| sandbox.open.len())
            .and_then(|sandbox| sandbox.open.pop_last());
        let Some((_, open)) = newest else {
            return false;
        };
        open.live.stop.raise();
        self.connections -= 1;
        true
    }
}

fn stop(ended: Vec<Arc<Live>>) -> Vec<Arc<Live>> {
    for live in &ended {
        live.stop.raise();
    }
    ended
}

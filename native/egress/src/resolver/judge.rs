//! Decides about questions. Those that need no other resolver are answered at once; the others hold a place
//! while they wait.

use super::upstream::Upstream;
use crate::bounds::TTL_CEILING;
use crate::dns::{Found, Query, Reply, Unread, code, record_types};
use crate::events::{Event, Events, Protocol};
use crate::policy::Range;
use crate::world::{Place, Question, World};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

pub struct Resolver {
    pub world: Arc<World>,
    events: Arc<Events>,
    upstream: Upstream,
    public_except: Arc<[Range]>,
}

/// The next step after a message.
pub enum Step {
    Nothing,
    Answer(Vec<u8>),
    Ask(Asking),
}

/// A question for an upstream resolver.
pub struct Asking {
    source: Ipv4Addr,
    sandbox: Arc<str>,
    name: String,
    query: Query,
    _place: Place,
}

impl Resolver {
    pub fn new(
        world: Arc<World>,
        events: Arc<Events>,
        public_except: Arc<[Range]>,
    ) -> Arc<Resolver> {
        Arc::new(Resolver {
            world,
            events,
            upstream: Upstream::default(),
            public_except,
        })
    }

    pub fn set_upstream(&self, resolvers: Vec<IpAddr>) {
        self.upstream.set(resolvers);
    }

    pub fn begin(&self, source: Ipv4Addr, message: &[u8], is_udp: bool) -> Step {
        let query = match Query::read(message) {
            Ok(query) => query,
            Err(Unread::Nothing) => return Step::Nothing,
            Err(Unread::Malformed { id }) => {
                return Step::Answer(Reply::header(id, code::MALFORMED));
            }
            Err(Unread::OtherOperation { id }) => {
                return Step::Answer(Reply::header(id, code::NOT_IMPLEMENTED));
            }
        };
        let (sandbox, owner, widely) = match self.world.question(source, query.name.as_deref()) {
            Question::UnknownSource => return Step::Answer(Reply::header(query.id, code::REFUSED)),
            Question::TooMany => return Step::Nothing,
            Question::NotAllowed { sandbox } => {
                let reply = self.refuse(&sandbox, query.name.clone(), code::NO_SUCH_NAME, NO_RULE);
                return Step::Answer(reply.write(&query, is_udp));
            }
            Question::Allowed {
                sandbox,
                owner,
                widely,
            } => (sandbox, owner, widely),
        };
        let reply = match query.kind {
            record_types::A => None,
            // An empty answer makes clients use IPv4, and offers no key for an encrypted hello.
            record_types::AAAA | record_types::HTTPS | record_types::SVCB => {
                Some(Reply::code(code::NO_ERROR))
            }
            _ => Some(self.refuse(&sandbox, query.name.clone(), code::REFUSED, OTHER_TYPE)),
        };
        if let Some(reply) = reply {
            return Step::Answer(reply.write(&query, is_udp));
        }
        if widely.is_some() {
            self.events.push(Event {
                allowed: true,
                name: query.name.clone(),
                rule: widely,
                ..Event::new(sandbox.clone(), Protocol::Dns)
            });
        }
        match (
            self.world.waiting.take(&owner, &sandbox),
            query.name.clone(),
        ) {
            (Some(_place), Some(name)) => Step::Ask(Asking {
                source,
                sandbox,
                name,
                query,
                _place,
            }),
            _ => Step::Answer(Reply::code(code::SERVER_FAILURE).write(&query, is_udp)),
        }
    }

    /// Asks, and remembers the addresses before the sandbox gets them.
    pub async fn finish(&self, asking: Asking, is_udp: bool) -> Vec<u8> {
        let Asking {
            source,
            sandbox,
            name,
            query,
            _place,
        } = asking;
        let reply = match self.upstream.ask(&name).await {
            Found::NoSuchName => Reply::code(code::NO_SUCH_NAME),
            Found::Failure => Reply::code(code::SERVER_FAILURE),
            Found::Addresses {
                addresses,
                ttl_seconds,
            } => {
                let ttl = Duration::from_secs(ttl_seconds.into()).min(TTL_CEILING);
                self.give(source, &sandbox, name, addresses, ttl)
            }
        };
        reply.write(&query, is_udp)
    }

    fn give(
        &self,
        source: Ipv4Addr,
        sandbox: &Arc<str>,
        name: String,
        mut addresses: Vec<Ipv4Addr>,
        ttl: Duration,
    ) -> Reply {
        let is_private = |address: &Ipv4Addr| {
            self.public_except
                .iter()
                .any(|range| range.contains(*address))
        };
        if addresses.iter().any(is_private) {
            return self.refuse(sandbox, Some(name), code::REFUSED, NOT_PUBLIC);
        }
        addresses.truncate(crate::bounds::ADDRESSES_PER_NAME);
        if !self.world.remember(source, sandbox, &name, &addresses, ttl) {
            return self.refuse(sandbox, Some(name), code::NO_SUCH_NAME, NO_RULE);
        }
        if self.world.is_open_at(source) {
            self.events.push(Event {
                allowed: true,
                name: Some(name),
                ..Event::new(sandbox.clone(), Protocol::Dns)
            });
        }
        Reply {
            addresses,
            ttl_seconds: ttl.as_secs() as u32,
            ..Reply::default()
        }
    }

    fn refuse(
        &self,
        sandbox: &Arc<str>,
        name: Option<String>,
        code: u16,
        why: &'static str,
    ) -> Reply {
        let asked = name.as_deref().unwrap_or("that");
        let blocked = match why {
            NO_RULE => format!(
                "The network policy of this sandbox does not allow {asked}. Rule to ask for: {asked}"
            ),
            why => format!("The network policy of this sandbox refuses {asked}: {why}."),
        };
        self.events.push(Event {
            name,
            why: Some(why),
            ..Event::new(sandbox.clone(), Protocol::Dns)
        });
        Reply {
            code,
            blocked: Some(blocked),
            ..Reply::default()
        }
    }
}

const NO_RULE: &str = "no rule allows it";
const OTHER_TYPE: &str = "records of this type are not resolved";
const NOT_PUBLIC: &str = "one of its addresses is not public";

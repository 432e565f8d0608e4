//! Commands of the service on standard input, and answers and events on standard output, as lines of JSON.
//! Standard input ends with the service, and this program ends with it.

mod command;
mod lines;

use crate::bounds::EVENTS_PAUSE;
use crate::events::{Entry, Events};
use crate::resolver::Resolver;
use crate::world::{Live, World};
use command::{Action, Command};
pub use lines::{Commands, Output};
use serde::Serialize;
use std::sync::Arc;
use tokio::time::sleep;

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Message {
    Ready {
        gate: u16,
        dns: u16,
    },
    Done(u64),
    Events(Vec<Entry>),
    #[serde(untagged)]
    Failed {
        failed: Option<u64>,
        why: String,
    },
}

/// Carries out commands until standard input ends.
pub async fn obey(
    mut commands: Commands,
    output: Output,
    world: Arc<World>,
    resolver: Arc<Resolver>,
    can_open: bool,
) {
    while let Some(line) = commands.next().await {
        let message = match Command::parse(&line) {
            Ok(Command {
                id,
                action: Action::Set { policy, .. },
            }) if policy.vault.is_some() && !can_open => Message::Failed {
                failed: Some(id),
                why: NO_ROOTS.into(),
            },
            Ok(Command { id, action }) => {
                act(action, &world, &resolver).await;
                Message::Done(id)
            }
            Err((failed, why)) => Message::Failed { failed, why },
        };
        output.write(&message).await;
    }
}

const NO_ROOTS: &str = "this host has no bundle of certificate authorities that servers of secrets could be judged by; \
                        install ca-certificates, or name one in SSL_CERT_FILE";

pub async fn report_ready(output: &Output, gate: u16, dns: u16) {
    output.write(&Message::Ready { gate, dns }).await;
}

pub async fn report_events(output: Output, events: Arc<Events>) {
    loop {
        events.arrived().await;
        sleep(EVENTS_PAUSE).await;
        let entries = events.take();
        // The previous batch has the events of the pause.
        if !entries.is_empty() {
            output.write(&Message::Events(entries)).await;
        }
    }
}

async fn act(action: Action, world: &World, resolver: &Resolver) {
    let ended = match action {
        Action::Set { address, policy } => world.set(address, policy),
        Action::Drop { address } => world.forget(address),
        Action::Resolvers(addresses) => {
            resolver.set_upstream(addresses);
            Vec::new()
        }
    };
    wait_for(ended).await;
}

/// A command is done once no connection passes a byte that it forbids.
async fn wait_for(ended: Vec<Arc<Live>>) {
    for live in ended {
        live.gone.raised().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_form_that_the_service_reads() {
        let text = |message: Message| serde_json::to_string(&message).unwrap();
        assert_eq!(
            text(Message::Ready { gate: 1, dns: 2 }),
            r#"{"ready":{"gate":1,"dns":2}}"#
        );
        assert_eq!(text(Message::Done(5)), r#"{"done":5}"#);
        assert_eq!(
            text(Message::Failed {
                failed: Some(1),
                why: "x".into()
            }),
            r#"{"failed":1,"why":"x"}"#
        );
        assert_eq!(text(Message::Events(Vec::new())), r#"{"events":[]}"#);
    }
}

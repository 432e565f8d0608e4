//! Decisions of the gate and the resolver, for the service, in batches. A sandbox can cause more of them than
//! anybody reads: beyond its part of a batch they are only counted.

use crate::bounds::{EVENTS_PER_BATCH, EVENTS_PER_SANDBOX};
use serde::Serialize;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::Notify;

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    Tls,
    /// A request inside opened TLS.
    Https,
    Http,
    Tcp,
    Dns,
}

#[derive(Debug, Serialize)]
pub struct Event {
    /// Milliseconds since 1970.
    pub at: u64,
    pub sandbox: Arc<str>,
    pub kind: Protocol,
    pub name: Option<String>,
    pub address: Option<Ipv4Addr>,
    pub port: Option<u16>,
    pub rule: Option<Arc<str>>,
    /// Id of the secret that the request got.
    pub secret: Option<Arc<str>>,
    pub allowed: bool,
    pub why: Option<&'static str>,
    pub sent: u64,
    pub received: u64,
    pub ended: bool,
}

impl Event {
    pub fn new(sandbox: Arc<str>, kind: Protocol) -> Event {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Event {
            at: since.as_millis() as u64,
            sandbox,
            kind,
            name: None,
            address: None,
            port: None,
            rule: None,
            secret: None,
            allowed: false,
            why: None,
            sent: 0,
            received: 0,
            ended: false,
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
pub enum Entry {
    Event(Event),
    Dropped { sandbox: Arc<str>, dropped: u64 },
}

#[derive(Default)]
pub struct Events {
    batch: Mutex<Batch>,
    arrived: Notify,
}

#[derive(Default)]
struct Batch {
    events: Vec<Event>,
    counts: HashMap<Arc<str>, Count>,
}

#[derive(Default)]
struct Count {
    kept: usize,
    dropped: u64,
}

impl Events {
    pub fn push(&self, event: Event) {
        let mut batch = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = batch.events.len() >= EVENTS_PER_BATCH;
        let count = batch.counts.entry(event.sandbox.clone()).or_default();
        if is_full || count.kept >= EVENTS_PER_SANDBOX {
            count.dropped += 1;
        } else {
            count.kept += 1;
            batch.events.push(event);
        }
        self.arrived.notify_one();
    }

    /// Waits for an event. Only one task may wait.
    pub async fn arrived(&self) {
        self.arrived.notified().await;
    }

    pub fn take(&self) -> Vec<Entry> {
        let batch = std::mem::take(&mut *self.batch.lock().unwrap_or_else(PoisonError::into_inner));
        let dropped = batch
            .counts
            .into_iter()
            .filter(|(_, count)| count.dropped > 0);
        let dropped =
            dropped.map(|(sandbox, Count { dropped, .. })| Entry::Dropped { sandbox, dropped });
        batch
            .events
            .into_iter()
            .map(Entry::Event)
            .chain(dropped)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(events: &Events, sandbox: &str, times: usize) {
        for _ in 0..times {
            events.push(Event::new(sandbox.into(), Protocol::Dns));
        }
    }

    #[test]
    fn an_event_has_the_form_that_the_service_reads() {
        let mut event = Event::new("sb_1".into(), Protocol::Tls);
        event.at = 5;
        event.address = Some(Ipv4Addr::new(1, 2, 3, 4));
        assert_eq!(
            serde_json::to_string(&Entry::Event(event)).unwrap(),
            r#"{"at":5,"sandbox":"sb_1","kind":"tls","name":null,"address":"1.2.3.4","port":null,"rule":null,"secret":null,"allowed":false,"why":null,"sent":0,"received":0,"ended":false}"#
        );
    }

    #[test]
    fn a_sandbox_has_a_part_of_a_batch_and_the_rest_is_counted() {
        let events = Events::default();
        push(&events, "sb_1", 150);
        push(&events, "sb_2", 1);
        let entries = events.take();
        assert_eq!(entries.len(), 102);
        let last = serde_json::to_string(entries.last().unwrap()).unwrap();
        assert_eq!(last, r#"{"sandbox":"sb_1","dropped":50}"#);
        assert!(events.take().is_empty());
    }

    #[test]
    fn a_batch_has_a_bound() {
        let events = Events::default();
        for number in 0..20 {
            push(&events, &format!("sb_{number}"), 100);
        }
        let entries = events.take();
        assert_eq!(
            entries
                .iter()
                .filter(|entry| matches!(entry, Entry::Event(_)))
                .count(),
            1000
        );
        assert_eq!(entries.len(), 1010);
    }
}

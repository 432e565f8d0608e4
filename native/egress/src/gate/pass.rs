//! Passes a connection on to its destination, unopened.

use super::relay::relay;
use super::session::Session;
use crate::policy::Asked;
use crate::stream::{Half, connect, make_orderly};
use crate::world::RuleName;

/// Connects, sends the bytes that were read, and relays the rest.
pub async fn pass(session: &Session<'_>, asked: Asked, rule: RuleName, mut half: Half<'_>) {
    let _ending = session.report_allowed(asked.kind, asked.name, rule);
    let Some(upstream) = connect(session.destination).await else {
        return;
    };
    let count = half.bytes.len();
    if half.pass(count, &upstream).await.is_err() {
        return;
    }
    session.live.count_sent(count);
    drop(half);
    if relay(session.client, &upstream, &session.gate.pipes, session.live)
        .await
        .is_ok()
    {
        make_orderly(session.client);
        make_orderly(&upstream);
    }
}

//! Passes a connection on to its destination, unopened.

use super::relay::relay;
use super::session::Session;
use crate::policy::{Asked, Kind};
use crate::stream::{Half, connect, make_orderly};
use crate::world::{Decision, RuleName};

/// Connects, sends what was read, and passes all on.
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

/// Passes on what is not read any further, where the network is open.
pub async fn pass_unread(session: &Session<'_>, half: Half<'_>) {
    let asked = session.asked(Kind::Tcp, None);
    match session.decide(asked.clone()) {
        Decision::Allowed(rule) => pass(session, asked, rule, half).await,
        Decision::Refused(why) => session.report_refused(Kind::Tcp, None, why),
    }
}

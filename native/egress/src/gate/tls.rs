//! TLS: reads the hello, decides by its server name, and passes all on unopened.

use super::bytes::Half;
use super::closing::take_leave;
use super::pass::pass;
use super::session::Session;
use crate::bounds::FIRST_BYTES;
use crate::policy::Kind;
use crate::tls::{ACCESS_DENIED, Hello, Unread, read};
use crate::world::Decision;
use tokio::time::{Instant, timeout_at};

pub async fn serve(session: &Session<'_>, mut half: Half<'_>, deadline: Instant) {
    let name = match timeout_at(deadline, hello(&mut half)).await {
        Ok(Ok(hello)) => hello.server_name,
        Ok(Err(why)) => return refuse(session, None, why).await,
        Err(_) => return session.report_refused(Kind::Tls, None, "no whole hello in time"),
    };
    let asked = session.asked(Kind::Tls, name.clone());
    match session.decide(asked.clone()) {
        Decision::Allowed(rule) => pass(session, asked, Some(rule), half).await,
        Decision::Refused(_) if name.is_none() => refuse(session, None, "no server name").await,
        Decision::Refused(why) => refuse(session, name, why).await,
    }
}

async fn hello(half: &mut Half<'_>) -> Result<Hello, &'static str> {
    loop {
        match read(&half.bytes) {
            Ok(hello) => return Ok(hello),
            Err(Unread::Malformed(why)) => return Err(why),
            Err(Unread::Incomplete) => {}
        }
        let room = FIRST_BYTES - half.bytes.len();
        if room == 0 {
            return Err("a hello that is too long");
        }
        match half.read(room).await {
            Ok(1..) => {}
            _ => return Err("the client ended before its hello did"),
        }
    }
}

async fn refuse(session: &Session<'_>, name: Option<String>, why: &'static str) {
    session.report_refused(Kind::Tls, name, why);
    take_leave(session.client, &ACCESS_DENIED).await;
}

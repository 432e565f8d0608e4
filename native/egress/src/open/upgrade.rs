//! A connection that became a WebSocket, whose bytes are relayed unread.

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use std::sync::{Mutex, PoisonError};
use tokio::io::copy_bidirectional;

/// Both sides of a switch of protocols, from its response on.
#[derive(Default)]
pub struct Upgrade(Mutex<Option<(OnUpgrade, OnUpgrade)>>);

impl Upgrade {
    pub fn begin(&self, client: OnUpgrade, server: OnUpgrade) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((client, server));
    }

    /// Returns when both directions have ended; at once without a switch.
    pub async fn relay(&self) -> Option<()> {
        let sides = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (client, server) = sides?;
        let mut client = TokioIo::new(client.await.ok()?);
        let mut server = TokioIo::new(server.await.ok()?);
        copy_bidirectional(&mut client, &mut server).await.ok()?;
        Some(())
    }
}

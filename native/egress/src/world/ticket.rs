//! The place of an open connection, for as long as it lives.

use super::live::Live;
use super::state::{Refusal, World};
use std::net::Ipv4Addr;
use std::sync::Arc;

/// Its holder drops it after the sockets.
pub struct Ticket {
    pub live: Arc<Live>,
    world: Arc<World>,
}

impl Ticket {
    pub fn take(world: &Arc<World>, source: Ipv4Addr) -> Result<Ticket, Refusal> {
        let live = world.enter(source)?;
        Ok(Ticket {
            live,
            world: world.clone(),
        })
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.world.leave(&self.live);
        self.live.gone.raise();
    }
}

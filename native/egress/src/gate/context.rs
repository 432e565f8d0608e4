//! State that all connections of the gate share.

use super::pipes::Pipes;
use crate::events::Events;
use crate::open::Roots;
use crate::policy::Range;
use crate::world::World;
use std::net::Ipv4Addr;
use std::sync::Arc;

pub struct Gate {
    pub world: Arc<World>,
    pub events: Arc<Events>,
    pub pipes: Arc<Pipes>,
    /// Ranges that are not public.
    pub public_except: Arc<[Range]>,
    pub gateway: Ipv4Addr,
    /// TLS settings that check the servers of opened connections.
    pub roots: Roots,
}

impl Gate {
    pub fn new(
        world: Arc<World>,
        events: Arc<Events>,
        public_except: Arc<[Range]>,
        gateway: Ipv4Addr,
        roots: Roots,
    ) -> Arc<Gate> {
        Arc::new(Gate {
            world,
            events,
            pipes: Pipes::new(),
            public_except,
            gateway,
            roots,
        })
    }
}

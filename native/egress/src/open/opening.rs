//! Decides whether to open a connection, and takes its place among the opened ones.

use crate::secrets::Vault;
use crate::world::{Live, Place, World};
use std::sync::Arc;

pub struct Opening {
    pub name: String,
    pub owner: Arc<str>,
    pub vault: Arc<Vault>,
    _place: Place,
}

impl Opening {
    /// None where no secret is for this server: the connection stays unopened. Fails without a free place.
    pub fn of(
        world: &World,
        live: &Live,
        name: &str,
        port: u16,
    ) -> Option<Result<Opening, &'static str>> {
        let vault = world.vault(live).filter(|vault| vault.is_for(name, port))?;
        let (owner, sandbox) = world.sandbox_at(live.source)?;
        let Some(place) = world.opened.take(&owner, &sandbox) else {
            return Some(Err("too many connections with secrets"));
        };
        Some(Ok(Opening {
            name: name.to_owned(),
            owner,
            vault,
            _place: place,
        }))
    }
}

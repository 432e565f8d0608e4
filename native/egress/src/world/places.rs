//! Places that owners and their sandboxes divide, such as questions that wait for a resolver.

use crate::bounds::Share;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

pub struct Places {
    share: Share,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    total: usize,
    owners: HashMap<Arc<str>, usize>,
    sandboxes: HashMap<Arc<str>, usize>,
}

/// A place, which is given back when it is dropped.
pub struct Place {
    places: Arc<Places>,
    owner: Arc<str>,
    sandbox: Arc<str>,
}

impl Places {
    pub fn new(share: Share) -> Arc<Places> {
        Arc::new(Places {
            share,
            taken: Mutex::default(),
        })
    }

    /// None where the share of the sandbox, of its owner, or of all is used up.
    pub fn take(self: &Arc<Places>, owner: &Arc<str>, sandbox: &Arc<str>) -> Option<Place> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |counts: &HashMap<Arc<str>, usize>, key| counts.get(key).copied().unwrap_or(0);
        let has_room = taken.total < self.share.total
            && of(&taken.owners, owner) < self.share.per_owner
            && of(&taken.sandboxes, sandbox) < self.share.per_sandbox;
        if !has_room {
            return None;
        }
        taken.total += 1;
        *taken.owners.entry(owner.clone()).or_default() += 1;
        *taken.sandboxes.entry(sandbox.clone()).or_default() += 1;
        Some(Place {
            places: self.clone(),
            owner: owner.clone(),
            sandbox: sandbox.clone(),
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self
            .places
            .taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        taken.total -= 1;
        let taken = &mut *taken;
        for (counts, key) in [
            (&mut taken.owners, &self.owner),
            (&mut taken.sandboxes, &self.sandbox),
        ] {
            if let Some(count) = counts.get_mut(key) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(key);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sandboxes_owners_and_all_have_their_share() {
        let places = Places::new(Share {
            total: 5,
            per_owner: 3,
            per_sandbox: 2,
        });
        let take = |owner: &str, sandbox: &str| places.take(&owner.into(), &sandbox.into());
        let first = [take("o1", "s1"), take("o1", "s1"), take("o1", "s2")];
        assert!(first.iter().all(Option::is_some));
        assert!(take("o1", "s1").is_none());
        assert!(take("o1", "s3").is_none());
        let second = [take("o2", "s4"), take("o2", "s5")];
        assert!(second.iter().all(Option::is_some));
        assert!(take("o3", "s6").is_none());
        drop(first);
        assert!(take("o3", "s6").is_some());
        drop(second);
        let taken = places.taken.lock().unwrap();
        assert_eq!(
            (taken.total, taken.owners.len(), taken.sandboxes.len()),
            (0, 0, 0)
        );
    }
}

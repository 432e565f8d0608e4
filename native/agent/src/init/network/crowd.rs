//! Places of clients that have connected and are not authenticated yet. A new client always gets a place:
//! when all are taken, the network with the most loses its oldest, so a flood from one address displaces
//! itself and never the service.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::rc::Rc;
use tokio::sync::Notify;

pub struct Crowd {
    most: usize,
    groups: RefCell<HashMap<IpAddr, VecDeque<Rc<Notify>>>>,
}

/// Held until dropped.
pub struct Place {
    crowd: Rc<Crowd>,
    network: IpAddr,
    given_up: Rc<Notify>,
}

impl Crowd {
    pub fn new(most: usize) -> Rc<Self> {
        Rc::new(Self {
            most,
            groups: RefCell::default(),
        })
    }

    pub fn enter(self: &Rc<Self>, address: IpAddr) -> Place {
        if self.size() >= self.most {
            self.evict();
        }
        let network = network_of(address);
        let given_up = Rc::new(Notify::new());
        let mut groups = self.groups.borrow_mut();
        groups
            .entry(network)
            .or_default()
            .push_back(Rc::clone(&given_up));
        Place {
            crowd: Rc::clone(self),
            network,
            given_up,
        }
    }

    fn size(&self) -> usize {
        self.groups.borrow().values().map(VecDeque::len).sum()
    }

    fn evict(&self) {
        let mut groups = self.groups.borrow_mut();
        let largest = groups.values_mut().max_by_key(|group| group.len());
        if let Some(oldest) = largest.and_then(VecDeque::pop_front) {
            oldest.notify_one();
        }
    }
}

impl Place {
    /// Resolves when a newer client has taken this place.
    pub async fn taken(&self) {
        self.given_up.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut groups = self.crowd.groups.borrow_mut();
        if let Some(group) = groups.get_mut(&self.network) {
            group.retain(|other| !Rc::ptr_eq(other, &self.given_up));
            if group.is_empty() {
                groups.remove(&self.network);
            }
        }
    }
}

/// One address of IPv4, or a /64 of IPv6, since one machine may have all of it.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enter(crowd: &Rc<Crowd>, address: &str) -> Place {
        crowd.enter(address.parse().unwrap())
    }

    fn is_taken(place: &Place) -> bool {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            let now = std::time::Duration::ZERO;
            tokio::time::timeout(now, place.taken()).await.is_ok()
        })
    }

    #[test]
    fn the_network_with_most_gives_up_its_oldest() {
        let crowd = Crowd::new(3);
        let service = enter(&crowd, "10.0.0.1");
        let flood = [enter(&crowd, "10.0.0.9"), enter(&crowd, "10.0.0.9")];
        let newcomer = enter(&crowd, "10.0.0.9");
        assert_eq!(crowd.size(), 3);
        assert!(is_taken(&flood[0]));
        assert!(![&service, &flood[1], &newcomer].into_iter().any(is_taken));
    }

    #[test]
    fn a_place_is_free_again_once_it_is_dropped() {
        let crowd = Crowd::new(2);
        let first = enter(&crowd, "10.0.0.1");
        drop(enter(&crowd, "10.0.0.2"));
        let _third = enter(&crowd, "10.0.0.3");
        assert_eq!(crowd.size(), 2);
        assert!(!is_taken(&first));
        assert_eq!(crowd.groups.borrow().len(), 2);
    }

    #[test]
    fn an_evicted_place_counts_once() {
        let crowd = Crowd::new(1);
        let evicted = enter(&crowd, "10.0.0.1");
        let newcomer = enter(&crowd, "10.0.0.1");
        drop(evicted);
        assert_eq!(crowd.size(), 1);
        drop(newcomer);
        assert_eq!(crowd.size(), 0);
    }

    #[test]
    fn one_machine_is_one_network() {
        let of = |text: &str| network_of(text.parse().unwrap()).to_string();
        assert_eq!(of("10.1.2.3"), "10.1.2.3");
        assert_eq!(of("::ffff:10.1.2.3"), "10.1.2.3");
        assert_eq!(of("fd00:1:2:3:4:5:6:7"), "fd00:1:2:3::");
    }
}

//! `pin-namespaces [--gateway ADDRESS --host-mac MAC] SLOT…`, where a slot is `--uid-base N --user PATH --net PATH`, and
//! with a gateway `--link NAME --address ADDRESS --mac MAC` too.

mod folder;
mod link;
mod message;
mod namespaces;
mod netlink;
mod settings;
mod unpin;

use crate::failure::{Failure, Step, failed, usage};
use lexopt::prelude::*;
use link::{Gateway, Link, Mac, Network};
use namespaces::{ID_COUNT, Slot};
use netlink::Netlink;
use settings::Settings;
use std::net::Ipv4Addr;

pub use folder::make_own;
pub use namespaces::loopback_up;
pub use unpin::unpin;

/// The last id is reserved by the kernel (-1).
const ID_LIMIT: u64 = u32::MAX as u64;

/// Stops at the first slot that fails; the caller removes what earlier ones left.
pub fn pin(args: lexopt::Parser) -> Result<(), Failure> {
    let (gateway, slots) = parse(args)?;
    let mut network = match gateway {
        Some(gateway) => Some(Network {
            gateway,
            netlink: Netlink::open().step("open the network's socket")?,
        }),
        None => None,
    };
    let settings = Settings::open().step("open the network's settings")?;
    for slot in slots {
        namespaces::pin(&slot, &settings, network.as_mut())
            .map_err(|error| failed(format!("pin {}: {error}", slot.net)))?;
    }
    Ok(())
}

/// Options of one slot while they are read.
#[derive(Default)]
struct Values {
    uid_base: u64,
    user: Option<String>,
    net: Option<String>,
    link: Option<String>,
    address: Option<Ipv4Addr>,
    mac: Option<Mac>,
}

fn parse(mut args: lexopt::Parser) -> Result<(Option<Gateway>, Vec<Slot>), Failure> {
    let (mut gateway, mut host_mac) = (None, None);
    let mut slots: Vec<Values> = Vec::new();
    while let Some(argument) = args.next()? {
        let Long(name) = argument else {
            return Err(argument.unexpected().into());
        };
        let name = name.to_owned();
        match (name.as_str(), slots.last_mut()) {
            ("gateway", _) => gateway = Some(args.value()?.parse()?),
            ("host-mac", _) => host_mac = Some(args.value()?.parse_with(parse_mac)?),
            ("uid-base", _) => slots.push(Values {
                uid_base: args.value()?.parse()?,
                ..Values::default()
            }),
            ("user", Some(slot)) => slot.user = Some(args.value()?.string()?),
            ("net", Some(slot)) => slot.net = Some(args.value()?.string()?),
            ("link", Some(slot)) => slot.link = Some(args.value()?.string()?),
            ("address", Some(slot)) => slot.address = Some(args.value()?.parse()?),
            ("mac", Some(slot)) => slot.mac = Some(args.value()?.parse_with(parse_mac)?),
            _ => return Err(usage(&format!("unexpected --{name}"))),
        }
    }
    let gateway = match (gateway, host_mac) {
        (Some(address), Some(mac)) => Some(Gateway { address, mac }),
        (None, None) => None,
        _ => return Err(usage("expected --gateway and --host-mac, or neither")),
    };
    let slots: Result<_, _> = slots
        .into_iter()
        .map(|values| slot_of(values, gateway.is_some()))
        .collect();
    Ok((gateway, slots?))
}

fn slot_of(values: Values, linked: bool) -> Result<Slot, Failure> {
    let Values { uid_base, .. } = values;
    if !(ID_COUNT..=ID_LIMIT - ID_COUNT).contains(&uid_base) {
        return Err(usage(&format!("--uid-base {uid_base} is out of range")));
    }
    let (Some(user), Some(net)) = (values.user, values.net) else {
        return Err(usage("expected --user and --net of each slot"));
    };
    let link = match (linked, values.link, values.address, values.mac) {
        (true, Some(name), Some(address), Some(mac)) => Some(Link { name, address, mac }),
        (false, None, None, None) => None,
        _ => {
            return Err(usage(
                "expected --link, --address and --mac of each slot with a gateway alone",
            ));
        }
    };
    Ok(Slot {
        uid_base,
        user,
        net,
        link,
    })
}

fn parse_mac(text: &str) -> Result<Mac, &'static str> {
    let bytes: Option<Vec<u8>> = text
        .split(':')
        .map(|part| (part.len() == 2).then(|| u8::from_str_radix(part, 16).ok())?)
        .collect();
    bytes
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or("not a MAC address")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<(Option<Gateway>, Vec<Slot>), Failure> {
        parse(lexopt::Parser::from_args(text.split_whitespace()))
    }

    #[test]
    fn a_slot_has_a_link_when_there_is_a_gateway() {
        let (gateway, slots) = parsed(
            "--gateway 10.213.0.1 --host-mac 02:53:48:00:00:01 \
             --uid-base 265536 --user u --net n --link sh-1 --address 10.213.0.2 --mac 02:53:48:01:00:0f",
        )
        .ok()
        .unwrap();
        assert_eq!(gateway.unwrap().mac, [2, 0x53, 0x48, 0, 0, 1]);
        let link = slots[0].link.as_ref().unwrap();
        assert_eq!(
            (link.name.as_str(), link.address),
            ("sh-1", Ipv4Addr::new(10, 213, 0, 2))
        );
        assert_eq!(link.mac, [2, 0x53, 0x48, 1, 0, 15]);
        let (gateway, slots) =
            parsed("--uid-base 265536 --user u --net n --uid-base 331072 --user v --net m")
                .ok()
                .unwrap();
        assert!(gateway.is_none());
        assert_eq!(
            slots.iter().map(|slot| slot.uid_base).collect::<Vec<_>>(),
            [265_536, 331_072]
        );
        assert!(slots.iter().all(|slot| slot.link.is_none()));
    }

    #[test]
    fn half_of_a_slot_is_refused() {
        for text in [
            "--user u --net n",
            "--uid-base 265536 --user u",
            "--uid-base 1 --user u --net n",
            "--uid-base 4294967295 --user u --net n",
            "--uid-base 265536 --user u --net n --link sh-1",
            "--gateway 10.213.0.1 --host-mac 02:53:48:00:00:01 --uid-base 265536 --user u --net n",
            "--gateway 10.213.0.1 --uid-base 265536 --user u --net n",
            "--gateway 10.213.0.1 --host-mac 2:53:48:00:00:01",
            "--uid-base 265536 --user u --net n --other 1",
        ] {
            assert!(parsed(text).is_err(), "{text}");
        }
    }
}

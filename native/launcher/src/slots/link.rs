//! The link of a slot: a pair of interfaces, one of the host and one of the machine, with the route between them.
//!
//! Both ends have fixed MAC addresses and know each other's: no ARP, so neither a forged answer nor a host set to
//! ignore requests matters, and udev does not rename them.

use super::message::Message;
use super::netlink::Netlink;
use super::settings::Settings;
use std::ffi::CString;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};

pub type Mac = [u8; 6];

/// The machine's interface, in its own namespace.
const MACHINE_LINK: &str = "eth0";
const HOST_BITS: u8 = 32;
const NEW: u16 = (libc::NLM_F_CREATE | libc::NLM_F_EXCL) as u16;

// Of linux/veth.h; libc has no name for it.
const VETH_INFO_PEER: u16 = 1;

/// The host's side, which all links share.
pub struct Network {
    pub gateway: Gateway,
    pub netlink: Netlink,
}

/// The host's part of all links.
pub struct Gateway {
    pub address: Ipv4Addr,
    pub mac: Mac,
}

pub struct Link {
    /// Name of the host's end.
    pub name: String,
    pub address: Ipv4Addr,
    /// MAC address of the machine's end.
    pub mac: Mac,
}

/// Makes both ends, and the host's route to the machine's address. Runs in the host's namespace.
pub fn make_host_end(
    Network { gateway, netlink }: &mut Network,
    settings: &Settings,
    link: &Link,
    machine: &OwnedFd,
) -> io::Result<()> {
    netlink.ask(pair(gateway, link, machine))?;
    if settings.has("ipv6") {
        // With it, each link would have a route of its own, and the kernel would go through all of them when
        // one is removed.
        settings.set(&format!("ipv6/conf/{}/disable_ipv6", link.name), "1")?;
    }
    netlink.ask(up(&link.name))?;
    let index = index_of(&link.name)?;
    netlink.ask(
        route(link.address, HOST_BITS, index, libc::RT_SCOPE_LINK)
            .attribute(libc::RTA_PREFSRC, &gateway.address.octets()),
    )?;
    netlink.ask(neighbour(link.address, link.mac, index))?;
    settings.set(&format!("ipv4/conf/{}/forwarding", link.name), "1")
}

/// Puts a link of the host into a group of links.
pub fn in_group(name: &str, group: u32) -> Message {
    Message::new(libc::RTM_NEWLINK, 0, &interface(0, 0))
        .attribute(libc::IFLA_IFNAME, &text(name))
        .attribute(libc::IFLA_GROUP, &group.to_ne_bytes())
}

/// Removes one link.
pub fn without(name: &str) -> Message {
    Message::new(libc::RTM_DELLINK, 0, &interface(0, 0)).attribute(libc::IFLA_IFNAME, &text(name))
}

/// Removes all links of a group.
pub fn without_group(group: u32) -> Message {
    Message::new(libc::RTM_DELLINK, 0, &interface(0, 0))
        .attribute(libc::IFLA_GROUP, &group.to_ne_bytes())
}

/// Sets the machine's address and default route. Runs in the machine's namespace.
pub fn make_machine_end(gateway: &Gateway, address: Ipv4Addr) -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    let index = index_of(MACHINE_LINK)?;
    netlink.ask(up(MACHINE_LINK))?;
    netlink.ask(own_address(address, index))?;
    netlink.ask(neighbour(gateway.address, gateway.mac, index))?;
    netlink.ask(route(
        gateway.address,
        HOST_BITS,
        index,
        libc::RT_SCOPE_LINK,
    ))?;
    netlink.ask(
        route(Ipv4Addr::UNSPECIFIED, 0, index, libc::RT_SCOPE_UNIVERSE)
            .attribute(libc::RTA_GATEWAY, &gateway.address.octets()),
    )
}

fn pair(gateway: &Gateway, link: &Link, machine: &OwnedFd) -> Message {
    let namespace = machine.as_raw_fd() as u32;
    Message::new(libc::RTM_NEWLINK, NEW, &interface(0, 0))
        .attribute(libc::IFLA_IFNAME, &text(&link.name))
        .attribute(libc::IFLA_ADDRESS, &gateway.mac)
        .nested(libc::IFLA_LINKINFO, &[], |info| {
            info.attribute(libc::IFLA_INFO_KIND, b"veth").nested(
                libc::IFLA_INFO_DATA,
                &[],
                |data| {
                    data.nested(VETH_INFO_PEER, &interface(0, 0), |peer| {
                        peer.attribute(libc::IFLA_IFNAME, &text(MACHINE_LINK))
                            .attribute(libc::IFLA_ADDRESS, &link.mac)
                            .attribute(libc::IFLA_NET_NS_FD, &namespace.to_ne_bytes())
                    })
                },
            )
        })
}

fn up(name: &str) -> Message {
    let flag = libc::IFF_UP as u32;
    Message::new(libc::RTM_NEWLINK, 0, &interface(flag, flag))
        .attribute(libc::IFLA_IFNAME, &text(name))
}

fn own_address(address: Ipv4Addr, index: u32) -> Message {
    let mut fixed = vec![libc::AF_INET as u8, HOST_BITS, 0, libc::RT_SCOPE_UNIVERSE];
    fixed.extend(index.to_ne_bytes());
    Message::new(libc::RTM_NEWADDR, NEW, &fixed)
        .attribute(libc::IFA_LOCAL, &address.octets())
        .attribute(libc::IFA_ADDRESS, &address.octets())
}

fn route(to: Ipv4Addr, bits: u8, index: u32, scope: u8) -> Message {
    let family = libc::AF_INET as u8;
    let table = libc::RT_TABLE_MAIN;
    let fixed = [
        [family, bits, 0, 0],
        [table, libc::RTPROT_BOOT, scope, libc::RTN_UNICAST],
        [0; 4],
    ]
    .concat();
    let message = Message::new(libc::RTM_NEWROUTE, NEW, &fixed)
        .attribute(libc::RTA_OIF, &index.to_ne_bytes());
    match bits {
        0 => message,
        _ => message.attribute(libc::RTA_DST, &to.octets()),
    }
}

fn neighbour(address: Ipv4Addr, mac: Mac, index: u32) -> Message {
    let mut fixed = vec![libc::AF_INET as u8, 0, 0, 0];
    fixed.extend(index.to_ne_bytes());
    fixed.extend(libc::NUD_PERMANENT.to_ne_bytes());
    fixed.extend([0, libc::RTN_UNICAST]);
    Message::new(libc::RTM_NEWNEIGH, NEW, &fixed)
        .attribute(libc::NDA_DST, &address.octets())
        .attribute(libc::NDA_LLADDR, &mac)
}

/// An ifinfomsg without an index: the interface is new, or named by an attribute.
fn interface(flags: u32, change: u32) -> Vec<u8> {
    let mut fixed = vec![0; 8];
    fixed.extend(flags.to_ne_bytes());
    fixed.extend(change.to_ne_bytes());
    fixed
}

fn text(name: &str) -> Vec<u8> {
    [name.as_bytes(), b"\0"].concat()
}

fn index_of(name: &str) -> io::Result<u32> {
    let name = CString::new(name)?;
    // SAFETY: the name is a terminated string that outlives the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}

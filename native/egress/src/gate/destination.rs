//! The original destination of a connection, and the check that sandboxes may reach it at all.

use super::context::Gate;
use std::io::{Error, ErrorKind, Result};
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use tokio::net::TcpStream;

const SO_ORIGINAL_DST: libc::c_int = 80;

/// The destination that the client's packets had before the firewall redirected them.
pub fn original(client: &TcpStream) -> Result<SocketAddrV4> {
    // SAFETY: zeros are a value of this plain struct of numbers.
    let mut address: libc::sockaddr_in = unsafe { zeroed() };
    let mut length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes, and `address` has that many; both outlive the call.
    let status = unsafe {
        libc::getsockopt(
            client.as_raw_fd(),
            libc::SOL_IP,
            SO_ORIGINAL_DST,
            (&raw mut address).cast(),
            &raw mut length,
        )
    };
    if status != 0 {
        return Err(Error::last_os_error());
    }
    let ip = Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
    Ok(SocketAddrV4::new(ip, u16::from_be(address.sin_port)))
}

/// True for a public address of another computer. The program connects from the host, and no firewall keeps
/// it from the host's own addresses, public ones included.
pub fn is_reachable(gate: &Gate, address: Ipv4Addr) -> bool {
    let is_public = !gate
        .public_except
        .iter()
        .any(|range| range.contains(address));
    is_public && address != gate.gateway && is_unicast(address).unwrap_or(false)
}

/// Asks the kernel for the type of the route to an address.
fn is_unicast(address: Ipv4Addr) -> Result<bool> {
    const REQUEST_BYTES: usize = size_of::<libc::nlmsghdr>() + ROUTE_BYTES + ATTRIBUTE_BYTES;
    const ROUTE_BYTES: usize = 12;
    const ATTRIBUTE_BYTES: usize = 8;
    const TYPE: usize = size_of::<libc::nlmsghdr>() + 7;
    let mut request = Vec::with_capacity(REQUEST_BYTES);
    request.extend((REQUEST_BYTES as u32).to_ne_bytes());
    request.extend(libc::RTM_GETROUTE.to_ne_bytes());
    request.extend((libc::NLM_F_REQUEST as u16).to_ne_bytes());
    request.extend([0; 8]);
    // Family, and the length of the destination in bits; the kernel fills in the rest.
    request.extend([libc::AF_INET as u8, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    request.extend((ATTRIBUTE_BYTES as u16).to_ne_bytes());
    request.extend(libc::RTA_DST.to_ne_bytes());
    request.extend(address.octets());
    let answer = ask_kernel(&request)?;
    let kind = answer.get(4..6).ok_or(ErrorKind::InvalidData)?;
    let is_route = kind == libc::RTM_NEWROUTE.to_ne_bytes();
    Ok(is_route && answer.get(TYPE) == Some(&libc::RTN_UNICAST))
}

/// The kernel answers before the sending call returns.
fn ask_kernel(request: &[u8]) -> Result<Vec<u8>> {
    // SAFETY: takes numbers. The descriptor is nobody else's.
    let socket = unsafe {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        let number = libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE);
        if number < 0 {
            return Err(Error::last_os_error());
        }
        OwnedFd::from_raw_fd(number)
    };
    let mut answer = vec![0; 4096];
    // SAFETY: the buffers outlive the calls, which get their lengths.
    let length = unsafe {
        let number = socket.as_raw_fd();
        if libc::send(number, request.as_ptr().cast(), request.len(), 0) < 0 {
            return Err(Error::last_os_error());
        }
        libc::recv(number, answer.as_mut_ptr().cast(), answer.len(), 0)
    };
    answer.truncate(usize::try_from(length).map_err(|_| Error::last_os_error())?);
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_this_host_is_not_reachable() {
        assert!(!is_unicast(Ipv4Addr::LOCALHOST).unwrap());
        assert!(!is_unicast(Ipv4Addr::BROADCAST).unwrap_or(false));
    }
}

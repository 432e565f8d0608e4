//! Resolves names for connections that leave the sandbox. The C library's resolver would load libraries of
//! the sandbox into this process, so the agent itself reads the hosts file, then asks the name servers of
//! resolv.conf.

use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::timeout;

use crate::files::location::Path;
use crate::files::reading::regular::open_regular;
use crate::init::workers::Workers;
use crate::wire::fault::{Code, Fault};
use crate::wire::resource::Resource;

const MAX_NAME_BYTES: usize = 253;
const MAX_FILE_BYTES: u64 = 64 << 10;
const MAX_SERVERS: usize = 3;
const MAX_ADDRESSES: usize = 8;
const ANSWER_BYTES: usize = 4096;
const PATIENCE: Duration = Duration::from_secs(3);
const DNS_PORT: u16 = 53;
const TYPE_A: u16 = 1;
const CLASS_IN: u16 = 1;

/// Returns at least one address, of IPv4 alone: nothing else leaves a sandbox.
pub async fn resolve(workers: &Workers, host: &str) -> Result<Vec<IpAddr>, Fault> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![address]);
    }
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let query = query(&name).ok_or_else(|| unknown(&name))?;
    if name == "localhost" || name.ends_with(".localhost") {
        return Ok(vec![Ipv4Addr::LOCALHOST.into()]);
    }
    let wanted = name.clone();
    let (known, servers) = workers
        .short(move || {
            Ok((
                in_hosts_file(&read_config("/etc/hosts"), &wanted),
                name_servers(&read_config("/etc/resolv.conf")),
            ))
        })
        .await?;
    if !known.is_empty() {
        return Ok(known);
    }
    for server in servers {
        if let Ok(Ok(addresses)) = timeout(PATIENCE, ask(server, &query)).await {
            return if addresses.is_empty() {
                Err(unknown(&name))
            } else {
                Ok(addresses)
            };
        }
    }
    Err(Fault::new(
        Code::FailedPrecondition,
        "No name server answers inside the sandbox.",
    ))
}

fn unknown(name: &str) -> Fault {
    let shown: String = name.chars().take(MAX_NAME_BYTES).collect();
    Fault::not_found(Resource::Host, format!("There is no host '{shown}'."))
}

async fn ask(server: SocketAddr, query: &[u8]) -> std::io::Result<Vec<IpAddr>> {
    let local: SocketAddr = if server.is_ipv4() {
        (Ipv4Addr::UNSPECIFIED, 0).into()
    } else {
        (std::net::Ipv6Addr::UNSPECIFIED, 0).into()
    };
    let socket = UdpSocket::bind(local).await?;
    socket.connect(server).await?;
    let mut id = [0u8; 2];
    let _ = rustix::rand::getrandom(&mut id, rustix::rand::GetRandomFlags::empty());
    let mut question = query.to_vec();
    question[..2].copy_from_slice(&id);
    socket.send(&question).await?;
    let mut answer = vec![0; ANSWER_BYTES];
    loop {
        let length = socket.recv(&mut answer).await?;
        if answer.get(..2) == Some(&id) && length > 2 {
            return Ok(addresses(&answer[..length]).unwrap_or_default());
        }
    }
}

/// None for an invalid name.
fn query(name: &str) -> Option<Vec<u8>> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return None;
    }
    // Id, "recursion desired", one question.
    let mut query = vec![0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        let length = u8::try_from(label.len())
            .ok()
            .filter(|&l| (1..64).contains(&l))?;
        query.push(length);
        query.extend_from_slice(label.as_bytes());
    }
    query.push(0);
    query.extend_from_slice(&TYPE_A.to_be_bytes());
    query.extend_from_slice(&CLASS_IN.to_be_bytes());
    Some(query)
}

/// Returns every address of the answer section, whichever alias it belongs to. None when the message is truncated.
fn addresses(message: &[u8]) -> Option<Vec<IpAddr>> {
    let questions = number(message, 4)?;
    let answers = number(message, 6)?;
    let mut at = 12;
    for _ in 0..questions {
        at = after_name(message, at)? + 4;
    }
    let mut found = Vec::new();
    for _ in 0..answers {
        at = after_name(message, at)?;
        let (kind, class) = (number(message, at)?, number(message, at + 2)?);
        let length = usize::from(number(message, at + 8)?);
        let data = message.get(at + 10..at + 10 + length)?;
        if let (TYPE_A, CLASS_IN, &[a, b, c, d]) = (kind, class, data)
            && found.len() < MAX_ADDRESSES
        {
            found.push(Ipv4Addr::new(a, b, c, d).into());
        }
        at += 10 + length;
    }
    Some(found)
}

fn after_name(message: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *message.get(at)? {
            0 => return Some(at + 1),
            // A pointer ends a name.
            length if length & 0xc0 == 0xc0 => return Some(at + 2),
            length if length & 0xc0 == 0 => at += 1 + usize::from(length),
            _ => return None,
        }
    }
}

fn number(message: &[u8], at: usize) -> Option<u16> {
    let bytes = message.get(at..at + 2)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

/// Reads a file up to its bound. A missing or irregular file counts as empty.
fn read_config(path: &'static str) -> String {
    let mut bytes = Vec::new();
    if let Ok(file) = Path::of_system(path).and_then(|path| open_regular(&path)) {
        let _ = file.take(MAX_FILE_BYTES).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn in_hosts_file(text: &str, name: &str) -> Vec<IpAddr> {
    entries(text)
        .filter(|words| {
            words
                .iter()
                .skip(1)
                .any(|word| word.eq_ignore_ascii_case(name))
        })
        .filter_map(|words| words.first()?.parse().ok())
        .take(MAX_ADDRESSES)
        .collect()
}

fn name_servers(text: &str) -> Vec<SocketAddr> {
    entries(text)
        .filter_map(|words| match words[..] {
            ["nameserver", address, ..] => Some((address.parse::<IpAddr>().ok()?, DNS_PORT).into()),
            _ => None,
        })
        .take(MAX_SERVERS)
        .collect()
}

fn entries(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines()
        .map(|line| line.split(['#', ';']).next().unwrap_or(""))
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_hosts_file_whatever_their_case() {
        let text = "127.0.0.1 localhost\n10.213.0.2\tbox  Alias # other\n::1 six\nnonsense box\n";
        assert_eq!(
            in_hosts_file(text, "alias"),
            ["10.213.0.2".parse::<IpAddr>().unwrap()]
        );
        assert_eq!(
            in_hosts_file(text, "six"),
            ["::1".parse::<IpAddr>().unwrap()]
        );
        assert!(in_hosts_file(text, "other").is_empty());
    }

    #[test]
    fn name_servers_are_read() {
        let text = "search x\nnameserver 10.0.0.1\n#nameserver 10.0.0.2\nnameserver fe80::1%eth0\n";
        assert_eq!(
            name_servers(text),
            ["10.0.0.1:53".parse::<SocketAddr>().unwrap()]
        );
    }

    #[test]
    fn questions_are_well_formed() {
        let asked = query("a.example").unwrap();
        assert_eq!(&asked[12..], b"\x01a\x07example\0\0\x01\0\x01");
        for wrong in ["", "a..b", &"x".repeat(64), &"x.".repeat(200)] {
            assert!(query(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn addresses_are_found_behind_aliases() {
        let mut answer = query("a.b").unwrap();
        answer[7] = 2;
        answer.extend(b"\xc0\x0c\0\x05\0\x01\0\0\0\x3c\0\x02\xc0\x0e");
        answer.extend(b"\xc0\x0e\0\x01\0\x01\0\0\0\x3c\0\x04\x01\x02\x03\x04");
        assert_eq!(
            addresses(&answer).unwrap(),
            ["1.2.3.4".parse::<IpAddr>().unwrap()]
        );
        for cut in 0..answer.len() {
            assert!(addresses(&answer[..cut]).is_none_or(|found| found.is_empty()));
        }
    }

    #[test]
    fn a_hostile_answer_ends() {
        proptest::proptest!(|(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..600))| {
            let _ = addresses(&bytes);
        });
    }
}

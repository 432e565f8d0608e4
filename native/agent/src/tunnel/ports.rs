//! The operation `ports`: lists the programs that listen for TCP inside. Ports come from the kernel's tables,
//! the rest from the processes that hold the sockets.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use super::owners::{self, Owner};
use crate::init::context::Context;
use crate::init::workers::Cancelled;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;

const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// Most bytes read of a table: the kernel lists listening sockets first.
const MAX_TABLE_BYTES: u64 = 16 << 20;
/// Ports with their process; further ones come without it, so that all fit into one reply.
const MAX_DESCRIBED: usize = 1_024;
const LISTEN: &[u8] = b"0A";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
}

#[derive(Serialize)]
struct ListeningPort {
    port: u16,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
}

pub async fn answer(connection: &mut Connection, context: &Context, _request: Request) -> Outcome {
    let own = context.entrance_inode;
    let work = context
        .workers
        .long(move |cancelled: &Cancelled| listening(own, cancelled));
    let ports = connection.unless_closed(work).await?;
    connection
        .reply(&serde_json::json!({ "ports": ports }))
        .await
}

/// @param own Inode of the agent's own socket, which is not a port of the sandbox.
fn listening(own: Option<u64>, cancelled: &Cancelled) -> Result<Vec<ListeningPort>, Fault> {
    let mut sockets = Vec::new();
    for table in TABLES {
        // A kernel without IPv6 has no second table.
        if let Ok(file) = File::open(table) {
            read_table(BufReader::new(file.take(MAX_TABLE_BYTES)), &mut sockets);
        }
    }
    sockets.retain(|(_, inode)| Some(*inode) != own);
    let owners = owners::owners_of(sockets.iter().map(|(_, inode)| *inode), cancelled)?;
    let mut ports: BTreeMap<u16, Option<&Owner>> = BTreeMap::new();
    for (port, inode) in sockets {
        let owner = ports.entry(port).or_default();
        *owner = owner.or_else(|| owners.get(&inode));
    }
    Ok(ports
        .into_iter()
        .enumerate()
        .map(|(at, (port, owner))| describe(port, owner, at < MAX_DESCRIBED))
        .collect())
}

fn describe(port: u16, owner: Option<&Owner>, whole: bool) -> ListeningPort {
    ListeningPort {
        port,
        name: owner.map(|owner| owner.name.clone()).unwrap_or_default(),
        pid: owner.filter(|_| whole).map(|owner| owner.pid),
        command: owner
            .filter(|_| whole)
            .and_then(|owner| owner.command.clone()),
    }
}

/// Port and inode of each listening socket.
fn read_table(mut table: impl BufRead, sockets: &mut Vec<(u16, u64)>) {
    let mut line = Vec::new();
    while matches!(table.read_until(b'\n', &mut line), Ok(length) if length > 0) {
        sockets.extend(parse_line(&line));
        line.clear();
    }
}

/// `sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …`, addresses and state in hex.
fn parse_line(line: &[u8]) -> Option<(u16, u64)> {
    let line = std::str::from_utf8(line).ok()?;
    let mut fields = line.split_ascii_whitespace();
    let (_, port) = fields.nth(1)?.rsplit_once(':')?;
    if fields.nth(1)?.as_bytes() != LISTEN {
        return None;
    }
    let inode = fields.nth(5)?.parse().ok()?;
    Some((u16::from_str_radix(port, 16).ok()?, inode))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TCP: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 25514 1 00000000ab 100 0 0 10 0
   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 18422 1 00000000cd 100 0 0 10 0
   2: 0100007F:C3A2 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 31337 1 00000000ef 20 4 30 10 -1
";
    const TCP6: &str = "  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000001000000:1538 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000   999        0 55123 1 000000ab 100 0 0 10 0
";

    fn parse(table: &str) -> Vec<(u16, u64)> {
        let mut sockets = Vec::new();
        read_table(table.as_bytes(), &mut sockets);
        sockets
    }

    #[test]
    fn listening_sockets_of_either_family_are_found() {
        assert_eq!(parse(TCP), [(8080, 25514), (22, 18422)]);
        assert_eq!(parse(TCP6), [(5432, 55123)]);
    }

    #[test]
    fn a_port_beyond_the_described_ones_has_its_name_alone() {
        let owner = Owner {
            pid: 7,
            name: "nginx".into(),
            command: Some("nginx -g x".into()),
        };
        let json = |whole| serde_json::to_value(describe(80, Some(&owner), whole)).unwrap();
        assert_eq!(
            json(true),
            serde_json::json!({ "port": 80, "name": "nginx", "pid": 7, "command": "nginx -g x" })
        );
        assert_eq!(
            json(false),
            serde_json::json!({ "port": 80, "name": "nginx" })
        );
        assert_eq!(
            serde_json::to_value(describe(80, None, true)).unwrap(),
            serde_json::json!({ "port": 80, "name": "" })
        );
    }

    #[test]
    fn lines_that_are_none_are_passed_over() {
        assert_eq!(parse(""), []);
        assert_eq!(
            parse("0: x y 0A 0 0 0 0 0 1\n0: 0:10000 0:0 0A 0 0 0 0 0 1\n0: 0:1 0:0 0A\n"),
            []
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn no_line_breaks_the_parser(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_line(&line);
        }
    }
}

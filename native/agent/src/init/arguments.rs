//! The command line of PID 1.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::network::door::Settings;

const USAGE: &str = "usage: sandhaven-agent --sandbox-id ID --generation N \
                     [--listen tls://ADDRESS:PORT --tls-dir FOLDER --service URI [--root-disk FOLDER | --carry FOLDER]]";

#[derive(Debug)]
pub struct Identity {
    pub sandbox_id: String,
    pub generation: u64,
}

#[derive(Debug)]
pub struct Arguments {
    pub identity: Identity,
    /// None where the host connects through descriptor 3.
    pub network: Option<Settings>,
    /// Mount of the disk that keeps the root, where this agent makes its machine of a container.
    pub root_disk: Option<PathBuf>,
    /// Mount of the disk that this agent carries, instead of running a sandbox.
    pub carried: Option<PathBuf>,
}

impl Arguments {
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut given = Given::default();
        while let Some(name) = arguments.next() {
            let place = given
                .place(&name)
                .ok_or_else(|| format!("unknown argument {name}"))?;
            let value = arguments.next();
            *place = Some(value.ok_or_else(|| format!("{name} needs a value"))?);
        }
        given.check().ok_or_else(|| USAGE.to_owned())
    }
}

/// Options as they were given.
#[derive(Default)]
struct Given {
    sandbox_id: Option<String>,
    generation: Option<String>,
    listen: Option<String>,
    tls_dir: Option<String>,
    service: Option<String>,
    root_disk: Option<String>,
    carry: Option<String>,
}

impl Given {
    fn place(&mut self, name: &str) -> Option<&mut Option<String>> {
        match name {
            "--sandbox-id" => Some(&mut self.sandbox_id),
            "--generation" => Some(&mut self.generation),
            "--listen" => Some(&mut self.listen),
            "--tls-dir" => Some(&mut self.tls_dir),
            "--service" => Some(&mut self.service),
            "--root-disk" => Some(&mut self.root_disk),
            "--carry" => Some(&mut self.carry),
            _ => None,
        }
    }

    fn check(self) -> Option<Arguments> {
        let identity = Identity {
            sandbox_id: self.sandbox_id?,
            generation: self.generation?.parse().ok()?,
        };
        let network = match (self.listen, self.tls_dir, self.service) {
            (None, None, None) => None,
            (Some(listen), Some(folder), Some(service)) => Some(Settings {
                address: address_of(&listen)?,
                folder: PathBuf::from(folder),
                identity: identity.uri(),
                service,
            }),
            _ => return None,
        };
        // Only an agent on a network gives up the rights that making a machine takes.
        let folders = [&self.root_disk, &self.carry].into_iter().flatten();
        if folders.count() > usize::from(network.is_some()) {
            return None;
        }
        Some(Arguments {
            identity,
            network,
            root_disk: self.root_disk.map(PathBuf::from),
            carried: self.carry.map(PathBuf::from),
        })
    }
}

impl Identity {
    /// URI of this sandbox and generation, as in the certificate.
    fn uri(&self) -> String {
        format!(
            "sandhaven://sandbox/{}/{}",
            self.sandbox_id, self.generation
        )
    }
}

fn address_of(url: &str) -> Option<SocketAddr> {
    url.strip_prefix("tls://")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::parse(line.split_ascii_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_socket_by_descriptor_needs_no_more_than_an_identity() {
        let arguments = parse("--sandbox-id sb_a --generation 7").unwrap();
        assert_eq!(arguments.identity.generation, 7);
        assert!(arguments.network.is_none());
    }

    #[test]
    fn a_network_needs_address_folder_and_service() {
        let all = "--sandbox-id sb_a --generation 7 --listen tls://[::]:7400 --tls-dir /run/tls \
                   --service sandhaven://service/abc";
        let arguments = parse(all).unwrap();
        assert!(arguments.root_disk.is_none());
        let network = arguments.network.unwrap();
        assert_eq!(network.address.to_string(), "[::]:7400");
        assert_eq!(network.folder.to_str(), Some("/run/tls"));
        assert_eq!(network.identity, "sandhaven://sandbox/sb_a/7");
        assert_eq!(network.service, "sandhaven://service/abc");
    }

    #[test]
    fn a_carrier_is_reached_over_a_network_and_is_no_sandbox() {
        let all = "--sandbox-id sb_a --generation 7 --carry /disk";
        assert_eq!(parse(all).unwrap_err(), USAGE);
        let network =
            "--listen tls://[::]:7400 --tls-dir /run/tls --service sandhaven://service/abc";
        let carried = parse(&format!("{all} {network}")).unwrap().carried.unwrap();
        assert_eq!(carried.to_str(), Some("/disk"));
        let both = parse(&format!("{all} {network} --root-disk /disk"));
        assert_eq!(both.unwrap_err(), USAGE);
    }

    #[test]
    fn a_disk_for_the_root_goes_with_a_network() {
        let network =
            "--listen tls://[::]:7400 --tls-dir /run/tls --service sandhaven://service/abc";
        let line = format!("--sandbox-id sb_a --generation 7 {network} --root-disk /disk");
        let disk = parse(&line).unwrap().root_disk.unwrap();
        assert_eq!(disk.to_str(), Some("/disk"));
    }

    #[test]
    fn what_is_half_given_or_unknown_is_refused() {
        for (line, expected) in [
            ("--sandbox-id sb_a", USAGE),
            ("--sandbox-id sb_a --generation x", USAGE),
            (
                "--sandbox-id sb_a --generation 7 --listen tls://0.0.0.0:1",
                USAGE,
            ),
            (
                "--sandbox-id sb_a --generation 7 --listen 0.0.0.0:1 --tls-dir /a --service b",
                USAGE,
            ),
            ("--sandbox-id sb_a --generation 7 --root-disk /disk", USAGE),
            ("--sandbox-id", "--sandbox-id needs a value"),
            ("--port 1", "unknown argument --port"),
        ] {
            assert_eq!(parse(line).unwrap_err(), expected, "{line}");
        }
    }
}

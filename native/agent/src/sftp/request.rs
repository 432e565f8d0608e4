//! The requests of a client.

use super::attributes::Attributes;
use super::fields::{Fields, Malformed};

pub const INIT: u8 = 1;

/// Names are bytes; a handle is the string that the server gave.
#[derive(Debug, PartialEq, Eq)]
pub enum Request<'a> {
    Open {
        path: &'a [u8],
        flags: u32,
        attributes: Attributes,
    },
    Close {
        handle: &'a [u8],
    },
    Read {
        handle: &'a [u8],
        offset: u64,
        length: u32,
    },
    Write {
        handle: &'a [u8],
        offset: u64,
        data: &'a [u8],
    },
    Stat {
        path: &'a [u8],
        follow: bool,
    },
    StatHandle {
        handle: &'a [u8],
    },
    Set {
        path: &'a [u8],
        attributes: Attributes,
        follow: bool,
    },
    SetHandle {
        handle: &'a [u8],
        attributes: Attributes,
    },
    OpenFolder {
        path: &'a [u8],
    },
    ReadFolder {
        handle: &'a [u8],
    },
    Remove {
        path: &'a [u8],
    },
    MakeFolder {
        path: &'a [u8],
        attributes: Attributes,
    },
    RemoveFolder {
        path: &'a [u8],
    },
    RealPath {
        path: &'a [u8],
        /// `~` at its start is a home folder.
        expand: bool,
    },
    Rename {
        from: &'a [u8],
        to: &'a [u8],
        replace: bool,
    },
    ReadLink {
        path: &'a [u8],
    },
    SymbolicLink {
        target: &'a [u8],
        path: &'a [u8],
    },
    HardLink {
        from: &'a [u8],
        to: &'a [u8],
    },
    Sync {
        handle: &'a [u8],
    },
    FileSystem {
        path: &'a [u8],
    },
    FileSystemOfHandle {
        handle: &'a [u8],
    },
    Limits,
    Unknown,
}

impl<'a> Request<'a> {
    /// Returns the packet's number and its request. A packet without a number cannot be answered.
    pub fn parse(packet: &'a [u8]) -> Result<(u32, Result<Self, Malformed>), Malformed> {
        let mut fields = Fields(packet);
        let kind = fields.byte()?;
        let id = fields.u32()?;
        Ok((id, Self::body(kind, &mut fields)))
    }

    fn body(kind: u8, fields: &mut Fields<'a>) -> Result<Self, Malformed> {
        Ok(match kind {
            3 => Self::Open {
                path: fields.string()?,
                flags: fields.u32()?,
                attributes: Attributes::parse(fields)?,
            },
            4 => Self::Close {
                handle: fields.string()?,
            },
            5 => Self::Read {
                handle: fields.string()?,
                offset: fields.u64()?,
                length: fields.u32()?,
            },
            6 => Self::Write {
                handle: fields.string()?,
                offset: fields.u64()?,
                data: fields.string()?,
            },
            7 | 17 => Self::Stat {
                path: fields.string()?,
                follow: kind == 17,
            },
            8 => Self::StatHandle {
                handle: fields.string()?,
            },
            9 => Self::Set {
                path: fields.string()?,
                attributes: Attributes::parse(fields)?,
                follow: true,
            },
            10 => Self::SetHandle {
                handle: fields.string()?,
                attributes: Attributes::parse(fields)?,
            },
            11 => Self::OpenFolder {
                path: fields.string()?,
            },
            12 => Self::ReadFolder {
                handle: fields.string()?,
            },
            _ => Self::of_names(kind, fields)?,
        })
    }

    fn of_names(kind: u8, fields: &mut Fields<'a>) -> Result<Self, Malformed> {
        Ok(match kind {
            13 => Self::Remove {
                path: fields.string()?,
            },
            14 => Self::MakeFolder {
                path: fields.string()?,
                attributes: Attributes::parse(fields)?,
            },
            15 => Self::RemoveFolder {
                path: fields.string()?,
            },
            16 => Self::RealPath {
                path: fields.string()?,
                expand: false,
            },
            18 => Self::Rename {
                from: fields.string()?,
                to: fields.string()?,
                replace: false,
            },
            19 => Self::ReadLink {
                path: fields.string()?,
            },
            // The order of OpenSSH, which is not the standard's.
            20 => Self::SymbolicLink {
                target: fields.string()?,
                path: fields.string()?,
            },
            200 => Self::extended(fields)?,
            _ => Self::Unknown,
        })
    }

    fn extended(fields: &mut Fields<'a>) -> Result<Self, Malformed> {
        Ok(match fields.string()? {
            b"posix-rename@openssh.com" => Self::Rename {
                from: fields.string()?,
                to: fields.string()?,
                replace: true,
            },
            b"hardlink@openssh.com" => Self::HardLink {
                from: fields.string()?,
                to: fields.string()?,
            },
            b"fsync@openssh.com" => Self::Sync {
                handle: fields.string()?,
            },
            b"statvfs@openssh.com" => Self::FileSystem {
                path: fields.string()?,
            },
            b"fstatvfs@openssh.com" => Self::FileSystemOfHandle {
                handle: fields.string()?,
            },
            b"lsetstat@openssh.com" => Self::Set {
                path: fields.string()?,
                attributes: Attributes::parse(fields)?,
                follow: false,
            },
            b"expand-path@openssh.com" => Self::RealPath {
                path: fields.string()?,
                expand: true,
            },
            b"limits@openssh.com" => Self::Limits,
            _ => Self::Unknown,
        })
    }
}

/// The extensions that the server announces at the start, by name and version.
pub const EXTENSIONS: [(&str, &str); 8] = [
    ("posix-rename@openssh.com", "1"),
    ("hardlink@openssh.com", "1"),
    ("fsync@openssh.com", "1"),
    ("statvfs@openssh.com", "2"),
    ("fstatvfs@openssh.com", "2"),
    ("lsetstat@openssh.com", "1"),
    ("expand-path@openssh.com", "1"),
    ("limits@openssh.com", "1"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packet(kind: u8, parts: &[&[u8]]) -> Vec<u8> {
        let mut packet = vec![kind];
        packet.extend(7u32.to_be_bytes());
        for part in parts {
            packet.extend((part.len() as u32).to_be_bytes());
            packet.extend(*part);
        }
        packet
    }

    #[test]
    fn every_announced_extension_is_known() {
        for (name, _) in EXTENSIONS {
            let packet = packet(
                200,
                &[name.as_bytes(), b"\0\0\0\0", b"\0\0\0\0", b"\0\0\0\0"],
            );
            let (id, request) = Request::parse(&packet).unwrap();
            assert_eq!(id, 7);
            assert_ne!(request, Ok(Request::Unknown), "{name}");
        }
    }

    #[test]
    fn a_packet_cut_short_is_malformed_and_one_of_another_kind_unknown() {
        let whole = packet(18, &[b"from", b"to"]);
        for length in 5..whole.len() {
            assert_eq!(Request::parse(&whole[..length]), Ok((7, Err(Malformed))));
        }
        assert_eq!(Request::parse(&whole[..4]), Err(Malformed));
        let unknown = packet(99, &[]);
        assert_eq!(Request::parse(&unknown), Ok((7, Ok(Request::Unknown))));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn no_bytes_break_the_parser(kind in 0u8..=202, bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Request::parse(&bytes);
            let mut packet = vec![kind];
            packet.extend(bytes);
            let _ = Request::parse(&packet);
        }

        #[test]
        fn no_lengths_break_the_parser(
            kind in 0u8..=202,
            parts in prop::collection::vec((0u32..12, prop::collection::vec(any::<u8>(), 0..12)), 0..6),
        ) {
            let mut packet = packet(kind, &[]);
            for (length, bytes) in parts {
                packet.extend(length.to_be_bytes());
                packet.extend(bytes);
            }
            prop_assert!(Request::parse(&packet).is_ok());
        }
    }
}

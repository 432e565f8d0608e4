//! The extended header of an entry: longer names, larger numbers, attributes, maps of sparse files.

use crate::failure::{Failure, unusable};

/// Settings of the next entry. An empty value removes a setting.
#[derive(Default)]
pub struct Pax {
    pub path: Option<Vec<u8>>,
    pub link: Option<Vec<u8>>,
    pub size: Option<u64>,
    pub uid: Option<u64>,
    pub gid: Option<u64>,
    /// Seconds and nanoseconds.
    pub mtime: Option<(i64, u32)>,
    /// The attributes that are kept: file capabilities and those of users.
    pub xattrs: Vec<(Vec<u8>, Vec<u8>)>,
    pub sparse: Vec<(Vec<u8>, Vec<u8>)>,
}

pub fn parse(mut records: &[u8]) -> Result<Pax, Failure> {
    let mut pax = Pax::default();
    while !records.is_empty() {
        let (key, value, rest) = record(records).ok_or_else(damaged)?;
        records = rest;
        pax.take(key, value)?;
    }
    Ok(pax)
}

impl Pax {
    fn take(&mut self, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        let given = !value.is_empty();
        match key {
            b"path" => self.path = given.then(|| value.to_vec()),
            b"linkpath" => self.link = given.then(|| value.to_vec()),
            b"size" => self.size = given.then(|| decimal(value)).transpose()?,
            b"uid" => self.uid = given.then(|| decimal(value)).transpose()?,
            b"gid" => self.gid = given.then(|| decimal(value)).transpose()?,
            b"mtime" => self.mtime = given.then(|| time(value)).transpose()?,
            _ => {
                if let Some(name) = key.strip_prefix(b"SCHILY.xattr.") {
                    let is_capability = name == b"security.capability";
                    if is_capability || name.starts_with(b"user.") {
                        let mut value = value.to_vec();
                        if is_capability {
                            make_startable(&mut value);
                        }
                        self.xattrs.retain(|(known, _)| known != name);
                        self.xattrs.push((name.to_vec(), value));
                    }
                } else if let Some(name) = key.strip_prefix(b"GNU.sparse.") {
                    self.sparse.push((name.to_vec(), value.to_vec()));
                }
            }
        }
        Ok(())
    }
}

/// Capabilities of a sandbox, as in src/runtime/oci/machine/config.ts.
const CAPABILITIES: u64 = 0x8004_05fb;
const EFFECTIVE: u8 = 1;

/// With the effective flag, the kernel refuses to start a program that cannot have all of its capabilities,
/// such as ping of Debian 12 and Ubuntu. Without the flag the program gets the available ones, and raises
/// them itself.
fn make_startable(value: &mut [u8]) {
    let word = |at: usize| Some(u32::from_le_bytes(value.get(at..at + 4)?.try_into().ok()?));
    let permitted = u64::from(word(4).unwrap_or(0)) | u64::from(word(12).unwrap_or(0)) << 32;
    if permitted & !CAPABILITIES != 0 {
        value[0] &= !EFFECTIVE;
    }
}

/// `LENGTH KEY=VALUE\n`, where LENGTH counts the whole record.
fn record(records: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = records.iter().take(20).position(|&byte| byte == b' ')?;
    let length: usize = std::str::from_utf8(&records[..space]).ok()?.parse().ok()?;
    let body = records.get(space + 1..length)?.strip_suffix(b"\n")?;
    let equals = body.iter().position(|&byte| byte == b'=')?;
    Some((&body[..equals], &body[equals + 1..], &records[length..]))
}

pub fn decimal(text: &[u8]) -> Result<u64, Failure> {
    let text = std::str::from_utf8(text).map_err(|_| damaged())?;
    // A negative id is one that no sandbox has.
    match text.strip_prefix('-') {
        Some(digits) => digits.parse::<u64>().map(|_| u64::MAX),
        None => text.parse(),
    }
    .map_err(|_| damaged())
}

fn time(text: &[u8]) -> Result<(i64, u32), Failure> {
    let text = std::str::from_utf8(text).map_err(|_| damaged())?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let seconds: i64 = whole.parse().map_err(|_| damaged())?;
    let nine: String = fraction
        .chars()
        .chain("000000000".chars())
        .take(9)
        .collect();
    let nanos: u32 = nine.parse().map_err(|_| damaged())?;
    if whole.starts_with('-') && nanos > 0 {
        return Ok((
            seconds.checked_sub(1).ok_or_else(damaged)?,
            1_000_000_000 - nanos,
        ));
    }
    Ok((seconds, nanos))
}

fn damaged() -> Failure {
    unusable("a layer is damaged: an extended header cannot be understood")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(key: &str, value: &str) -> Vec<u8> {
        let body = format!(" {key}={value}\n");
        let mut length = body.len();
        while length != body.len() + length.to_string().len() {
            length = body.len() + length.to_string().len();
        }
        format!("{length}{body}").into_bytes()
    }

    #[test]
    fn reads_names_numbers_times_and_the_attributes_that_are_kept() {
        let text = [
            line("path", "a=b\nc"),
            line("size", "99999999999"),
            line("uid", "-1"),
            line("mtime", "-1.25"),
            line("SCHILY.xattr.user.a", "1"),
            line("SCHILY.xattr.security.selinux", "x"),
            line("SCHILY.xattr.trusted.overlay.opaque", "y"),
        ]
        .concat();
        let pax = parse(&text).unwrap();
        assert_eq!(pax.path.as_deref(), Some(&b"a=b\nc"[..]));
        assert_eq!((pax.size, pax.uid), (Some(99_999_999_999), Some(u64::MAX)));
        assert_eq!(pax.mtime, Some((-2, 750_000_000)));
        assert_eq!(pax.xattrs, vec![(b"user.a".to_vec(), b"1".to_vec())]);
    }

    #[test]
    fn makes_no_capabilities_effective_that_a_sandbox_lacks() {
        let kept = |value: &str| {
            let pax = parse(&line("SCHILY.xattr.security.capability", value)).unwrap();
            pax.xattrs[0].1[0]
        };
        let net_raw = "\x01\0\0\x02\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
        let bpf = "\x01\0\0\x02\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0";
        let net_bind_service = "\x01\0\0\x02\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
        assert_eq!([kept(net_raw), kept(bpf)], [0, 0]);
        assert_eq!([kept(net_bind_service), kept("\x01")], [1, 1]);
    }

    #[test]
    fn refuses_records_whose_length_is_not_theirs() {
        for text in [
            "9 a=b\n",
            "5 a=b",
            "0 a=b\n",
            "x a=b\n",
            "6 ab\n",
            "99999999999999999999999 a=b\n",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}

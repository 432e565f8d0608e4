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
    /// Only those that are kept: file capabilities and what belongs to users.
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
                    if name == b"security.capability" || name.starts_with(b"user.") {
                        self.xattrs.retain(|(known, _)| known != name);
                        self.xattrs.push((name.to_vec(), value.to_vec()));
                    }
                } else if let Some(name) = key.strip_prefix(b"GNU.sparse.") {
                    self.sparse.push((name.to_vec(), value.to_vec()));
                }
            }
        }
        Ok(())
    }
}

/// `LENGTH KEY=VALUE\n`, the length being of all of it.
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

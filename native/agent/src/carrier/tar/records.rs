//! The records of an extended header: `LENGTH KEY=VALUE\n`, where LENGTH counts the whole record. A value may
//! hold any bytes.

use super::damage::damaged;
use crate::wire::fault::Fault;

pub fn append(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + 1;
    while length != rest + length.to_string().len() {
        length = rest + length.to_string().len();
    }
    out.extend_from_slice(length.to_string().as_bytes());
    out.push(b' ');
    out.extend_from_slice(key);
    out.push(b'=');
    out.extend_from_slice(value);
    out.push(b'\n');
}

/// Calls `take` with each key and value.
pub fn each(
    mut records: &[u8],
    mut take: impl FnMut(&[u8], &[u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    while !records.is_empty() {
        let (key, value, rest) =
            first_of(records).ok_or_else(|| damaged("a record of an extended header"))?;
        take(key, value)?;
        records = rest;
    }
    Ok(())
}

fn first_of(records: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = records.iter().take(20).position(|byte| *byte == b' ')?;
    let length: usize = str::from_utf8(&records[..space]).ok()?.parse().ok()?;
    let body = records.get(space + 1..length)?.strip_suffix(b"\n")?;
    let equals = body.iter().position(|byte| *byte == b'=')?;
    Some((&body[..equals], &body[equals + 1..], &records[length..]))
}

/// The name of an attribute as a part of a key, which ends at the first `=`. As GNU tar writes it.
pub fn escaped(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in name {
        match byte {
            b'%' => out.extend_from_slice(b"%25"),
            b'=' => out.extend_from_slice(b"%3D"),
            other => out.push(*other),
        }
    }
    out
}

pub fn unescaped(text: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            out.push(*first);
            continue;
        }
        let (code, after) = rest
            .split_at_checked(2)
            .ok_or_else(|| damaged("the name of an attribute"))?;
        out.push(match code {
            b"25" => b'%',
            b"3D" => b'=',
            _ => return Err(damaged("the name of an attribute")),
        });
        rest = after;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

    fn read(records: &[u8]) -> Result<Pairs, Fault> {
        let mut found = Vec::new();
        each(records, |key, value| {
            found.push((key.to_vec(), value.to_vec()));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn the_length_counts_its_own_digits() {
        let mut out = Vec::new();
        append(&mut out, b"a", b"123");
        append(&mut out, b"path", &[b'x'; 92]);
        assert_eq!(&out[..8], b"8 a=123\n");
        assert!(out[8..].starts_with(b"102 path=xxx"));
        assert_eq!(out.len(), 8 + 102);
    }

    #[test]
    fn records_whose_length_is_not_theirs_are_refused() {
        for text in [
            "9 a=b\n",
            "5 a=b",
            "0 a=b\n",
            "x a=b\n",
            "6 abc\n",
            "99999999999999999999 a=b\n",
        ] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn records_are_read_as_they_were_written(
            names in prop::collection::vec(any::<Vec<u8>>(), 0..5),
            value in prop::collection::vec(any::<u8>(), 0..2_000),
        ) {
            let mut out = Vec::new();
            for name in &names {
                append(&mut out, &escaped(name), &value);
            }
            let found = read(&out).unwrap();
            prop_assert_eq!(found.len(), names.len());
            for ((key, found), name) in found.iter().zip(&names) {
                prop_assert_eq!(&unescaped(key).unwrap(), name);
                prop_assert_eq!(found, &value);
            }
        }

        #[test]
        fn no_bytes_break_the_reader(bytes in any::<Vec<u8>>()) {
            let _ = read(&bytes);
            let _ = unescaped(&bytes);
        }
    }
}

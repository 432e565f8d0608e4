//! The head of a message: a start line and fields, each ended by CR LF and nothing else.

use super::fault::{Fault, malformed};

#[derive(Debug)]
pub struct Head {
    pub start: String,
    /// Bytes up to the body.
    pub length: usize,
    fields: Vec<(String, String)>,
}

const MOST_FIELDS: usize = 128;

impl Head {
    /// None while it is incomplete.
    pub fn read(bytes: &[u8]) -> Result<Option<Head>, Fault> {
        let mut start = None;
        let mut fields = Vec::new();
        let mut at = 0;
        while let Some(line) = line(&bytes[at..])? {
            at += line.len() + 2;
            match &start {
                None if line.is_empty() => {
                    return Err(malformed("an empty line before the message"));
                }
                None => start = Some(text(line)?),
                Some(start) if line.is_empty() => {
                    return Ok(Some(Head {
                        start: start.clone(),
                        length: at,
                        fields,
                    }));
                }
                Some(_) => fields.push(field(line)?),
            }
            if fields.len() > MOST_FIELDS {
                return Err(malformed("too many fields"));
            }
        }
        Ok(None)
    }

    /// Values of the field, in their order. The name is in lower case.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.fields
            .iter()
            .filter(move |(other, _)| other == name)
            .map(|(_, value)| value.as_str())
    }

    /// The value of a field that may stand once.
    pub fn one<'a>(&'a self, name: &'a str) -> Result<Option<&'a str>, Fault> {
        let mut values = self.all(name);
        let value = values.next();
        match values.next() {
            Some(_) => Err(malformed("a field twice that may stand once")),
            None => Ok(value),
        }
    }

    /// True when a field that is a list has this token, in any case.
    pub fn lists(&self, name: &str, token: &str) -> bool {
        self.all(name)
            .flat_map(|value| value.split(','))
            .any(|one| one.trim().eq_ignore_ascii_case(token))
    }
}

/// The first line without its end; None while that is missing.
fn line(bytes: &[u8]) -> Result<Option<&[u8]>, Fault> {
    let Some(at) = bytes
        .iter()
        .position(|&byte| byte == b'\r' || byte == b'\n')
    else {
        return Ok(None);
    };
    match (bytes[at], bytes.get(at + 1)) {
        (b'\r', Some(b'\n')) => Ok(Some(&bytes[..at])),
        (b'\r', None) => Ok(None),
        _ => Err(malformed("a line that ends in another way than CR LF")),
    }
}

/// Name in lower case, and value. A line that goes on with the one before (obs-fold) has no name.
pub fn field(line: &[u8]) -> Result<(String, String), Fault> {
    let colon = line
        .iter()
        .position(|&byte| byte == b':')
        .ok_or(malformed("a field without a colon"))?;
    let name = &line[..colon];
    if name.is_empty() || !name.iter().all(|&byte| is_token(byte)) {
        return Err(malformed("a field with a wrong name"));
    }
    let value = text(&line[colon + 1..])?;
    let value = value.trim_matches([' ', '\t']).to_owned();
    Ok((String::from_utf8_lossy(name).to_ascii_lowercase(), value))
}

pub fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Bytes beyond ASCII become characters of the same number.
fn text(bytes: &[u8]) -> Result<String, Fault> {
    if bytes
        .iter()
        .any(|&byte| (byte < b' ' && byte != b'\t') || byte == 0x7f)
    {
        return Err(malformed("a control character"));
    }
    Ok(bytes.iter().map(|&byte| char::from(byte)).collect())
}

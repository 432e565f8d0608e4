//! The part of DER (X.690) that a keystore needs: tags of one byte, and definite lengths.

pub const SEQUENCE: u8 = 0x30;
pub const SET: u8 = 0x31;
pub const OCTET_STRING: u8 = 0x04;
pub const BMP_STRING: u8 = 0x1e;
/// Context-specific, constructed, number 0.
pub const EXPLICIT_0: u8 = 0xa0;

/// Most elements side by side; a list of authorities has some hundred.
const MAX_ELEMENTS: usize = 10_000;

#[derive(Clone, Copy)]
pub struct Element<'a> {
    tag: u8,
    content: &'a [u8],
    /// The element with tag and length.
    pub whole: &'a [u8],
}

impl<'a> Element<'a> {
    pub fn content(&self, tag: u8) -> Option<&'a [u8]> {
        (self.tag == tag).then_some(self.content)
    }

    pub fn elements(&self, tag: u8) -> Option<Vec<Element<'a>>> {
        elements(self.content(tag)?)
    }
}

/// Reads one element, which must take all of the bytes.
pub fn one(bytes: &[u8]) -> Option<Element<'_>> {
    let (element, rest) = next(bytes)?;
    rest.is_empty().then_some(element)
}

/// Reads a sequence of elements, which must take all of the bytes; None for too many.
pub fn elements(mut bytes: &[u8]) -> Option<Vec<Element<'_>>> {
    let mut elements = Vec::new();
    while !bytes.is_empty() {
        let (element, rest) = next(bytes)?;
        if elements.len() == MAX_ELEMENTS {
            return None;
        }
        elements.push(element);
        bytes = rest;
    }
    Some(elements)
}

pub fn encode(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let mut element = vec![tag];
    let length = content.len().to_be_bytes();
    match u8::try_from(content.len()) {
        Ok(short @ 0..=0x7f) => element.push(short),
        _ => {
            let zeros = length.iter().take_while(|&&byte| byte == 0).count();
            let digits = &length[zeros..];
            element.push(0x80 | digits.len() as u8);
            element.extend_from_slice(digits);
        }
    }
    element.extend_from_slice(&content);
    element
}

fn next(bytes: &[u8]) -> Option<(Element<'_>, &[u8])> {
    let (&tag, after_tag) = bytes.split_first()?;
    let (&first, after_first) = after_tag.split_first()?;
    let (length, after_length) = match first {
        0..=0x7f => (usize::from(first), after_first),
        0x81..=0x84 => {
            let (digits, rest) = after_first.split_at_checked(usize::from(first & 0x7f))?;
            let length = digits
                .iter()
                .fold(0, |length, &digit| length << 8 | usize::from(digit));
            (length, rest)
        }
        _ => return None,
    };
    let (content, rest) = after_length.split_at_checked(length)?;
    let whole = &bytes[..bytes.len() - rest.len()];
    let element = Element {
        tag,
        content,
        whole,
    };
    Some((element, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_has_as_many_bytes_as_it_needs() {
        for (length, header) in [
            (0, &[0x04, 0][..]),
            (127, &[0x04, 127]),
            (128, &[0x04, 0x81, 128]),
            (256, &[0x04, 0x82, 1, 0]),
            (65536, &[0x04, 0x83, 1, 0, 0]),
        ] {
            let content = vec![7; length];
            let encoded = encode(OCTET_STRING, &[&content]);
            assert!(encoded.starts_with(header), "{length}");
            let read = one(&encoded).unwrap();
            assert_eq!(read.content(OCTET_STRING), Some(&content[..]));
            assert_eq!(read.whole, encoded);
        }
    }

    #[test]
    fn what_is_cut_or_of_another_form_is_none() {
        for bytes in [
            &[][..],
            &[0x30],
            &[0x30, 2, 5],
            &[0x30, 0x82, 1],
            &[0x30, 0x80, 0, 0],
            &[0x30, 0x85, 0, 0, 0, 0, 0],
            &[0x30, 0, 5],
        ] {
            assert!(one(bytes).is_none(), "{bytes:?}");
        }
        assert!(one(&[0x30, 0]).unwrap().content(SET).is_none());
    }

    #[test]
    fn too_many_elements_are_none() {
        assert_eq!(elements(&[5, 0].repeat(10_000)).unwrap().len(), 10_000);
        assert!(elements(&[5, 0].repeat(10_001)).is_none());
    }
}

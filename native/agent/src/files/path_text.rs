//! File names as text and back, without loss.
//!
//! A name is any bytes; text is Unicode. Bytes that are UTF-8 are the characters that they encode; every
//! other byte b (0x80 to 0xFF) is the character U+F700 + b. A name that legitimately holds one of those
//! characters (U+F780 to U+F7FF) has its three bytes mapped one by one, as if they were not UTF-8. So every
//! name has one text, no two names share a text, and such a character from a caller stands for the byte.

const BASE: u32 = 0xF700;

pub fn to_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if byte_of(character).is_some() {
                let mut encoded = [0; 4];
                for byte in character.encode_utf8(&mut encoded).bytes() {
                    text.push(character_of(byte));
                }
            } else {
                text.push(character);
            }
        }
        for byte in chunk.invalid() {
            text.push(character_of(*byte));
        }
    }
    text
}

pub fn to_bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut encoded = [0; 4];
    for character in text.chars() {
        match byte_of(character) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(character.encode_utf8(&mut encoded).as_bytes()),
        }
    }
    bytes
}

fn byte_of(character: char) -> Option<u8> {
    let byte = u8::try_from(u32::from(character).checked_sub(BASE)?).ok()?;
    (byte >= 0x80).then_some(byte)
}

/// Only for bytes from 0x80 on: ASCII is always UTF-8.
fn character_of(byte: u8) -> char {
    char::from_u32(BASE + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_invalid_byte_is_a_character_of_its_own() {
        assert_eq!(to_text(b"a\xFFb\x80"), "a\u{F7FF}b\u{F780}");
        assert_eq!(to_bytes("a\u{F7FF}b\u{F780}"), b"a\xFFb\x80");
    }

    #[test]
    fn a_name_that_holds_such_a_character_is_told_apart_from_the_byte() {
        let name = "\u{F7FF}".as_bytes();
        let text = to_text(name);
        assert_eq!(text, "\u{F7EF}\u{F79F}\u{F7BF}");
        assert_eq!(to_bytes(&text), name);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn every_name_survives_the_way_there_and_back(
            name in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            prop_assert_eq!(to_bytes(&to_text(&name)), name);
        }

        #[test]
        fn ordinary_text_is_unchanged(text in "[a-zA-Z0-9 é€😀\n]{0,30}") {
            prop_assert_eq!(to_text(text.as_bytes()), text);
        }
    }
}

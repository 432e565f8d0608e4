//! The keystore of RFC 7292 (PKCS #12) in the form of Java's own list of authorities since version 18:
//! nothing in it is encrypted, and no password protects its integrity (JDK-8275252). Java takes a certificate
//! for an authority when an attribute says so (`sun/security/pkcs12/PKCS12KeyStore.java` of OpenJDK).

use super::der::{
    BMP_STRING, EXPLICIT_0, Element, OCTET_STRING, SEQUENCE, SET, elements, encode, one,
};
use super::wanted::{ALIAS, Fate, Wanted};

/// Identifiers of objects, with tag and length.
const DATA: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01";
const CERTIFICATE_BAG: &[u8] = b"\x06\x0b\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x0a\x01\x03";
const X509: &[u8] = b"\x06\x0a\x2a\x86\x48\x86\xf7\x0d\x01\x09\x16\x01";
const FRIENDLY_NAME: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x09\x14";
const TRUSTED_KEY_USAGE: &[u8] = b"\x06\x0c\x60\x86\x48\x01\x86\xf9\x66\xad\xca\x7b\x01\x01";
const ANY_USAGE: &[u8] = b"\x06\x04\x55\x1d\x25\x00";

/// Returns the keystore with the wanted certificate. None for one that has it already, and for one with a password.
pub fn with(store: &[u8], wanted: &Wanted<'_>) -> Option<Vec<u8>> {
    // A third part would hold the check of a password.
    let [version, safe]: [Element<'_>; 2] = one(store)?.elements(SEQUENCE)?.try_into().ok()?;
    let contents = one(data_of(&safe)?)?.elements(SEQUENCE)?;
    let mut is_there = false;
    let mut is_changed = false;
    let mut kept: Vec<Vec<u8>> = Vec::new();
    for content in &contents {
        // Other kinds than plain data are encrypted.
        let bags = one(data_of(content)?)?.elements(SEQUENCE)?;
        let mut stay: Vec<&[u8]> = Vec::new();
        for bag in &bags {
            let fate = fate_of(bag, wanted)?;
            is_there |= fate == Fate::IsWanted;
            if fate != Fate::Goes {
                stay.push(bag.whole);
            }
        }
        if stay.len() == bags.len() {
            kept.push(content.whole.to_vec());
            continue;
        }
        is_changed = true;
        if !stay.is_empty() {
            kept.push(data(&encode(SEQUENCE, &stay)));
        }
    }
    if !is_there {
        kept.push(data(&encode(SEQUENCE, &[&bag(ALIAS, wanted.certificate)])));
    }
    (is_changed || !is_there).then(|| sealed(version.whole, &kept))
}

fn sealed(version: &[u8], contents: &[Vec<u8>]) -> Vec<u8> {
    let contents: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
    let safe = data(&encode(SEQUENCE, &contents));
    encode(SEQUENCE, &[version, &safe])
}

fn data(content: &[u8]) -> Vec<u8> {
    let octets = encode(OCTET_STRING, &[content]);
    encode(SEQUENCE, &[DATA, &encode(EXPLICIT_0, &[&octets])])
}

/// None for anything but plain data.
fn data_of<'a>(content: &Element<'a>) -> Option<&'a [u8]> {
    match content.elements(SEQUENCE)?.as_slice() {
        [kind, octets] if kind.whole == DATA => {
            one(octets.content(EXPLICIT_0)?)?.content(OCTET_STRING)
        }
        _ => None,
    }
}

fn bag(alias: &str, certificate: &[u8]) -> Vec<u8> {
    let octets = encode(OCTET_STRING, &[certificate]);
    let value = encode(SEQUENCE, &[X509, &encode(EXPLICIT_0, &[&octets])]);
    let trusted = encode(SEQUENCE, &[TRUSTED_KEY_USAGE, &encode(SET, &[ANY_USAGE])]);
    encode(
        SEQUENCE,
        &[
            CERTIFICATE_BAG,
            &encode(EXPLICIT_0, &[&value]),
            &encode(SET, &[&name(alias), &trusted]),
        ],
    )
}

fn name(alias: &str) -> Vec<u8> {
    let units: Vec<u8> = alias.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let text = encode(BMP_STRING, &[&units]);
    encode(SEQUENCE, &[FRIENDLY_NAME, &encode(SET, &[&text])])
}

/// Keeps a bag that holds no certificate. None for an element that is not a bag.
fn fate_of(bag: &Element<'_>, wanted: &Wanted<'_>) -> Option<Fate> {
    let parts = bag.elements(SEQUENCE)?;
    let [kind, value, attributes @ ..] = parts.as_slice() else {
        return None;
    };
    if kind.whole != CERTIFICATE_BAG {
        return Some(Fate::Stays);
    }
    let attributes = match attributes {
        [set] => set.elements(SET)?,
        _ => Vec::new(),
    };
    let own = name(ALIAS);
    let has_alias = attributes.iter().any(|attribute| attribute.whole == own);
    let certificate = certificate_of(value)?;
    Some(wanted.fate(has_alias, certificate))
}

fn certificate_of<'a>(value: &Element<'a>) -> Option<&'a [u8]> {
    let parts = one(value.content(EXPLICIT_0)?)?.elements(SEQUENCE)?;
    let octets = parts.get(1)?.content(EXPLICIT_0)?;
    elements(octets)?.first()?.content(OCTET_STRING)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    const VERSION_3: &[u8] = b"\x02\x01\x03";
    const ENCRYPTED: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x06";

    /// All bags in one, as Java writes them.
    pub fn store(entries: &[(&str, &[u8])]) -> Vec<u8> {
        sealed(VERSION_3, &[bags(entries)])
    }

    fn bags(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let bags: Vec<_> = entries
            .iter()
            .map(|(alias, certificate)| bag(alias, certificate))
            .collect();
        data(&encode(SEQUENCE, &[&bags.concat()]))
    }

    fn changed(store: &[u8], before: Option<&[u8]>) -> Option<Vec<u8>> {
        let certificate = b"new";
        with(
            store,
            &Wanted {
                certificate,
                before,
            },
        )
    }

    #[test]
    fn a_certificate_is_added_once_behind_the_others() {
        let added = changed(&store(&[("a", b"one")]), None).unwrap();
        let expected = [bags(&[("a", b"one")]), bags(&[("sandhaven", b"new")])];
        assert_eq!(added, sealed(VERSION_3, &expected));
        assert_eq!(changed(&added, None), None);
        assert_eq!(changed(&store(&[("by-hand", b"new")]), None), None);
    }

    #[test]
    fn the_one_before_goes_by_its_name_or_as_the_same_certificate() {
        let wanted = sealed(
            VERSION_3,
            &[bags(&[("a", b"one")]), bags(&[("sandhaven", b"new")])],
        );
        let apart = sealed(
            VERSION_3,
            &[bags(&[("a", b"one")]), bags(&[("sandhaven", b"old")])],
        );
        assert_eq!(changed(&apart, None).as_ref(), Some(&wanted));
        let together = store(&[("sandhaven", b"old"), ("a", b"one")]);
        assert_eq!(changed(&together, None).as_ref(), Some(&wanted));
        let by_hand = store(&[("a", b"one"), ("b", b"old")]);
        assert_eq!(changed(&by_hand, Some(b"old")).as_ref(), Some(&wanted));
    }

    #[test]
    fn a_keystore_with_a_password_stays() {
        let good = bags(&[("a", b"one")]);
        assert!(changed(&sealed(VERSION_3, std::slice::from_ref(&good)), None).is_some());
        let encrypted = encode(SEQUENCE, &[ENCRYPTED, &encode(EXPLICIT_0, &[b"\x30\x00"])]);
        assert_eq!(
            changed(&sealed(VERSION_3, &[good.clone(), encrypted]), None),
            None
        );
        let safe = data(&encode(SEQUENCE, &[&good]));
        let check = encode(SEQUENCE, &[]);
        assert_eq!(
            changed(&encode(SEQUENCE, &[VERSION_3, &safe, &check]), None),
            None
        );
    }

    #[test]
    fn entries_of_other_kinds_stay() {
        let other = encode(SEQUENCE, &[DATA, &encode(EXPLICIT_0, &[b"\x30\x00"])]);
        let unnamed = encode(SEQUENCE, &[CERTIFICATE_BAG, &value_of(b"one")]);
        let content = data(&encode(SEQUENCE, &[&other, &unnamed]));
        let added = changed(&sealed(VERSION_3, std::slice::from_ref(&content)), None);
        let expected = sealed(VERSION_3, &[content, bags(&[("sandhaven", b"new")])]);
        assert_eq!(added, Some(expected));
    }

    fn value_of(certificate: &[u8]) -> Vec<u8> {
        let bag = bag("a", certificate);
        one(&bag).unwrap().elements(SEQUENCE).unwrap()[1]
            .whole
            .to_vec()
    }
}

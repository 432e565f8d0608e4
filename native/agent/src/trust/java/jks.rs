//! The keystore of Java's own form, JKS (`sun/security/provider/JavaKeyStore.java` of OpenJDK): entries, and behind them a
//! digest that is keyed by a password, which is the same for the list of authorities everywhere.

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};

use super::wanted::{ALIAS, Fate, Wanted};

pub const MAGIC: [u8; 4] = 0xfeed_feed_u32.to_be_bytes();
const VERSION: u32 = 2;
const TRUSTED_CERTIFICATE: u32 = 2;
const TYPE: &str = "X.509";
/// Time of an entry, in milliseconds since 1970: the beginning of sandboxes' authorities, so that an entry is
/// always the same.
const CREATED: u64 = 1_767_225_600_000;
const DIGEST_BYTES: usize = 20;
const PASSWORD: &str = "changeit";
const EXTRA: &str = "Mighty Aphrodite";

struct Entry<'a> {
    alias: &'a [u8],
    certificate: &'a [u8],
    whole: &'a [u8],
}

/// Returns the keystore with the wanted certificate. None for one that has it already, has private keys, or
/// has another password.
pub fn with(store: &[u8], wanted: &Wanted<'_>) -> Option<Vec<u8>> {
    let (body, digest) = store.split_last_chunk::<DIGEST_BYTES>()?;
    if keyed_digest(body) != digest {
        return None;
    }
    let present = entries(body)?;
    let mut is_there = false;
    let mut entries: Vec<Vec<u8>> = Vec::new();
    for entry in &present {
        let has_alias = entry.alias.eq_ignore_ascii_case(ALIAS.as_bytes());
        let fate = wanted.fate(has_alias, entry.certificate);
        is_there |= fate == Fate::IsWanted;
        if fate != Fate::Goes {
            entries.push(entry.whole.to_vec());
        }
    }
    if is_there && entries.len() == present.len() {
        return None;
    }
    if !is_there {
        entries.push(entry(ALIAS, wanted.certificate));
    }
    Some(sealed(&entries))
}

fn sealed(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut store = Vec::from(MAGIC);
    store.extend(VERSION.to_be_bytes());
    store.extend((entries.len() as u32).to_be_bytes());
    store.extend(entries.concat());
    let digest = keyed_digest(&store);
    store.extend(digest);
    store
}

fn entry(alias: &str, certificate: &[u8]) -> Vec<u8> {
    let mut entry = Vec::from(TRUSTED_CERTIFICATE.to_be_bytes());
    put_text(&mut entry, alias);
    entry.extend(CREATED.to_be_bytes());
    put_text(&mut entry, TYPE);
    entry.extend((certificate.len() as u32).to_be_bytes());
    entry.extend(certificate);
    entry
}

/// Writes ASCII, which Java's modified UTF-8 encodes in the same way.
fn put_text(entry: &mut Vec<u8>, text: &str) {
    entry.extend((text.len() as u16).to_be_bytes());
    entry.extend(text.as_bytes());
}

fn keyed_digest(body: &[u8]) -> Vec<u8> {
    let mut digest = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    for unit in PASSWORD.encode_utf16() {
        digest.update(&unit.to_be_bytes());
    }
    digest.update(EXTRA.as_bytes());
    digest.update(body);
    digest.finish().as_ref().to_vec()
}

/// Returns the entries of a body; None unless all are certificates.
fn entries(body: &[u8]) -> Option<Vec<Entry<'_>>> {
    let mut rest = Reader(body.strip_prefix(&MAGIC)?);
    if rest.u32()? != VERSION {
        return None;
    }
    let count = rest.u32()?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let start = rest.0;
        if rest.u32()? != TRUSTED_CERTIFICATE {
            return None;
        }
        let alias = rest.text()?;
        rest.take(size_of_val(&CREATED))?;
        rest.text()?;
        let length = rest.u32()?;
        let certificate = rest.take(length as usize)?;
        entries.push(Entry {
            alias,
            certificate,
            whole: &start[..start.len() - rest.0.len()],
        });
    }
    rest.0.is_empty().then_some(entries)
}

/// The remaining bytes.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = u16::from_be_bytes(self.take(2)?.try_into().ok()?);
        self.take(usize::from(length))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn store(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let entries: Vec<_> = entries
            .iter()
            .map(|(alias, certificate)| entry(alias, certificate))
            .collect();
        sealed(&entries)
    }

    fn changed(entries: &[(&str, &[u8])], before: Option<&[u8]>) -> Option<Vec<u8>> {
        let certificate = b"new";
        with(
            &store(entries),
            &Wanted {
                certificate,
                before,
            },
        )
    }

    #[test]
    fn the_form_is_that_of_java() {
        let hex =
            |store: Vec<u8>| -> String { store.iter().map(|byte| format!("{byte:02x}")).collect() };
        assert_eq!(
            hex(store(&[])),
            "feedfeed0000000200000000e2686e45fb43dfa4d992dd41ceb6b21c6330d792"
        );
        let one = [
            "feedfeed00000002",
            "00000001",
            "00000002000161",
            "0000019b76daa800",
            "0005582e353039",
            "000000036f6e65",
            "65f801847bbe35c21457ce0ccee37622d6258863",
        ];
        assert_eq!(hex(store(&[("a", b"one")])), one.concat());
    }

    #[test]
    fn a_certificate_is_added_once() {
        let added = changed(&[("a", b"one")], None).unwrap();
        assert_eq!(added, store(&[("a", b"one"), ("sandhaven", b"new")]));
        assert_eq!(changed(&[("a", b"one"), ("sandhaven", b"new")], None), None);
        assert_eq!(changed(&[("debian:sandhaven.pem", b"new")], None), None);
    }

    #[test]
    fn the_one_before_goes_by_its_name_or_as_the_same_certificate() {
        let wanted = store(&[("a", b"one"), ("sandhaven", b"new")]);
        let named = [("sandhaven", &b"old"[..]), ("a", b"one")];
        assert_eq!(changed(&named, None).as_ref(), Some(&wanted));
        let by_system = [("debian:sandhaven.pem", &b"old"[..]), ("a", b"one")];
        assert_eq!(changed(&by_system, Some(b"old")).as_ref(), Some(&wanted));
        let both = [("a", &b"one"[..]), ("sandhaven", b"new"), ("b", b"old")];
        assert_eq!(changed(&both, Some(b"old")).as_ref(), Some(&wanted));
    }

    #[test]
    fn a_keystore_of_another_kind_stays() {
        let wanted = Wanted {
            certificate: b"new",
            before: None,
        };
        let good = store(&[("a", b"one")]);
        let (body, _) = good.split_last_chunk::<DIGEST_BYTES>().unwrap();
        assert!(with(&good, &wanted).is_some());
        // Another password, or damage.
        assert_eq!(with(&[body, &[0; DIGEST_BYTES]].concat(), &wanted), None);
        assert_eq!(with(&good[..good.len() - 1], &wanted), None);
        assert_eq!(with(&MAGIC, &wanted), None);
        // A private key, the first version, more entries than there are, bytes behind them.
        for (place, byte) in [(15, 1), (7, 1), (11, 2), (11, 0)] {
            let mut body = body.to_vec();
            body[place] = byte;
            body.extend(keyed_digest(&body));
            assert_eq!(with(&body, &wanted), None, "{place}");
        }
    }
}

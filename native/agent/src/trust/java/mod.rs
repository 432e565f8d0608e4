//! Keystores of Java, which reads no bundle and no variable. A keystore in another form than Java's usual
//! one, or under another password, is not changed. Other certificates always stay.

mod der;
mod homes;
mod jks;
mod pkcs12;
mod wanted;

pub use wanted::Wanted;

use crate::files::writing::whole;

/// Most bytes of a keystore; Debian's has 162 KiB.
const MAX_BYTES: u64 = 2 << 20;
/// Most keystores of a sandbox; further ones are ignored, so that none with many takes long.
const MAX_KEYSTORES: usize = 32;

/// Puts the certificate into the existing keystores that can be changed.
pub fn install(wanted: &Wanted<'_>) {
    let there = homes::keystores()
        .filter_map(|path| Some((whole::read_up_to(&path, MAX_BYTES).ok()?, path)))
        .take(MAX_KEYSTORES);
    for (store, path) in there {
        if let Some(changed) = with(&store, wanted) {
            let _ = whole::write(&path, &changed, false, None);
        }
    }
}

/// None where the keystore has the certificate already, or cannot be changed.
fn with(store: &[u8], wanted: &Wanted<'_>) -> Option<Vec<u8>> {
    match store.starts_with(&jks::MAGIC) {
        true => jks::with(store, wanted),
        false => pkcs12::with(store, wanted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            mut store in proptest::collection::vec(any::<u8>(), 0..200),
            start in proptest::sample::select(vec![&jks::MAGIC[..], &[0x30, 0x82], &[]]),
        ) {
            store.splice(0..0, start.iter().copied());
            let wanted = Wanted { certificate: b"certificate", before: None };
            let _ = with(&store, &wanted);
        }

        #[test]
        fn a_keystore_with_a_changed_byte_makes_it_not_panic(at in 0..1000usize, byte in any::<u8>()) {
            let wanted = Wanted { certificate: b"certificate", before: Some(b"other") };
            for mut store in [jks::tests::store(&[("a", b"first")]), pkcs12::tests::store(&[("a", b"first")])] {
                let place = at % store.len();
                store[place] = byte;
                let _ = with(&store, &wanted);
            }
        }
    }
}

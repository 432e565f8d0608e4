//! A bundle of certificates: one file that has them in sequence.

use memchr::memmem;

/// Returns the bundle with a certificate, and without the one that it replaces. None where the bundle needs no change.
pub fn with(bundle: &[u8], certificate: &[u8], before: Option<&[u8]>) -> Option<Vec<u8>> {
    let rest = before
        .filter(|before| *before != certificate)
        .and_then(|before| without(bundle, before));
    let has_it = memmem::find(rest.as_deref().unwrap_or(bundle), certificate).is_some();
    if has_it {
        return rest;
    }
    let mut bundle = rest.unwrap_or_else(|| bundle.to_vec());
    if bundle.last().is_some_and(|&byte| byte != b'\n') {
        bundle.push(b'\n');
    }
    bundle.extend_from_slice(certificate);
    Some(bundle)
}

/// None where the bundle does not have the certificate.
fn without(bundle: &[u8], certificate: &[u8]) -> Option<Vec<u8>> {
    let mut places = memmem::find_iter(bundle, certificate).peekable();
    places.peek()?;
    let mut rest = Vec::with_capacity(bundle.len());
    let mut end = 0;
    for place in places {
        rest.extend_from_slice(&bundle[end..place]);
        end = place + certificate.len();
    }
    rest.extend_from_slice(&bundle[end..]);
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(bundle: &str, certificate: &str, before: Option<&str>) -> Option<String> {
        with(
            bundle.as_bytes(),
            certificate.as_bytes(),
            before.map(str::as_bytes),
        )
        .map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_certificate_is_added_once_on_lines_of_its_own() {
        assert_eq!(
            changed("one\n", "new\n", None).as_deref(),
            Some("one\nnew\n")
        );
        assert_eq!(changed("one", "new\n", None).as_deref(), Some("one\nnew\n"));
        assert_eq!(changed("", "new\n", None).as_deref(), Some("new\n"));
        assert_eq!(changed("one\nnew\ntwo\n", "new\n", None), None);
    }

    #[test]
    fn the_one_before_goes_wherever_it_is() {
        let both = "old\none\nold\n";
        assert_eq!(
            changed(both, "new\n", Some("old\n")).as_deref(),
            Some("one\nnew\n")
        );
        assert_eq!(
            changed("new\nold\n", "new\n", Some("old\n")).as_deref(),
            Some("new\n")
        );
        assert_eq!(
            changed("one\n", "new\n", Some("old\n")).as_deref(),
            Some("one\nnew\n")
        );
    }

    #[test]
    fn a_certificate_that_stays_is_not_the_one_before() {
        assert_eq!(changed("one\nnew\n", "new\n", Some("new\n")), None);
    }
}

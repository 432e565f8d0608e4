//! Signature of AWS, version 4: signs a request anew that the client signed with the placeholder as its access key. Date,
//! region, service and the list of signed fields are the client's.

mod canonical;
mod credential;
mod keys;

pub use keys::Keys;

use super::body_hash::{BodyHash, hexadecimal};
use super::field::hidden;
use super::placed::{NO_FIT, Placed};
use super::swap::Swap;
use canonical::canonical_request;
use credential::Credential;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use ring::digest::{SHA256, digest};

const DATE: HeaderName = HeaderName::from_static("x-amz-date");
const TOKEN: HeaderName = HeaderName::from_static("x-amz-security-token");
const CONTENT_HASH: HeaderName = HeaderName::from_static("x-amz-content-sha256");

const CHUNKS: &str = "STREAMING-AWS4-";
const SIGNED_CHUNKS: &str = "the parts of this body are signed one by one, which only the holder of the key can do; \
                             send it unsigned (UNSIGNED-PAYLOAD), or whole";

/// True where a signature needs the body, because the request does not state its hash.
pub fn needs_body(request: &Parts, swap: Swap<'_>) -> bool {
    Credential::of(request, swap).is_some() && !request.headers.contains_key(CONTENT_HASH)
}

pub fn put(request: &mut Parts, keys: &Keys, swap: Swap<'_>, body: &BodyHash) -> Placed {
    let Some(mut credential) = Credential::of(request, swap) else {
        return Placed::Kept;
    };
    let stated = request.headers.get(CONTENT_HASH);
    let hash = match (stated.map(HeaderValue::to_str), body) {
        (Some(Ok(stated)), _) if stated.starts_with(CHUNKS) => {
            return Placed::Refused(SIGNED_CHUNKS);
        }
        (Some(Ok(stated)), _) => stated.to_owned(),
        (None, BodyHash::Of(hash)) => hash.clone(),
        _ => return Placed::Refused("a signature needs the hash of the body"),
    };
    let date = request
        .headers
        .get(DATE)
        .and_then(|date| date.to_str().ok());
    let Some(date) = date.map(str::to_owned) else {
        return Placed::Refused("a signature needs the field x-amz-date");
    };
    credential.signed.retain(|name| name != TOKEN.as_str());
    request.headers.remove(TOKEN);
    if let Some(token) = &keys.token {
        let Some(value) = hidden(token.as_bytes()) else {
            return Placed::Refused(NO_FIT);
        };
        request.headers.insert(TOKEN, value);
        credential.signed.push(TOKEN.as_str().to_owned());
    }
    credential.signed.sort();
    let (canonical, signed) = canonical_request(request, &credential, &hash);
    let canonical = hexadecimal(digest(&SHA256, canonical.as_bytes()).as_ref());
    let text = format!(
        "AWS4-HMAC-SHA256\n{date}\n{}\n{canonical}",
        credential.scope()
    );
    let signature = hexadecimal(keys.signing_key(&credential).sign(text.as_bytes()).as_ref());
    let line = format!(
        "AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={signed}, Signature={signature}",
        &*keys.id,
        credential.scope()
    );
    match hidden(line.as_bytes()) {
        Some(value) => {
            request.headers.insert(AUTHORIZATION, value);
            Placed::Put
        }
        None => Placed::Refused(NO_FIT),
    }
}

#[cfg(test)]
mod tests {
    use super::super::body_hash::body_hash;
    use super::super::testing::{PLACEHOLDER, request, secret};
    use super::*;

    const KEYS: &str = "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

    /// Signs a request of AWS's published test suite, in the suite's region and service.
    fn signature(
        method: &str,
        uri: &str,
        fields: &[(&str, &str)],
        body: &str,
        keys: &str,
    ) -> String {
        let names: Vec<_> = fields
            .iter()
            .map(|(name, _)| name.to_ascii_lowercase())
            .collect();
        let mut names: Vec<_> = names
            .iter()
            .map(String::as_str)
            .chain(["host", "x-amz-date"])
            .collect();
        names.sort();
        names.dedup();
        let own = format!(
            "AWS4-HMAC-SHA256 Credential={PLACEHOLDER}/20150830/us-east-1/service/aws4_request, SignedHeaders={}, Signature=00",
            names.join(";")
        );
        let fixed = [
            ("host", "example.amazonaws.com"),
            ("x-amz-date", "20150830T123600Z"),
            ("authorization", &own),
        ];
        let mut parts = request(uri, &[fields, &fixed].concat());
        parts.method = method.parse().unwrap();
        let secret = secret(r#"{"in":"aws"}"#, keys);
        assert_eq!(
            secret.put(&mut parts, &body_hash(body.as_bytes())),
            Placed::Put
        );
        let line = parts.headers[AUTHORIZATION].to_str().unwrap();
        assert!(
            line.starts_with(
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            ),
            "{line}"
        );
        line.rsplit('=').next().unwrap().to_owned()
    }

    #[test]
    fn requests_of_the_published_suite_get_its_signatures() {
        assert_eq!(
            signature("GET", "/", &[], "", KEYS),
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            "get-vanilla"
        );
        assert_eq!(
            signature("GET", "/?Param2=value2&Param1=value1", &[], "", KEYS),
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            "get-vanilla-query-order-key-case"
        );
        assert_eq!(
            signature("POST", "/", &[], "", KEYS),
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            "post-vanilla"
        );
        assert_eq!(
            signature(
                "GET",
                "/",
                &[("my-header1", "value1"), ("my-header2", "\"a   b   c\"")],
                "",
                KEYS
            ),
            "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
            "get-header-value-trim"
        );
        let form = [("content-type", "application/x-www-form-urlencoded")];
        assert_eq!(
            signature("POST", "/", &form, "Param1=value1", KEYS),
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            "post-x-www-form-urlencoded"
        );
        let token = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";
        assert_eq!(
            signature("POST", "/", &[], "", &format!("{KEYS}:{token}")),
            "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
            "post-sts-header-before"
        );
    }

    fn aws() -> crate::secrets::Secret {
        secret(r#"{"in":"aws"}"#, KEYS)
    }

    fn own(credential: &str, fields: &[(&str, &str)]) -> Parts {
        let line = format!(
            "AWS4-HMAC-SHA256 Credential={credential}/20150830/eu-west-1/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=00"
        );
        let fixed = [
            ("host", "b.s3.amazonaws.com"),
            ("authorization", line.as_str()),
        ];
        request("/", &[fields, &fixed].concat())
    }

    #[test]
    fn the_clients_own_key_stays() {
        let mut parts = own("AKIAOWN", &[("x-amz-date", "20150830T123600Z")]);
        let before = parts.headers.clone();
        assert_eq!(aws().put(&mut parts, &body_hash(b"")), Placed::Kept);
        assert_eq!(parts.headers, before);
        let mut unsigned = request("/", &[]);
        assert_eq!(aws().put(&mut unsigned, &body_hash(b"")), Placed::Kept);
    }

    #[test]
    fn chunks_with_signatures_are_refused_and_unsigned_ones_pass() {
        let fields = |hash| {
            [
                ("x-amz-date", "20150830T123600Z"),
                ("x-amz-content-sha256", hash),
            ]
        };
        let after = |hash| {
            let mut parts = own(PLACEHOLDER, &fields(hash));
            aws().put(&mut parts, &BodyHash::Stated)
        };
        assert_eq!(
            after("STREAMING-AWS4-HMAC-SHA256-PAYLOAD"),
            Placed::Refused(SIGNED_CHUNKS)
        );
        assert_eq!(
            after("STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"),
            Placed::Refused(SIGNED_CHUNKS)
        );
        assert_eq!(after("UNSIGNED-PAYLOAD"), Placed::Put);
        assert_eq!(after("STREAMING-UNSIGNED-PAYLOAD-TRAILER"), Placed::Put);
    }
}

//! The client's own signature header. All of it but the key and the signature is kept.

use super::super::swap::Swap;
use hyper::header::{AUTHORIZATION, HeaderName};
use hyper::http::request::Parts;

pub struct Credential {
    pub date: String,
    pub region: String,
    pub service: String,
    /// Lower case.
    pub signed: Vec<String>,
}

pub const END: &str = "aws4_request";
const SCHEME: &str = "AWS4-HMAC-SHA256 ";

impl Credential {
    /// None for a request without a signature, and for one signed with another key than the placeholder.
    pub fn of(request: &Parts, swap: Swap<'_>) -> Option<Credential> {
        let line = request.headers.get(AUTHORIZATION)?.to_str().ok()?;
        let mut fields = line.strip_prefix(SCHEME)?.split(',').map(str::trim);
        let credential = fields
            .clone()
            .find_map(|field| field.strip_prefix("Credential="))?;
        let signed = fields.find_map(|field| field.strip_prefix("SignedHeaders="))?;
        let parts: Vec<&str> = credential.split('/').collect();
        let [key, date, region, service, END] = parts[..] else {
            return None;
        };
        if key != swap.placeholder {
            return None;
        }
        let signed = signed.split(';').map(str::to_ascii_lowercase);
        Some(Credential {
            date: date.into(),
            region: region.into(),
            service: service.into(),
            signed: signed
                .filter(|name| name.parse::<HeaderName>().is_ok())
                .collect(),
        })
    }

    pub fn scope(&self) -> String {
        format!("{}/{}/{}/{END}", self.date, self.region, self.service)
    }
}

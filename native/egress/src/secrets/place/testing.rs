//! Secrets and requests of tests.

use super::{BodyHash, Placed};
use crate::secrets::Secret;
use hyper::Request;
use hyper::http::request::Parts;

pub const PLACEHOLDER: &str = "sandhaven-secret-00112233445566778899aabbccddeeff";

pub fn secret(place: &str, value: &str) -> Secret {
    let place: serde_json::Value = serde_json::from_str(place).unwrap();
    let json = serde_json::json!({
        "secret": "se_1", "name": "key", "placeholder": PLACEHOLDER, "value": value,
        "targets": [], "place": place, "expiresAt": null,
    });
    Secret::compile(serde_json::from_value(json).unwrap()).unwrap_or_else(|why| panic!("{why}"))
}

pub fn request(uri: &str, fields: &[(&str, &str)]) -> Parts {
    let request = Request::builder().uri(uri);
    let fields = fields.iter();
    let request = fields.fold(request, |request, (name, value)| {
        request.header(*name, *value)
    });
    request.body(()).unwrap().into_parts().0
}

pub fn placed(secret: &Secret, request: &mut Parts) -> Placed {
    secret.put(request, &BodyHash::Stated)
}

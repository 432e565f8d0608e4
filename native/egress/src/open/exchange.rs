//! One request on an opened connection, and its answer. Secrets are looked up for each request, so that a
//! rotation counts at once.

use super::answer::answer;
use super::content::Content;
use super::hops::{is_websocket, remove_hops};
use super::opened::Opened;
use super::request::{Fault, aim, check, target};
use super::scrub::{Scrubbed, is_text, scrub_fields};
use crate::bounds::SIGNED_BODY;
use crate::secrets::{BodyHash, Mask, Placed, Secret, body_hash};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use std::sync::Arc;

/// Fails where the request never reached the server, so that the client may send it again elsewhere.
pub async fn exchange(
    opened: Arc<Opened>,
    mut request: Request<Incoming>,
) -> Result<Response<Content>, hyper::Error> {
    let on_client = hyper::upgrade::on(&mut request);
    let (mut parts, body) = request.into_parts();
    let (version, is_switch) = (parts.version, is_websocket(&parts));
    let (body, masks) = match prepare(&opened, &mut parts, body, is_switch).await {
        Ok(prepared) => prepared,
        Err((status, why)) => return Ok(answer(status, &why)),
    };
    let mut response = match opened.server.send(Request::from_parts(parts, body)).await {
        Ok(response) => response,
        Err(error) if error.is_canceled() || error.is_closed() => return Err(error),
        Err(_) => {
            return Ok(answer(
                502,
                &opened.text("the server gave no answer that HTTP knows"),
            ));
        }
    };
    let is_switched = response.status() == StatusCode::SWITCHING_PROTOCOLS;
    if is_switched && !is_switch {
        return Ok(answer(
            502,
            &opened.text("the server switches protocols unasked"),
        ));
    }
    if is_switched {
        opened
            .upgrade
            .begin(on_client, hyper::upgrade::on(&mut response));
    }
    let (mut head, body) = response.into_parts();
    head.version = version;
    remove_hops(&mut head.headers, is_switched);
    let is_text = !masks.is_empty() && is_text(&head.headers);
    scrub_fields(&mut head.headers, &masks);
    let body = match masks.is_empty() {
        true => body.boxed_unsync(),
        false => Scrubbed::new(body, masks, is_text).boxed_unsync(),
    };
    Ok(Response::from_parts(head, body))
}

/// Prepares the request for the server, with the values of its secrets. Fails with a status and a text.
async fn prepare(
    opened: &Opened,
    parts: &mut Parts,
    body: Incoming,
    is_switch: bool,
) -> Result<(Content, Vec<Arc<Mask>>), (u16, String)> {
    let refused = |(status, why): Fault| {
        opened.report_refused(why);
        (status, opened.text(why))
    };
    if let Some(why) = opened.server.failure() {
        return Err(refused((502, why)));
    }
    check(parts, &opened.name, opened.port()).map_err(refused)?;
    remove_hops(&mut parts.headers, is_switch);
    aim(parts, opened.server.is_http_2());
    let Some(vault) = opened.vault() else {
        opened.report_passed(Vec::new());
        return Ok((body.boxed_unsync(), Vec::new()));
    };
    let (method, path) = (parts.method.to_string(), target(parts).to_owned());
    let secrets: Vec<&Secret> = vault
        .of(&opened.name, opened.port(), &method, &path)
        .collect();
    let (body, hash) = hashed(opened, parts, body, &secrets)
        .await
        .map_err(refused)?;
    let mut carried = Vec::new();
    for secret in secrets {
        if secret.has_expired() && secret.put(&mut parts.clone(), &hash) != Placed::Kept {
            opened.report_refused("the secret has expired");
            return Err((403, format!("The secret {} has expired.", secret.name)));
        }
        match secret.put(parts, &hash) {
            Placed::Kept => {}
            Placed::Put => carried.push(secret.id.clone()),
            Placed::Refused(why) => return Err(refused((403, why))),
        }
    }
    opened.report_passed(carried);
    Ok((body, vault.masks(&opened.name, opened.port())))
}

/// The body is read ahead only when a signature needs its hash and the request does not state it.
async fn hashed(
    opened: &Opened,
    parts: &Parts,
    body: Incoming,
    secrets: &[&Secret],
) -> Result<(Content, BodyHash), Fault> {
    if !secrets.iter().any(|secret| secret.needs_body(parts)) {
        return Ok((body.boxed_unsync(), BodyHash::Stated));
    }
    let _place = opened
        .take_body()
        .ok_or((503, "too many bodies are signed at once; try again"))?;
    let body = Limited::new(body, SIGNED_BODY).collect().await;
    let body: Bytes = match body {
        Ok(body) => body.to_bytes(),
        Err(_) => {
            return Err((
                413,
                "a body that is signed has 8 MiB at most; send it unsigned (UNSIGNED-PAYLOAD)",
            ));
        }
    };
    let hash = body_hash(&body);
    let body = Full::new(body).map_err(|never| match never {});
    Ok((body.boxed_unsync(), hash))
}

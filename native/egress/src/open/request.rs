//! Checks of requests: the gate accepts those for the server of its connection alone.

use crate::http::Authority;
use hyper::header::HOST;
use hyper::http::request::Parts;
use hyper::{Method, Uri, Version};

/// Status and reason of a refusal.
pub type Fault = (u16, &'static str);

/// `Host`, `:authority` and an absolute target must all be the server that TLS was made for.
pub fn check(request: &Parts, name: &str, port: u16) -> Result<(), Fault> {
    // TRACE would show the value to the client.
    if request.method == Method::CONNECT || request.method == Method::TRACE {
        return Err((405, "requests of this method are not passed on"));
    }
    let hosts = request.headers.get_all(HOST).iter();
    let hosts: Vec<&[u8]> = hosts.map(|host| host.as_bytes()).collect();
    let authority = request
        .uri
        .authority()
        .map(|authority| authority.as_str().as_bytes());
    let (count, is_http_2) = (hosts.len(), request.version == Version::HTTP_2);
    if count > 1 || (count == 0 && (!is_http_2 || authority.is_none())) {
        return Err((400, "it has no Host, or more than one"));
    }
    if request
        .uri
        .scheme_str()
        .is_some_and(|scheme| scheme != "https")
    {
        return Err((421, "its target has another scheme than the connection"));
    }
    let is_server = |host: &[u8]| {
        Authority::parse(host).is_some_and(|host| {
            host.name() == Some(name) && host.stated_port().is_none_or(|stated| stated == port)
        })
    };
    match hosts.into_iter().chain(authority).all(is_server) {
        true => Ok(()),
        false => Err((421, "its Host is not the server of the connection")),
    }
}

/// The target for rules: path and query.
pub fn target(request: &Parts) -> &str {
    request
        .uri
        .path_and_query()
        .map_or("/", |target| target.as_str())
}

/// Puts target and host into the places of the server's protocol.
pub fn aim(request: &mut Parts, is_http_2: bool) {
    if is_http_2 {
        // The authority may be missing, with a Host in its place.
        if request.uri.authority().is_none() {
            let host = request
                .headers
                .get(HOST)
                .and_then(|host| host.to_str().ok());
            let whole =
                host.and_then(|host| format!("https://{host}{}", target(request)).parse().ok());
            request.uri = whole.unwrap_or_default();
        }
        request.headers.remove(HOST);
        request.version = Version::HTTP_2;
        return;
    }
    request.version = Version::HTTP_11;
    if request.uri.authority().is_some() {
        let target: Option<Uri> = target(request).parse().ok();
        request.uri = target.unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn parts(method: &str, uri: &str, version: Version, hosts: &[&str]) -> Parts {
        let request = Request::builder().method(method).uri(uri).version(version);
        let request = hosts
            .iter()
            .fold(request, |request, host| request.header(HOST, *host));
        request.body(()).unwrap().into_parts().0
    }

    fn status(method: &str, uri: &str, version: Version, hosts: &[&str]) -> u16 {
        check(&parts(method, uri, version, hosts), "a.example", 443)
            .err()
            .map_or(200, |fault| fault.0)
    }

    #[test]
    fn a_request_is_for_the_server_of_its_connection() {
        for hosts in [&["a.example"][..], &["A.Example:443"]] {
            assert_eq!(status("GET", "/", Version::HTTP_11, hosts), 200);
        }
        assert_eq!(
            status(
                "GET",
                "https://a.example/",
                Version::HTTP_11,
                &["a.example"]
            ),
            200
        );
        assert_eq!(
            status("GET", "https://a.example/", Version::HTTP_2, &[]),
            200
        );
        assert_eq!(
            status("OPTIONS", "*", Version::HTTP_11, &["a.example"]),
            200
        );
    }

    #[test]
    fn another_host_in_any_place_is_misdirected() {
        for host in [
            "b.example",
            "a.example:8443",
            "a.example.",
            "a.example@b.example",
            "1.2.3.4",
            "",
            "a.example, b.example",
        ] {
            assert_eq!(status("GET", "/", Version::HTTP_11, &[host]), 421, "{host}");
        }
        assert_eq!(
            status(
                "GET",
                "https://b.example/",
                Version::HTTP_11,
                &["a.example"]
            ),
            421
        );
        assert_eq!(
            status(
                "GET",
                "https://a.example/",
                Version::HTTP_11,
                &["b.example"]
            ),
            421
        );
        assert_eq!(
            status("GET", "http://a.example/", Version::HTTP_11, &["a.example"]),
            421
        );
        assert_eq!(
            status("GET", "https://b.example/", Version::HTTP_2, &[]),
            421
        );
        assert_eq!(
            status("GET", "https://a.example/", Version::HTTP_2, &["b.example"]),
            421
        );
        assert_eq!(
            status("GET", "https://u@a.example/", Version::HTTP_2, &[]),
            421
        );
    }

    #[test]
    fn no_host_and_two_are_malformed() {
        assert_eq!(status("GET", "/", Version::HTTP_11, &[]), 400);
        assert_eq!(
            status("GET", "https://a.example/", Version::HTTP_11, &[]),
            400
        );
        assert_eq!(
            status("GET", "/", Version::HTTP_11, &["a.example", "a.example"]),
            400
        );
        assert_eq!(status("GET", "/", Version::HTTP_10, &[]), 400);
    }

    #[test]
    fn methods_that_lead_elsewhere_or_show_the_request_are_refused() {
        assert_eq!(
            status("CONNECT", "b.example:443", Version::HTTP_11, &["a.example"]),
            405
        );
        assert_eq!(status("TRACE", "/", Version::HTTP_11, &["a.example"]), 405);
    }

    #[test]
    fn a_target_is_written_as_the_servers_protocol_has_it() {
        let mut absolute = parts(
            "GET",
            "https://a.example/b?c",
            Version::HTTP_11,
            &["a.example"],
        );
        aim(&mut absolute, false);
        assert_eq!(absolute.uri.to_string(), "/b?c");
        let mut of_http_2 = parts(
            "GET",
            "https://a.example/b?c",
            Version::HTTP_2,
            &["a.example"],
        );
        aim(&mut of_http_2, true);
        assert_eq!(of_http_2.uri.to_string(), "https://a.example/b?c");
        assert!(of_http_2.headers.is_empty());
        let mut star = parts("OPTIONS", "*", Version::HTTP_11, &["a.example"]);
        aim(&mut star, false);
        assert_eq!(star.uri.to_string(), "*");
    }
}

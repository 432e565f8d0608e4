//! Requests that carry a secret: host and port, methods, and a path.

use crate::policy::{Pattern, is_below};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetText {
    host: String,
    port: u16,
    methods: Vec<String>,
    path: Option<String>,
}

pub struct Target {
    host: Pattern,
    port: u16,
    methods: Vec<String>,
    path: Option<String>,
}

impl Target {
    pub fn compile(text: TargetText) -> Result<Target, String> {
        let host = Pattern::parse(&text.host).ok_or(format!("not a host: {}", text.host))?;
        let is_path = text.path.as_ref().is_none_or(|path| path.starts_with('/'));
        if text.port == 0 || !is_path {
            return Err(format!("not a target at {}", text.host));
        }
        Ok(Target {
            host,
            port: text.port,
            methods: text.methods,
            path: text.path,
        })
    }

    pub fn is_at(&self, name: &str, port: u16) -> bool {
        self.port == port && self.host.matches(name)
    }

    /// True for requests of this target. The path is the request's own, with its query. A path that servers
    /// could read in two ways matches no target with a path.
    pub fn takes(&self, method: &str, path: &str) -> bool {
        (self.methods.is_empty() || self.methods.iter().any(|one| one == method))
            && self
                .path
                .as_ref()
                .is_none_or(|prefix| is_below(path, prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(json: &str) -> Target {
        Target::compile(serde_json::from_str(json).unwrap()).unwrap_or_else(|why| panic!("{why}"))
    }

    #[test]
    fn a_target_is_a_host_at_its_port() {
        let exact = target(r#"{"host":"api.example.com","port":443,"methods":[],"path":null}"#);
        assert!(exact.is_at("api.example.com", 443));
        for (name, port) in [
            ("api.example.com", 8443),
            ("a.api.example.com", 443),
            ("evilapi.example.com", 443),
        ] {
            assert!(!exact.is_at(name, port), "{name}:{port}");
        }
        let below = target(r#"{"host":"*.example.com","port":443,"methods":[],"path":null}"#);
        assert!(below.is_at("a.b.example.com", 443));
        assert!(!below.is_at("example.com", 443));
    }

    #[test]
    fn methods_and_a_path_narrow_it() {
        let narrow = target(r#"{"host":"a.example","port":443,"methods":["GET"],"path":"/v1"}"#);
        assert!(narrow.takes("GET", "/v1/a?x=../.."));
        for (method, path) in [
            ("POST", "/v1/a"),
            ("get", "/v1/a"),
            ("GET", "/v2"),
            ("GET", "/v10"),
            ("GET", "/v1/../v2"),
            ("GET", "/v1/%2e%2e/v2"),
            ("GET", "/v1/..%2fv2"),
            ("GET", "/v1%2f..%2fv2"),
            ("GET", "/v1//../v2"),
            ("GET", "*"),
        ] {
            assert!(!narrow.takes(method, path), "{method} {path}");
        }
    }

    #[test]
    fn what_is_no_target_is_refused() {
        for json in [
            r#"{"host":"A.example","port":443,"methods":[],"path":null}"#,
            r#"{"host":"1.2.3.4","port":443,"methods":[],"path":null}"#,
            r#"{"host":"a.example","port":0,"methods":[],"path":null}"#,
            r#"{"host":"a.example","port":443,"methods":[],"path":"v1"}"#,
        ] {
            assert!(
                Target::compile(serde_json::from_str(json).unwrap()).is_err(),
                "{json}"
            );
        }
    }
}

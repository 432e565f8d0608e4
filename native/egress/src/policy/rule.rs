//! One rule: protocol, target, ports, and for HTTP methods and a path.

use super::asked::{Asked, Kind};
use super::name::Pattern;
use super::path;
use super::range::Range;
use serde::Deserialize;
use std::sync::Arc;

/// A rule in the service's form (`NetworkRule` of src/model/network/policy.ts).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleText {
    text: String,
    protocol: Protocol,
    host: Option<String>,
    address: Option<String>,
    ports: Option<(u16, u16)>,
    methods: Vec<String>,
    path: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Protocol {
    Https,
    Http,
    Tcp,
    Udp,
    Icmp,
}

#[derive(Debug)]
pub enum Target {
    /// The destination must be an address that the resolver gave for the name.
    Name(Pattern),
    Range(Range),
}

#[derive(Debug)]
pub struct Rule {
    pub text: Arc<str>,
    pub target: Target,
    protocol: Protocol,
    ports: (u16, u16),
    methods: Vec<String>,
    path: Option<String>,
}

impl Rule {
    pub fn compile(rule: RuleText) -> Result<Rule, String> {
        let target = match (&rule.host, &rule.address) {
            (Some(host), None) => Pattern::parse(host).map(Target::Name),
            (None, Some(address)) => Range::parse(address).map(Target::Range),
            _ => None,
        };
        let is_http = rule.protocol == Protocol::Http;
        let has_more = !rule.methods.is_empty() || rule.path.is_some();
        let ports = match (rule.protocol, rule.ports) {
            (Protocol::Icmp, None) => Some((0, 0)),
            (Protocol::Icmp, Some(_)) | (_, None) => None,
            (_, Some((first, last))) => (1 <= first && first <= last).then_some((first, last)),
        };
        match (target, ports) {
            (Some(target), Some(ports)) if is_http || !has_more => Ok(Rule {
                text: rule.text.into(),
                target,
                protocol: rule.protocol,
                ports,
                methods: rule.methods,
                path: rule.path,
            }),
            _ => Err(format!("not a rule: {}", rule.text)),
        }
    }

    /// True when the rule admits the connection or request. For a rule with a name, the caller checks that
    /// the destination is an address of that name.
    pub fn admits(&self, asked: &Asked) -> bool {
        let protocol = match asked.kind {
            Kind::Tls => Protocol::Https,
            Kind::Http => Protocol::Http,
            Kind::Tcp => Protocol::Tcp,
        };
        let (first, last) = self.ports;
        let is_target = match &self.target {
            Target::Name(pattern) => asked
                .name
                .as_deref()
                .is_some_and(|name| pattern.matches(name)),
            Target::Range(range) => range.contains(*asked.destination.ip()),
        };
        self.protocol == protocol
            && (first..=last).contains(&asked.destination.port())
            && is_target
            && (self.methods.is_empty() || self.methods.contains(&asked.method))
            && self
                .path
                .as_ref()
                .is_none_or(|prefix| path::is_below(&asked.path, prefix))
    }

    /// True for a rule, of any protocol, that lets sandboxes resolve the name.
    pub fn names(&self, name: &str) -> bool {
        matches!(&self.target, Target::Name(pattern) if pattern.matches(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn rule(json: &str) -> Result<Rule, String> {
        Rule::compile(serde_json::from_str(json).map_err(|error| error.to_string())?)
    }

    fn of(protocol: &str, target: &str, ports: &str, more: &str) -> Result<Rule, String> {
        rule(&format!(
            r#"{{"text":"t","protocol":"{protocol}",{target},"ports":{ports},{more}}}"#
        ))
    }

    const HOST: &str = r#""host":"*.example.com","address":null"#;
    const ADDRESS: &str = r#""host":null,"address":"203.0.113.0/24""#;
    const ALL: &str = r#""methods":[],"path":null"#;

    fn asked(kind: Kind, name: Option<&str>, port: u16) -> Asked {
        Asked {
            kind,
            name: name.map(str::to_owned),
            destination: std::net::SocketAddrV4::new("203.0.113.7".parse().unwrap(), port),
            method: "GET".into(),
            path: "/v1/a".into(),
        }
    }

    #[test]
    fn a_rule_admits_its_protocol_name_and_ports_alone() {
        let rule = of("https", HOST, "[443,444]", ALL).unwrap();
        assert!(rule.admits(&asked(Kind::Tls, Some("api.example.com"), 443)));
        assert!(rule.admits(&asked(Kind::Tls, Some("api.example.com"), 444)));
        assert!(!rule.admits(&asked(Kind::Tls, Some("api.example.com"), 445)));
        assert!(!rule.admits(&asked(Kind::Tls, Some("api.example.com"), 442)));
        assert!(!rule.admits(&asked(Kind::Http, Some("api.example.com"), 443)));
        assert!(!rule.admits(&asked(Kind::Tcp, Some("api.example.com"), 443)));
        assert!(!rule.admits(&asked(Kind::Tls, Some("example.com"), 443)));
        assert!(!rule.admits(&asked(Kind::Tls, None, 443)));
    }

    #[test]
    fn a_rule_for_addresses_admits_any_name_there_and_none() {
        let rule = of("https", ADDRESS, "[443,443]", ALL).unwrap();
        assert!(rule.admits(&asked(Kind::Tls, Some("any.example"), 443)));
        assert!(rule.admits(&asked(Kind::Tls, None, 443)));
        assert!(!rule.names("any.example"));
    }

    #[test]
    fn methods_and_path_narrow_a_rule() {
        let rule = of("http", HOST, "[80,80]", r#""methods":["GET"],"path":"/v1""#).unwrap();
        let request = asked(Kind::Http, Some("a.example.com"), 80);
        assert!(rule.admits(&request));
        assert!(!rule.admits(&Asked {
            method: "get".into(),
            ..request.clone()
        }));
        assert!(!rule.admits(&Asked {
            path: "/v2".into(),
            ..request
        }));
    }

    #[test]
    fn rules_of_udp_and_icmp_admit_no_connection() {
        for (protocol, ports) in [("udp", "[1,65535]"), ("icmp", "null")] {
            let rule = of(protocol, ADDRESS, ports, ALL).unwrap();
            for kind in [Kind::Tls, Kind::Http, Kind::Tcp] {
                assert!(!rule.admits(&asked(kind, None, 443)));
            }
        }
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        assert!(of("https", HOST, "null", ALL).is_err());
        assert!(of("https", HOST, "[0,443]", ALL).is_err());
        assert!(of("https", HOST, "[444,443]", ALL).is_err());
        assert!(of("icmp", ADDRESS, "[1,2]", ALL).is_err());
        assert!(of("https", HOST, "[443,443]", r#""methods":[],"path":"/a""#).is_err());
        assert!(of("tcp", HOST, "[22,22]", r#""methods":["GET"],"path":null"#).is_err());
        assert!(of("https", r#""host":null,"address":null"#, "[443,443]", ALL).is_err());
        assert!(
            of(
                "https",
                r#""host":"a.b","address":"1.2.3.4/32""#,
                "[443,443]",
                ALL
            )
            .is_err()
        );
        assert!(of("gopher", HOST, "[70,70]", ALL).is_err());
        assert!(
            of(
                "https",
                HOST,
                "[443,443]",
                r#""methods":[],"path":null,"more":1"#
            )
            .is_err()
        );
    }
}

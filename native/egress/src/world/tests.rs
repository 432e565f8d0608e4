//! Decisions about several sandboxes at once.

use super::live::Live;
use super::sandbox::{Decision, Policy};
use super::state::{Question, Refusal, World};
use crate::policy::{Asked, Kind, Rule};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

const SOURCE: Ipv4Addr = Ipv4Addr::new(10, 213, 0, 5);
const OTHER: Ipv4Addr = Ipv4Addr::new(10, 213, 0, 6);
const ADDRESS: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 7);

fn policy(sandbox: &str, owner: &str, hosts: &[&str]) -> Policy {
    let rule = |host: &&str| {
        let (protocol, host) = host.split_once("://").unwrap();
        let json = format!(
            r#"{{"text":"{protocol}://{host}","protocol":"{protocol}","host":"{host}","address":null,"ports":[443,443],"methods":[],"path":null}}"#
        );
        Rule::compile(serde_json::from_str(&json).unwrap()).unwrap()
    };
    Policy {
        sandbox: sandbox.into(),
        owner: owner.into(),
        rules: hosts.iter().map(rule).collect(),
        open: false,
        vault: None,
    }
}

fn asked(name: &str) -> Asked {
    let destination = SocketAddrV4::new(ADDRESS, 443);
    Asked {
        kind: Kind::Tls,
        name: Some(name.into()),
        destination,
        method: String::new(),
        path: String::new(),
    }
}

fn is_allowed(world: &World, live: &Live, name: &str) -> bool {
    matches!(world.decide(live, asked(name)), Decision::Allowed(_))
}

fn open(sandbox: &str, hosts: &[&str]) -> Policy {
    Policy {
        open: true,
        ..policy(sandbox, "us_1", hosts)
    }
}

const TTL: Duration = Duration::from_secs(60);

#[test]
fn a_name_is_allowed_at_addresses_that_this_sandbox_got_for_it() {
    let world = World::new(100);
    world.set(
        SOURCE,
        policy("sb_1", "us_1", &["https://a.example", "https://b.example"]),
    );
    world.set(OTHER, policy("sb_2", "us_1", &["https://a.example"]));
    let live = world.enter(SOURCE).unwrap();
    assert!(!is_allowed(&world, &live, "a.example"));
    assert!(world.remember(OTHER, "sb_2", "a.example", &[ADDRESS], TTL));
    assert!(!is_allowed(&world, &live, "a.example"));
    assert!(world.remember(SOURCE, "sb_1", "a.example", &[ADDRESS], TTL));
    assert!(is_allowed(&world, &live, "a.example"));
    assert!(!is_allowed(&world, &live, "b.example"));
    assert!(!world.remember(SOURCE, "sb_1", "c.example", &[ADDRESS], TTL));
    assert!(!world.remember(SOURCE, "sb_2", "a.example", &[ADDRESS], TTL));
}

#[test]
fn a_rule_for_tcp_takes_the_name_that_has_the_address() {
    let world = World::new(100);
    world.set(SOURCE, policy("sb_1", "us_1", &["tcp://a.example"]));
    let live = world.enter(SOURCE).unwrap();
    let to = |port| SocketAddrV4::new(ADDRESS, port);
    assert!(world.decide_tcp(&live, to(443)).is_none());
    world.remember(SOURCE, "sb_1", "a.example", &[ADDRESS], TTL);
    let (rule, asked) = world.decide_tcp(&live, to(443)).unwrap();
    assert_eq!(
        (&*rule, asked.name.as_deref()),
        ("tcp://a.example", Some("a.example"))
    );
    assert!(world.decide_tcp(&live, to(22)).is_none());
}

#[test]
fn a_new_policy_ends_what_it_does_not_admit_and_nothing_else() {
    let world = World::new(100);
    world.set(
        SOURCE,
        policy("sb_1", "us_1", &["https://a.example", "https://b.example"]),
    );
    for name in ["a.example", "b.example"] {
        world.remember(SOURCE, "sb_1", name, &[ADDRESS], TTL);
    }
    let lives: Vec<_> = (0..3).map(|_| world.enter(SOURCE).unwrap()).collect();
    assert!(is_allowed(&world, &lives[0], "a.example"));
    assert!(is_allowed(&world, &lives[1], "b.example"));
    let ended = world.set(SOURCE, policy("sb_1", "us_1", &["https://b.example"]));
    assert_eq!(
        ended.iter().map(|live| live.number).collect::<Vec<_>>(),
        [lives[0].number]
    );
    assert!(!is_allowed(&world, &lives[2], "a.example"));
    assert!(is_allowed(&world, &lives[2], "b.example"));
}

#[test]
fn a_question_below_a_suffix_has_its_rule_until_the_name_is_known() {
    let world = World::new(100);
    let rules = ["https://*.wide.example", "https://one.wide.example"];
    world.set(SOURCE, policy("sb_1", "us_1", &rules));
    let widely = |name| match world.question(SOURCE, Some(name)) {
        Question::Allowed { widely, .. } => widely,
        _ => panic!("{name} is not allowed"),
    };
    let rule = widely("data.wide.example");
    assert_eq!(rule.as_deref(), Some("https://*.wide.example"));
    assert_eq!(widely("one.wide.example"), None);
    world.remember(SOURCE, "sb_1", "data.wide.example", &[ADDRESS], TTL);
    assert_eq!(widely("data.wide.example"), None);
}

#[test]
fn an_open_policy_resolves_all_names_and_admits_all_with_the_rule_that_would() {
    let world = World::new(100);
    world.set(SOURCE, open("sb_1", &["https://a.example"]));
    let is_asked = |name| matches!(world.question(SOURCE, name), Question::Allowed { .. });
    assert!(is_asked(Some("any.example")));
    assert!(!is_asked(None));
    world.remember(SOURCE, "sb_1", "a.example", &[ADDRESS], TTL);
    let live = world.enter(SOURCE).unwrap();
    assert_eq!(world.admit_open(&live, asked("b.example")), Some(None));
    let rule = world.admit_open(&live, asked("a.example")).unwrap();
    assert_eq!(rule.as_deref(), Some("https://a.example"));
}

#[test]
fn the_end_of_an_open_policy_ends_what_it_admitted() {
    let world = World::new(100);
    world.set(SOURCE, open("sb_1", &[]));
    let live = world.enter(SOURCE).unwrap();
    assert!(world.admit_open(&live, asked("a.example")).is_some());
    assert!(
        world
            .set(SOURCE, open("sb_1", &["https://a.example"]))
            .is_empty()
    );
    let ended = world.set(SOURCE, policy("sb_1", "us_1", &["https://a.example"]));
    assert_eq!(ended.len(), 1);
    let late = world.enter(SOURCE).unwrap();
    assert_eq!(world.admit_open(&late, asked("a.example")), None);
}

#[test]
fn another_sandbox_at_the_address_inherits_nothing() {
    let world = World::new(100);
    world.set(SOURCE, policy("sb_1", "us_1", &["https://a.example"]));
    world.remember(SOURCE, "sb_1", "a.example", &[ADDRESS], TTL);
    let old = world.enter(SOURCE).unwrap();
    assert_eq!(
        world
            .set(SOURCE, policy("sb_2", "us_1", &["https://a.example"]))
            .len(),
        1
    );
    let new = world.enter(SOURCE).unwrap();
    assert!(!is_allowed(&world, &new, "a.example"));
    assert!(world.remember(SOURCE, "sb_2", "a.example", &[ADDRESS], TTL));
    assert!(!is_allowed(&world, &old, "a.example"));
    world.leave(&old);
    assert!(is_allowed(&world, &new, "a.example"));
    assert_eq!(world.connections(), 1);
}

#[test]
fn a_forgotten_sandbox_is_unknown() {
    let world = World::new(100);
    assert_eq!(world.enter(SOURCE).err(), Some(Refusal::UnknownSource));
    assert_eq!(
        world.question(SOURCE, Some("a.example")),
        Question::UnknownSource
    );
    world.set(SOURCE, policy("sb_1", "us_1", &["https://a.example"]));
    let live = world.enter(SOURCE).unwrap();
    assert_eq!(world.forget(SOURCE).len(), 1);
    assert!(!is_allowed(&world, &live, "a.example"));
    assert_eq!(world.enter(SOURCE).err(), Some(Refusal::UnknownSource));
    assert_eq!(world.connections(), 0);
}

#[test]
fn names_of_rules_may_be_asked_for_and_no_others() {
    let world = World::new(100);
    world.set(
        SOURCE,
        policy("sb_1", "us_1", &["tcp://a.example", "https://*.b.example"]),
    );
    let is_asked = |name| matches!(world.question(SOURCE, name), Question::Allowed { .. });
    assert!(is_asked(Some("a.example")));
    assert!(is_asked(Some("x.b.example")));
    assert!(!is_asked(Some("b.example")));
    assert!(!is_asked(Some("c.example")));
    assert!(!is_asked(None));
    let left = (0..1000).filter(|_| is_asked(Some("a.example"))).count();
    assert!((395..=500).contains(&left), "{left}");
    assert_eq!(world.question(SOURCE, Some("a.example")), Question::TooMany);
}

#[test]
fn an_open_network_admits_what_no_rule_does_until_rules_take_its_place() {
    let world = World::new(100);
    let open = Policy {
        open: true,
        ..policy("sb_1", "us_1", &["tcp://a.example"])
    };
    world.set(SOURCE, open);
    let live = world.enter(SOURCE).unwrap();
    assert!(world.is_open(&live));
    assert_eq!(world.admit_open(&live, asked("b.example")), Some(None));
    assert!(matches!(
        world.question(SOURCE, Some("b.example")),
        Question::Allowed { .. }
    ));
    // Only rules pass a connection on before its first byte.
    let to = SocketAddrV4::new(ADDRESS, 443);
    assert!(world.decide_tcp(&live, to).is_none());
    world.remember(SOURCE, "sb_1", "a.example", &[ADDRESS], TTL);
    assert!(world.decide_tcp(&live, to).is_some());
    world.admit_open(&live, asked("b.example"));
    let ended = world.set(SOURCE, policy("sb_1", "us_1", &["tcp://a.example"]));
    assert_eq!(ended.len(), 1);
    assert!(!world.is_open(&live));
}

#[test]
fn a_sandbox_has_a_bound_of_its_own() {
    let world = World::new(10_000);
    world.set(SOURCE, policy("sb_1", "us_1", &[]));
    assert_eq!(
        (0..2000).filter(|_| world.enter(SOURCE).is_ok()).count(),
        1024
    );
}

#[test]
fn the_owner_with_most_gives_way() {
    let world = World::new(10);
    world.set(SOURCE, policy("sb_1", "us_1", &[]));
    world.set(OTHER, policy("sb_2", "us_2", &[]));
    let first: Vec<_> = (0..10).map(|_| world.enter(SOURCE).unwrap()).collect();
    assert!(matches!(world.enter(SOURCE), Err(Refusal::TooMany { .. })));
    assert_eq!((0..10).filter(|_| world.enter(OTHER).is_ok()).count(), 5);
    assert_eq!(world.connections(), 10);
    for live in &first[5..] {
        world.leave(live);
    }
    assert_eq!(world.connections(), 10);
}

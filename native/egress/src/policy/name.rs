//! Host names, and the patterns of rules for them. A name is in lower case, has no dot at its end and is not
//! an address, so that names of the same host are equal.

/// Reads a host name as a client wrote it. Refuses names that no resolver answers, and every text that some
/// program would read as an address: `127.1`, `0x7f000001`.
pub fn parse_name(bytes: &[u8]) -> Option<String> {
    let is_label = |label: &[u8]| {
        let inside = label
            .iter()
            .all(|&byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        inside && (1..=63).contains(&label.len())
    };
    if bytes.len() > 253 || !bytes.split(|&byte| byte == b'.').all(is_label) {
        return None;
    }
    let last = bytes.rsplit(|&byte| byte == b'.').next()?;
    if is_number(last) {
        return None;
    }
    Some(String::from_utf8_lossy(bytes).to_ascii_lowercase())
}

fn is_number(label: &[u8]) -> bool {
    let hexadecimal = label.strip_prefix(b"0x").or(label.strip_prefix(b"0X"));
    match hexadecimal {
        Some(digits) => digits.iter().all(u8::is_ascii_hexdigit),
        None => label.iter().all(u8::is_ascii_digit),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    Exact(String),
    /// All names that end with this, which begins with a dot.
    Below(String),
}

impl Pattern {
    /// Reads a name, or `*.` and a name.
    pub fn parse(text: &str) -> Option<Pattern> {
        let (name, is_exact) = match text.strip_prefix("*.") {
            Some(rest) => (rest, false),
            None => (text, true),
        };
        if parse_name(name.as_bytes())? != name {
            return None;
        }
        Some(match is_exact {
            true => Pattern::Exact(name.to_owned()),
            false => Pattern::Below(format!(".{name}")),
        })
    }

    pub fn is_exact(&self) -> bool {
        matches!(self, Pattern::Exact(_))
    }

    pub fn matches(&self, name: &str) -> bool {
        match self {
            Pattern::Exact(exact) => exact == name,
            Pattern::Below(suffix) => name.len() > suffix.len() && name.ends_with(suffix.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lower_case() {
        assert_eq!(
            parse_name(b"API.Example.com").as_deref(),
            Some("api.example.com")
        );
        assert_eq!(
            parse_name(b"_dmarc.a-b.example").as_deref(),
            Some("_dmarc.a-b.example")
        );
        assert_eq!(parse_name(b"localhost").as_deref(), Some("localhost"));
    }

    #[test]
    fn what_is_no_name_is_refused() {
        let long_label = [b"a".repeat(64), b".com".to_vec()].concat();
        let long = b"a.".repeat(127);
        let wrong: [&[u8]; 18] = [
            b"",
            b".",
            b"a.",
            b".a",
            b"a..b",
            b"a b",
            b"a\0b",
            b"a/b",
            b"a:80",
            b"user@a",
            b"127.0.0.1",
            b"127.1",
            b"2130706433",
            b"0x7f000001",
            b"a.0x",
            b"[::1]",
            "b\u{fc}cher.example".as_bytes(),
            b"*.example.com",
        ];
        for name in wrong.into_iter().chain([&long_label[..], &long[..]]) {
            assert_eq!(
                parse_name(name),
                None,
                "{:?}",
                name.escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn a_suffix_matches_names_below_it_at_any_depth_and_nothing_else() {
        let pattern = Pattern::parse("*.pypi.org").unwrap();
        assert!(pattern.matches("files.pypi.org"));
        assert!(pattern.matches("a.b.pypi.org"));
        for name in [
            "pypi.org",
            "evilpypi.org",
            "pypi.org.evil.example",
            ".pypi.org",
            "files.pypi.org.x",
        ] {
            assert!(!pattern.matches(name), "{name}");
        }
    }

    #[test]
    fn an_exact_name_matches_itself_alone() {
        let pattern = Pattern::parse("pypi.org").unwrap();
        assert!(pattern.matches("pypi.org"));
        assert!(!pattern.matches("a.pypi.org"));
        assert!(!pattern.matches("ypi.org"));
    }

    #[test]
    fn patterns_are_canonical() {
        for text in [
            "",
            "*",
            "*.",
            "Pypi.org",
            "a.*.org",
            "*.*.org",
            "pypi.org.",
            "1.2.3.4",
        ] {
            assert_eq!(Pattern::parse(text), None, "{text}");
        }
    }
}

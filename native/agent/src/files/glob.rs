//! Glob patterns, as a regular expression: linear in time whatever the pattern.
//!
//! `*` and `?` match anything but `/`; `**` as a whole part matches any number of parts; `[a-z]`, `[!a-z]` and
//! `{a,b}` as in a shell; `\` takes the next character as it is. Characters are compared, not bytes.

use regex::Regex;

use crate::wire::fault::Fault;

const MAX_COMPILED_BYTES: usize = 4 << 20;

pub struct Glob {
    regex: Regex,
    /// True for a pattern of paths; false for one of names.
    pub of_path: bool,
}

impl Glob {
    pub fn new(pattern: &str) -> Result<Self, String> {
        let expression = translate(pattern)?;
        let regex = regex::RegexBuilder::new(&expression)
            .size_limit(MAX_COMPILED_BYTES)
            .build()
            .map_err(|_| "it is too complex, or a range in it is reversed".to_owned())?;
        Ok(Self {
            regex,
            of_path: pattern.contains('/'),
        })
    }

    /// As `new`, for a field of a request.
    pub fn parse(parameter: &'static str, pattern: &str) -> Result<Self, Fault> {
        Self::new(pattern).map_err(|reason| {
            Fault::invalid(
                parameter,
                format!("The pattern '{pattern}' is not a glob: {reason}."),
            )
            .hint("Put a backslash before a special character to mean it literally.")
        })
    }

    pub fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

fn translate(pattern: &str) -> Result<String, String> {
    let mut out = String::from("(?s)^(?:");
    let mut rest = pattern.chars().peekable();
    let mut previous = '/';
    let mut braces = 0;
    while let Some(character) = rest.next() {
        match character {
            '*' => {
                let whole_part = previous == '/';
                let mut stars = 1;
                while rest.next_if_eq(&'*').is_some() {
                    stars += 1;
                }
                match rest.peek() {
                    Some('/') if stars > 1 && whole_part => {
                        rest.next();
                        out.push_str("(?:.*/)?");
                        previous = '/';
                        continue;
                    }
                    None if stars > 1 && whole_part => out.push_str(".*"),
                    _ => out.push_str("[^/]*"),
                }
            }
            '?' => out.push_str("[^/]"),
            '[' => class(&mut rest, &mut out)?,
            '{' => {
                braces += 1;
                out.push_str("(?:");
            }
            ',' if braces > 0 => out.push('|'),
            '}' if braces > 0 => {
                braces -= 1;
                out.push(')');
            }
            '\\' => literal(rest.next().ok_or("it ends in a backslash")?, &mut out),
            other => literal(other, &mut out),
        }
        previous = character;
    }
    if braces > 0 {
        return Err("a '{' is not closed".to_owned());
    }
    out.push_str(")$");
    Ok(out)
}

/// Translates the rest after a `[`, up to its `]`; a `]` that comes first is one of the characters.
fn class(
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    out: &mut String,
) -> Result<(), String> {
    let unclosed = || "a '[' is not closed".to_owned();
    let negated = rest.next_if(|next| matches!(next, '!' | '^')).is_some();
    let mut members = String::new();
    let mut first = true;
    loop {
        let mut character = rest.next().ok_or_else(unclosed)?;
        if character == ']' && !first {
            break;
        }
        let is_range = character == '-' && !first && rest.peek().is_some_and(|next| *next != ']');
        first = false;
        if is_range {
            members.push('-');
            continue;
        }
        if character == '\\' {
            character = rest.next().ok_or_else(unclosed)?;
        }
        literal(character, &mut members);
    }
    out.push_str(if negated { "[^/" } else { "[" });
    out.push_str(&members);
    // A slash separates parts even when a range spans it.
    out.push_str(if negated { "]" } else { "&&[^/]]" });
    Ok(())
}

fn literal(character: char, out: &mut String) {
    out.push_str(&regex::escape(character.encode_utf8(&mut [0; 4])));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Glob::new(pattern).unwrap().matches(text)
    }

    #[test]
    fn names_match_as_in_a_shell() {
        for (pattern, text, expected) in [
            ("*.py", "a.py", true),
            ("*.py", ".py", true),
            ("*.py", "a.pyc", false),
            ("*", "a\nb", true),
            ("?", "é", true),
            ("??", "é", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]]", "]", true),
            ("[a-]", "-", true),
            ("[é]", "é", true),
            ("*.{ts,tsx}", "a.tsx", true),
            ("*.{ts,tsx}", "a.js", false),
            ("{a,b{c,d}}", "bd", true),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
            ("a.b", "axb", false),
            ("a,b", "a,b", true),
            ("[[]x", "[x", true),
            ("[&&a]", "&", true),
            ("\u{F7FF}*", "\u{F7FF}a", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn paths_match_part_by_part() {
        for (pattern, text, expected) in [
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/b/a.rs", false),
            ("**/*.rs", "a.rs", true),
            ("**/*.rs", "src/b/a.rs", true),
            ("src/**", "src/b/a.rs", true),
            ("src/**/a.rs", "src/a.rs", true),
            ("a[+-0]b", "a/b", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn what_is_not_closed_is_refused() {
        for pattern in ["[a", "{a", "a\\", "[z-a]"] {
            assert!(Glob::new(pattern).is_err(), "{pattern}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn no_pattern_breaks_it(pattern in "[a-c*?\\[\\]{}!,\\\\/^&~|.-]{0,14}", text in "[a-c/.-]{0,10}") {
            if let Ok(glob) = Glob::new(&pattern) {
                glob.matches(&text);
            }
        }

        #[test]
        fn escaped_text_matches_itself_alone(text in "[ -~é\n]{0,12}", other in "[ -~]{0,12}") {
            let pattern: String = text.chars().flat_map(|character| ['\\', character]).collect();
            prop_assert!(matches(&pattern, &text));
            prop_assert_eq!(matches(&pattern, &other), text == other);
        }
    }
}

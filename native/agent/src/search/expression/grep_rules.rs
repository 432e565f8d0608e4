//! The table of what `grep -E` of the base image matches and refuses, in its UTF-8 locale.

use std::time::Duration;

use super::matcher::Matcher;
use crate::init::workers::Cancelled;
use crate::search::budget::Budget;

/// True where a line matches; None when the query is no expression.
fn matches(query: &str, line: &str) -> Option<bool> {
    let matcher = Matcher::new(query, "query").ok()?;
    let budget = Budget::new(&Cancelled::default(), Duration::from_secs(60));
    let line = format!("{line}\n");
    let found = matcher.is_match(&mut matcher.scratch(), line.as_bytes(), &budget);
    if matcher.literal { None } else { found.ok() }
}

#[rustfmt::skip]
const MATCHED: [(&str, &str); 60] = [
    ("a|b", "xb"), ("(a|b)+c", "abac"), ("a{2}", "baab"), ("^a{,2}b", "aab"), ("a{,}b", "b"),
    ("a{x}", "a{x}"), ("a{1", "a{1"), ("a{1,x}", "a{1,x}"), ("{", "{"), ("{}", "{}"),
    ("a{2}{3}", "aaaaaa"), ("*ab", "ab"), ("a|*b", "b"), ("(+a)", "a"), ("^*ab", "xab"),
    ("a**", ""), ("x(?:a)", "x:a"), ("()", ""), ("(|a)b", "b"), ("a||b", "x"), ("a)", "a)"),
    ("()b)", "b)"), ("(^a|b$)", "xb"), ("\\(a\\)", "(a)"), ("\\/\\-\\:\\0\\n", "/-:0n"),
    ("\\d\\D", "5x"), ("\\w+", "é"), ("\\w", "٣"), ("\\s", "\u{2003}"), ("\\bé\\b", "x é y"),
    ("\\Ba", "ba"), ("\\<a\\>", "xa a"), ("\\`a\\'", "a"), ("[]a]", "]"), ("[]-a]", "^"),
    ("[a\\]b]", "ab]"), ("[\\n]", "n"), ("[a-]", "-"), ("[--/]", "."), ("[%--]", "-"),
    ("[a-z-]", "-"), ("[a[]", "["), ("[[.a.]]", "a"), ("[[.-.]-0]", "/"), ("[[.].]]", "]"),
    ("[[=a=]]", "a"), ("[[:alpha:]_]", "É"), ("[[:punct:]]", "«"), ("[:a-c:]", "b"), ("^$", ""),
    ("(a)\\1", "aa"), ("((a)|b)\\2", "aa"), ("(a)*\\1", "aa"), ("(.*)\\1x", "abcabcx"),
    ("\\b(\\w+) \\1\\b", "the the"), ("(a*)*\\1b", "aab"), ("x\ny", "y"), ("(x)\\1\n(y)\\1", "yy"),
    ("(é|a){2}\\1", "aéé"), ("[é-ü]", "ñ"),
];

#[rustfmt::skip]
const PASSED_OVER: [(&str, &str); 30] = [
    ("a{2,}b", "ab"), ("^a{,2}b$", "aaab"), ("a{2}{3}", "aaaaa"), ("a$b", "a$b"), ("a^b", "a^b"),
    ("a\\.b", "axb"), ("\\d", "٣"), ("\\w", "²"), ("\\W", "é"), ("\\s", "\u{A0}"), ("\\S", "\t "),
    ("\\bb", "éb"), ("\\<a\\>", "xa ax"), ("a\\'", "ab"), ("[^]a]", "]"), ("[^[:space:]]", " \t"),
    ("[[:upper:]]", "é"), ("[\t-z]", ""), ("[^a]", "a"), (".", ""), ("^$", "a"),
    ("(a|b)\\1", "ab"), ("^(.+)\\1$", "ababab"), ("\\b(\\w+) \\1\\b", "the then"), ("a{0}b", "a"),
    ("(a){0}\\1", "x"), ("(x)\\1\n(y)\\1", "xy"), ("[[:digit:]]", "٣"), ("\\S", "\u{3000}"),
    ("(a*)\\1b$", "b "),
];

#[rustfmt::skip]
const REFUSED: [&str; 28] = [
    "(a", "a\\", "[a", "[]", "[[:alpha:]", "[[:foo:]]", "[:space:]", "[^:a:]", "[z-a]", "[a-c-e]",
    "[a--]", "[a-[:alpha:]]", "[[:alpha:]-z]", "[[=a=]-c]", "[[.ab.]]", "[[==]]", "[[.", "a{2,1}",
    "a{1,99999}", "a{32768}", "a{}", "f() {}", "(a)\\2", "(a\\1)", "(a)|\\1", "(*)b", "(a\nb)",
    "a(b",
];

#[test]
fn lines_match_as_with_grep() {
    for (query, line) in MATCHED {
        assert_eq!(matches(query, line), Some(true), "{query} on {line}");
    }
    for (query, line) in PASSED_OVER {
        assert_eq!(matches(query, line), Some(false), "{query} on {line}");
    }
}

#[test]
#[rustfmt::skip]
fn the_end_of_a_line_is_before_its_cr_too() {
    for (query, line) in [
        ("foo$", "foo\r"), ("^foo$", "foo\r"), ("^$", "\r"), ("(o)\\1$", "foo\r"), ("o\\'", "foo\r"),
        ("\\bfoo\\b$", "a foo\r"), ("(foo$|x)", "foo\r"), ("foo.$", "foo\r"), ("\\s$", "foo\r"),
        ("foo$\nx", "foo\r"),
    ] {
        assert_eq!(matches(query, line), Some(true), "{query} on {line:?}");
    }
    for (query, line) in [
        ("foo$", "foo\rbar"), ("foo$", "foo\r\r"), ("^$", "\r\r"), ("foo$.", "foo\r"), ("(o)\\1$", "foo\rx"),
    ] {
        assert_eq!(matches(query, line), Some(false), "{query} on {line:?}");
    }
}

#[test]
fn what_grep_refuses_is_searched_as_it_stands() {
    for query in REFUSED {
        assert_eq!(matches(query, ""), None, "{query}");
        let matcher = Matcher::new(query, "query").unwrap();
        let budget = Budget::new(&Cancelled::default(), Duration::from_secs(60));
        let text = format!("x{query}x");
        let found = matcher.is_match(&mut matcher.scratch(), text.as_bytes(), &budget);
        assert!(found.unwrap(), "{query}");
    }
}

#[test]
fn bytes_that_are_not_utf8_stop_nothing() {
    let budget = Budget::new(&Cancelled::default(), Duration::from_secs(60));
    for query in ["a.c", "b\\w", "(c)\\1", "^a", "d$", "\\bbb\\b"] {
        let matcher = Matcher::new(query, "query").unwrap();
        let line = b"abc\xFFcc\xC3 bb b\xE2\x82b\xC3\xA9\xFFd";
        let found = matcher.is_match(&mut matcher.scratch(), line, &budget);
        assert!(found.unwrap(), "{query}");
    }
}

#[test]
fn what_would_take_too_much_is_refused() {
    let deep = format!("{}a{}", "(".repeat(1_000), ")".repeat(1_000));
    let chained = format!("a{}", "{1}".repeat(1_000));
    for query in [
        deep.as_str(),
        chained.as_str(),
        "((a{1000}){1000}){1000}",
        "(\\w{999}){999}",
        "((a)\\2){30000}",
        "(((a{0,32767}){0,32767}){0,32767})\\1",
    ] {
        assert!(Matcher::new(query, "query").is_err(), "{query:.40}");
    }
}

#[test]
fn the_deepest_expression_fits_a_workers_stack() {
    let query = format!("{}a{}\\1", "(x|y(".repeat(20), "){1,2})+".repeat(20));
    let thread = std::thread::Builder::new().stack_size(crate::init::workers::STACK_BYTES);
    let built = thread.spawn(move || drop(Matcher::new(&query, "query")));
    assert!(built.unwrap().join().is_ok());
}

#[test]
fn ways_without_end_are_given_up() {
    let matcher = Matcher::new("^((a+)+)+\\2z$", "query").unwrap();
    let budget = Budget::new(&Cancelled::default(), Duration::from_secs(60));
    let line = "a".repeat(2_000) + "bz";
    let found = matcher.is_match(&mut matcher.scratch(), line.as_bytes(), &budget);
    assert_eq!(found.unwrap_err().code, crate::wire::fault::Code::Timeout);
}

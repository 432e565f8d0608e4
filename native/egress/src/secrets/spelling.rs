//! The ways in which servers write a text that they received: unchanged, in JSON, in HTML and in URLs.

use crate::bounds::SECRET_SPELLED;
use zeroize::Zeroizing;

type Text = Zeroizing<Vec<u8>>;

/// The longest spelling of one byte.
const ESCAPED: usize = 6;

/// Returns all spellings of all texts, each once; most secrets have only one. Those of a long text would take
/// much memory, so it has two at most.
pub fn spellings(texts: Vec<Text>) -> Vec<Text> {
    let mut all = Vec::new();
    for text in texts {
        let is_short = text.len() <= SECRET_SPELLED;
        let of_json = if is_short { &JSON[..] } else { &JSON[..1] };
        if let Ok(text) = std::str::from_utf8(&text) {
            all.extend(of_json.iter().map(|json| json.of(text)));
        }
        if is_short {
            all.extend(QUOTES.iter().map(|quotes| html(&text, quotes)));
            for digits in [UPPER, LOWER] {
                all.extend(URL.iter().map(|url| url.of(&text, digits)));
            }
        }
        all.push(text);
    }
    all.sort_unstable_by(|one, other| one.as_slice().cmp(other.as_slice()));
    all.dedup();
    all
}

type Digits = &'static [u8; 16];
const UPPER: Digits = b"0123456789ABCDEF";
const LOWER: Digits = b"0123456789abcdef";

struct Json {
    /// Characters that are written by their number, beside those that must be.
    numbered: &'static str,
    is_ascii: bool,
    is_slash_escaped: bool,
    digits: Digits,
}

/// JavaScript and most; PHP; Python; Go and Rails; .NET.
const JSON: [Json; 5] = [
    Json::new("", false, false, LOWER),
    Json::new("", true, true, LOWER),
    Json::new("", true, false, LOWER),
    Json::new("<>&", false, false, LOWER),
    Json::new("<>&'+`\"", true, false, UPPER),
];

impl Json {
    const fn new(
        numbered: &'static str,
        is_ascii: bool,
        is_slash_escaped: bool,
        digits: Digits,
    ) -> Json {
        Json {
            numbered,
            is_ascii,
            is_slash_escaped,
            digits,
        }
    }

    fn of(&self, text: &str) -> Text {
        let mut out = empty(text.len());
        for letter in text.chars() {
            match letter {
                _ if self.numbered.contains(letter) => self.number(letter, &mut out),
                '"' | '\\' => out.extend([b'\\', letter as u8]),
                '/' if self.is_slash_escaped => out.extend(b"\\/"),
                '\t' => out.extend(b"\\t"),
                '\n' => out.extend(b"\\n"),
                '\r' => out.extend(b"\\r"),
                '\0'..' ' => self.number(letter, &mut out),
                _ if self.is_ascii && !letter.is_ascii() => self.number(letter, &mut out),
                _ => out.extend(letter.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        out
    }

    fn number(&self, letter: char, out: &mut Text) {
        for unit in letter.encode_utf16(&mut [0; 2]) {
            out.extend(b"\\u");
            out.extend([12, 8, 4, 0].map(|shift| self.digits[usize::from(*unit >> shift & 15)]));
        }
    }
}

/// Double and single quotes: of text that is no attribute; of most; of Python; of PHP; of Go.
const QUOTES: [[&str; 2]; 5] = [
    ["\"", "'"],
    ["&quot;", "&#39;"],
    ["&quot;", "&#x27;"],
    ["&quot;", "&#039;"],
    ["&#34;", "&#39;"],
];

fn html(text: &[u8], [double, single]: &[&str; 2]) -> Text {
    let mut out = empty(text.len());
    for byte in text {
        match byte {
            b'&' => out.extend(b"&amp;"),
            b'<' => out.extend(b"&lt;"),
            b'>' => out.extend(b"&gt;"),
            b'"' => out.extend(double.as_bytes()),
            b'\'' => out.extend(single.as_bytes()),
            other => out.push(*other),
        }
    }
    out
}

struct Url {
    /// Characters that stay unescaped, beside letters, digits and `-._`.
    plain: &'static [u8],
    blank: &'static [u8],
}

/// RFC 3986; JavaScript; forms; Python; JavaScript for a whole URL.
const URL: [Url; 5] = [
    Url::new(b"~", b"%20"),
    Url::new(b"~!*'()", b"%20"),
    Url::new(b"*", b"+"),
    Url::new(b"~/", b"%20"),
    Url::new(b"~!*'();/?:@&=+$,#", b"%20"),
];

impl Url {
    const fn new(plain: &'static [u8], blank: &'static [u8]) -> Url {
        Url { plain, blank }
    }

    fn of(&self, text: &[u8], digits: Digits) -> Text {
        let mut out = empty(text.len());
        for byte in text {
            match byte {
                b' ' => out.extend(self.blank),
                b'-' | b'.' | b'_' => out.push(*byte),
                _ if byte.is_ascii_alphanumeric() || self.plain.contains(byte) => out.push(*byte),
                _ => out.extend([
                    b'%',
                    digits[usize::from(byte >> 4)],
                    digits[usize::from(byte & 15)],
                ]),
            }
        }
        out
    }
}

/// Growing memory would leave copies.
fn empty(bytes: usize) -> Text {
    Zeroizing::new(Vec::with_capacity(bytes * ESCAPED))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Vec<String> {
        let of = |spelling: &Text| String::from_utf8(spelling.to_vec()).unwrap();
        spellings(vec![text.as_bytes().to_vec().into()])
            .iter()
            .map(of)
            .collect()
    }

    #[test]
    fn an_ordinary_value_has_one_spelling() {
        assert_eq!(written("sk-live_0123.abc"), ["sk-live_0123.abc"]);
    }

    #[test]
    fn a_value_of_base64_is_found_as_servers_write_it() {
        let expected = [
            "a%2B%2F%3D",
            "a%2B/%3D",
            "a%2b%2f%3d",
            "a%2b/%3d",
            "a+/=",
            r"a+\/=",
            r"a\u002B/=",
        ];
        assert_eq!(written("a+/="), expected);
    }

    #[test]
    fn a_value_of_odd_letters_is_found_as_servers_write_it() {
        let all = written("p\"<&'é");
        for expected in [
            r#"p"<&'é"#,
            r#"p\"<&'é"#,
            r#"p\"<&'\u00e9"#,
            r#"p\"\u003c\u0026'é"#,
            r"p\u0022\u003C\u0026\u0027\u00E9",
            r#"p"&lt;&amp;'é"#,
            "p&quot;&lt;&amp;&#39;é",
            "p&quot;&lt;&amp;&#x27;é",
            "p&quot;&lt;&amp;&#039;é",
            "p&#34;&lt;&amp;&#39;é",
            "p%22%3C%26%27%C3%A9",
            "p%22%3c%26%27%c3%a9",
            "p%22%3C%26'%C3%A9",
        ] {
            assert!(all.contains(&expected.to_owned()), "{expected} of {all:?}");
        }
    }

    #[test]
    fn a_blank_in_a_form_is_a_plus() {
        assert_eq!(written("a b"), ["a b", "a%20b", "a+b"]);
    }

    #[test]
    fn a_long_value_is_found_as_it_is_and_in_json() {
        let long = "/\"".repeat(600);
        assert_eq!(written(&long), ["/\"".repeat(600), "/\\\"".repeat(600)]);
    }
}

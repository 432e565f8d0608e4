//! Paths of HTTP requests, compared with the prefix of a rule. Servers decode and shorten paths in their own ways, so a path
//! that two of them could read in two ways matches no prefix.

/// True when a request's path lies at or below the prefix, as written and without its dot segments.
pub fn is_below(target: &str, prefix: &str) -> bool {
    let Some(decoded) = decode(target.split('?').next().unwrap_or_default()) else {
        return false;
    };
    let Some(shortened) = without_dots(&decoded) else {
        return false;
    };
    begins_with(&decoded, prefix) && begins_with(&shortened, prefix)
}

fn begins_with(path: &str, prefix: &str) -> bool {
    match path.strip_prefix(prefix) {
        Some(rest) => rest.is_empty() || rest.starts_with('/') || prefix.ends_with('/'),
        None => false,
    }
}

/// None for escapes that hide a separator, a byte that ends texts, or another escape.
fn decode(path: &str) -> Option<String> {
    let mut decoded = Vec::with_capacity(path.len());
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        let value = match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                let value = hexadecimal(digits[0])? * 16 + hexadecimal(digits[1])?;
                if value == b'/' || value == b'%' {
                    return None;
                }
                value
            }
            other => other,
        };
        if value < b' ' || value == 0x7f || value == b'\\' {
            return None;
        }
        decoded.push(value);
    }
    String::from_utf8(decoded).ok()
}

fn hexadecimal(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// None where a segment in the middle is empty, or has parameters after dots: some servers drop those first.
fn without_dots(path: &str) -> Option<String> {
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    for (at, &segment) in segments.iter().enumerate() {
        let is_last = at + 1 == segments.len();
        let bare = segment.split(';').next().unwrap_or_default();
        let is_dots = bare == "." || bare == "..";
        if (segment.is_empty() && !is_last) || (is_dots && bare != segment) {
            return None;
        }
        if segment == ".." {
            kept.pop();
        }
        if !is_dots {
            kept.push(segment);
        } else if is_last {
            kept.push("");
        }
    }
    Some(format!("/{}", kept.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_matches_at_the_boundary_of_a_segment() {
        for path in [
            "/v1",
            "/v1/",
            "/v1/a",
            "/v1/a?x=/../..",
            "/v1?x",
            "/v1/%61",
            "/v1/./a",
            "/v1/a/../b",
            "/v1/a//",
        ] {
            assert_eq!(is_below(path, "/v1"), path != "/v1/a//", "{path}");
        }
        for path in ["/", "/v10", "/v", "/V1", "v1", "", "*", "/v1%20"] {
            assert!(!is_below(path, "/v1"), "{path}");
        }
        assert!(is_below("/anything", "/"));
        assert!(is_below("/v1/a", "/v1/"));
        assert!(!is_below("/v1", "/v1/"));
    }

    #[test]
    fn no_trick_leads_out_of_the_prefix() {
        let tricks = [
            "/v1/../secret",
            "/v1/%2e%2e/secret",
            "/v1/.%2E/secret",
            "/v1/%2e%2e%2fsecret",
            "/v1/..%5csecret",
            "/v1/..\\secret",
            "/v1/%252e%252e/secret",
            "/v1/..;/secret",
            "/v1/..;a=b/secret",
            "/v1//../secret",
            "/secret/../v1",
            "/secret/%2e%2e/v1/a",
            "/v1/a/../../secret",
            "/v1/%00/..",
            "/v1/%zz",
            "/v1/%2",
            "/v1/%",
            "//v1",
            "/./../v2",
            "/v1/\u{7f}",
            "/v1/%0d%0a",
            "/v1/%ff",
            "/v1/..",
            "/v1/a/%2E%2E/..",
        ];
        for path in tricks {
            assert!(!is_below(path, "/v1"), "{path}");
        }
    }
}

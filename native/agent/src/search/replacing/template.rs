//! The replacement of a match, in the language of sed's `s` command.

use crate::wire::fault::Fault;

enum Part {
    Text(Vec<u8>),
    /// 0 is the whole match.
    Group(usize),
}

pub struct Template {
    parts: Vec<Part>,
    /// Groups that a match must report, the whole match included.
    pub groups: usize,
}

impl Template {
    /// @param groups Number of groups in the pattern.
    pub fn parse(text: &str, groups: usize) -> Result<Self, Fault> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut needed = 0;
        let mut rest = text.chars();
        while let Some(character) = rest.next() {
            let group = match character {
                '&' => 0,
                '\\' => match rest.next() {
                    Some(digit @ '0'..='9') => digit as usize - '0' as usize,
                    Some(escaped) => {
                        plain.push(meaning(escaped)?);
                        continue;
                    }
                    None => {
                        return Err(refused("The replacement ends in a single backslash."));
                    }
                },
                other => {
                    plain.push(other);
                    continue;
                }
            };
            if group > groups {
                return Err(refused(format!(
                    "The replacement refers to group \\{group}; the pattern has {groups}."
                )));
            }
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain).into_bytes()));
            }
            needed = needed.max(group);
            parts.push(Part::Group(group));
        }
        parts.push(Part::Text(plain.into_bytes()));
        Ok(Self {
            parts,
            groups: needed + 1,
        })
    }

    /// Yields the replacement of a match piece by piece. A group that did not take part in the match is empty.
    pub fn pieces<'a>(
        &'a self,
        line: &'a [u8],
        slots: &'a [Option<usize>],
    ) -> impl Iterator<Item = &'a [u8]> {
        self.parts.iter().map(move |part| match part {
            Part::Text(text) => &text[..],
            Part::Group(group) => match (slots[2 * group], slots[2 * group + 1]) {
                (Some(start), Some(end)) => &line[start..end],
                _ => &[],
            },
        })
    }
}

fn meaning(escaped: char) -> Result<char, Fault> {
    Ok(match escaped {
        'a' => '\x07',
        'f' => '\x0C',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0B',
        'L' | 'U' | 'l' | 'u' | 'E' => {
            return Err(refused(
                "The replacement cannot change the case of letters.",
            ));
        }
        other => other,
    })
}

fn refused(detail: impl Into<String>) -> Fault {
    Fault::invalid("replacement", detail)
        .hint("\\1 to \\9 and & stand for what matched; write \\& and \\\\ for the characters.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str) -> Option<String> {
        let template = Template::parse(template, 2).ok()?;
        let slots = [Some(1), Some(4), Some(1), Some(2), None, None];
        let pieces: Vec<&[u8]> = template.pieces(b"<abc>", &slots).collect();
        String::from_utf8(pieces.concat()).ok()
    }

    #[test]
    fn references_and_escapes_are_those_of_sed() {
        for (template, expected) in [
            ("", Some("")),
            ("x", Some("x")),
            ("[&]", Some("[abc]")),
            ("\\&\\\\", Some("&\\")),
            ("\\1-\\0", Some("a-abc")),
            ("\\2|", Some("|")),
            ("a\\nb\\tc", Some("a\nb\tc")),
            ("$1 \\$ \\/", Some("$1 $ /")),
            ("\\12", Some("a2")),
            ("\\3", None),
            ("x\\", None),
            ("\\U&", None),
        ] {
            assert_eq!(filled(template).as_deref(), expected, "{template}");
        }
    }
}

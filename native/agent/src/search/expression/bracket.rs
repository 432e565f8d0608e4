//! Bracket expressions of POSIX, in which a backslash is literal, and so is a `]` that comes first.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::classes;
use super::syntax::Refusal;

/// A member of the brackets.
enum Element {
    Char(char),
    /// A symbol, which may begin or end a range, as a character may.
    Symbol(char),
    /// A class, which may not begin or end a range.
    Class(ClassUnicode),
}

/// Parses `rest`, which follows the opening bracket. Returns the set, and the number of characters that describe it.
pub fn parse(rest: &[char]) -> Result<(ClassUnicode, usize), Refusal> {
    let mut at = 0;
    let negated = rest.first() == Some(&'^');
    if negated {
        at += 1;
    }
    let start = at;
    let mut set = ClassUnicode::empty();
    let mut plain = true;
    loop {
        let next = *rest.get(at).ok_or(Refusal::Malformed)?;
        if next == ']' && at > start {
            break;
        }
        // A hyphen that is neither first nor last can only stand for a range.
        if next == '-' && at > start && rest.get(at + 1) != Some(&']') {
            return Err(Refusal::Malformed);
        }
        let first = element(rest, &mut at)?;
        let is_range = rest.get(at) == Some(&'-') && rest.get(at + 1).is_some_and(|&c| c != ']');
        if !is_range {
            plain &= matches!(first, Element::Char(_));
            add(&mut set, first);
            continue;
        }
        plain = false;
        at += 1;
        let last = element(rest, &mut at)?;
        match (end(first), end(last)) {
            (Some(first), Some(last)) if first <= last => {
                set.push(ClassUnicodeRange::new(first, last));
            }
            _ => return Err(Refusal::Malformed),
        }
    }
    if plain && is_class_without_its_brackets(&rest[start..at]) {
        return Err(Refusal::Malformed);
    }
    if negated {
        set = classes::complement(&set);
    } else {
        set.difference(&classes::of_ranges(&[('\n', '\n')]));
    }
    Ok((set, at + 1))
}

fn element(rest: &[char], at: &mut usize) -> Result<Element, Refusal> {
    let first = *rest.get(*at).ok_or(Refusal::Malformed)?;
    let kind = match (first, rest.get(*at + 1)) {
        ('[', Some(&kind @ (':' | '.' | '='))) => kind,
        _ => {
            *at += 1;
            return Ok(Element::Char(first));
        }
    };
    let inner = &rest[*at + 2..];
    let length = (0..inner.len())
        .find(|&index| inner[index] == kind && inner.get(index + 1) == Some(&']'))
        .ok_or(Refusal::Malformed)?;
    *at += length + 4;
    let name = &inner[..length];
    if kind == ':' {
        let name: String = name.iter().collect();
        let class = classes::named(&name).ok_or(Refusal::Malformed)?;
        return Ok(Element::Class(class.clone()));
    }
    match (name, kind) {
        (&[character], '.') => Ok(Element::Symbol(character)),
        (&[character], _) => Ok(Element::Class(classes::of_ranges(&[(
            character, character,
        )]))),
        _ => Err(Refusal::Malformed),
    }
}

fn add(set: &mut ClassUnicode, element: Element) {
    match element {
        Element::Char(character) | Element::Symbol(character) => {
            set.push(ClassUnicodeRange::new(character, character));
        }
        Element::Class(class) => set.union(&class),
    }
}

fn end(element: Element) -> Option<char> {
    match element {
        Element::Char(character) | Element::Symbol(character) => Some(character),
        Element::Class(_) => None,
    }
}

/// `[:space:]` in place of `[[:space:]]`.
fn is_class_without_its_brackets(inner: &[char]) -> bool {
    inner.first() == Some(&':')
        && inner.last() == Some(&':')
        && inner.iter().any(|&character| character != ':')
}

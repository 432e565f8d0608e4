//! Sets of characters as the C library has them in a UTF-8 locale, without the newline, which ends lines.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, HirKind};
use std::sync::{Arc, OnceLock};

/// Blanks that do not forbid a line break; the others are no spaces there.
const WIDE_SPACES: [(char, char); 5] = [
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{2006}'),
    ('\u{2008}', '\u{200A}'),
    ('\u{205F}', '\u{205F}'),
    ('\u{3000}', '\u{3000}'),
];

pub fn any() -> Arc<ClassUnicode> {
    static SET: OnceLock<Arc<ClassUnicode>> = OnceLock::new();
    Arc::clone(SET.get_or_init(|| Arc::new(complement(&ClassUnicode::empty()))))
}

pub fn digit() -> Arc<ClassUnicode> {
    Arc::new(of_ranges(&[('0', '9')]))
}

pub fn word() -> Arc<ClassUnicode> {
    static SET: OnceLock<Arc<ClassUnicode>> = OnceLock::new();
    Arc::clone(SET.get_or_init(|| {
        let mut set = alnum();
        set.push(ClassUnicodeRange::new('_', '_'));
        Arc::new(set)
    }))
}

/// Without the newline.
pub fn space() -> Arc<ClassUnicode> {
    let mut set = of_ranges(&[('\t', '\t'), ('\u{B}', '\r'), (' ', ' ')]);
    set.union(&of_ranges(&WIDE_SPACES));
    set.push(ClassUnicodeRange::new('\u{2028}', '\u{2029}'));
    Arc::new(set)
}

pub fn outside(set: &ClassUnicode) -> Arc<ClassUnicode> {
    Arc::new(complement(set))
}

/// All but the set and the newline.
pub fn complement(set: &ClassUnicode) -> ClassUnicode {
    let mut rest = set.clone();
    rest.push(ClassUnicodeRange::new('\n', '\n'));
    rest.negate();
    rest
}

/// `[:name:]`, None when there is no such class. Each is made once.
pub fn named(name: &str) -> Option<&'static ClassUnicode> {
    const NAMES: [&str; 12] = [
        "alpha", "digit", "alnum", "upper", "lower", "space", "blank", "punct", "print", "graph",
        "cntrl", "xdigit",
    ];
    static SETS: [OnceLock<ClassUnicode>; 12] = [const { OnceLock::new() }; 12];
    let index = NAMES.iter().position(|known| *known == name)?;
    Some(SETS[index].get_or_init(|| make(name)))
}

fn make(name: &str) -> ClassUnicode {
    match name {
        "digit" => of_ranges(&[('0', '9')]),
        "xdigit" => of_ranges(&[('0', '9'), ('A', 'F'), ('a', 'f')]),
        "alnum" => alnum(),
        "alpha" => {
            let mut set = alnum();
            set.difference(&of_ranges(&[('0', '9')]));
            set
        }
        "upper" => such_as(char::is_uppercase),
        "lower" => such_as(char::is_lowercase),
        "space" => ClassUnicode::clone(&space()),
        "blank" => {
            let mut set = of_ranges(&WIDE_SPACES);
            set.union(&of_ranges(&[('\t', '\t'), (' ', ' ')]));
            set
        }
        "cntrl" => {
            let mut set = such_as(char::is_control);
            set.push(ClassUnicodeRange::new('\u{2028}', '\u{2029}'));
            set.difference(&of_ranges(&[('\n', '\n')]));
            set
        }
        "print" => complement(&make("cntrl")),
        "graph" => without_spaces(make("print")),
        _ => {
            let mut set = without_spaces(make("print"));
            set.difference(&alnum());
            set
        }
    }
}

fn without_spaces(mut set: ClassUnicode) -> ClassUnicode {
    set.difference(&space());
    set
}

/// Decimal digits of all scripts count as letters.
fn alnum() -> ClassUnicode {
    let mut set = such_as(char::is_alphabetic);
    if let Ok(digits) = regex_syntax::parse(r"\d")
        && let HirKind::Class(regex_syntax::hir::Class::Unicode(digits)) = digits.kind()
    {
        set.union(digits);
    }
    set
}

fn such_as(belongs: impl Fn(char) -> bool) -> ClassUnicode {
    let mut ranges: Vec<(char, char)> = Vec::new();
    let mut open: Option<(char, char)> = None;
    for character in '\0'..=char::MAX {
        if belongs(character) {
            open = Some((open.map_or(character, |(first, _)| first), character));
        } else {
            ranges.extend(open.take());
        }
    }
    ranges.extend(open);
    of_ranges(&ranges)
}

pub fn of_ranges(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(
        ranges
            .iter()
            .map(|&(first, last)| ClassUnicodeRange::new(first, last)),
    )
}

pub fn contains(set: &ClassUnicode, character: char) -> bool {
    set.ranges()
        .binary_search_by(|range| {
            if range.end() < character {
                std::cmp::Ordering::Less
            } else if range.start() > character {
                std::cmp::Ordering::Greater
            } else {
                std::cmp::Ordering::Equal
            }
        })
        .is_ok()
}

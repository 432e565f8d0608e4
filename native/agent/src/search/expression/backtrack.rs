//! The matcher for expressions with back-references. It tries alternatives one by one, so its steps are bounded.

use super::classes;
use super::program::{Instruction, Program};
use super::syntax::Look;
use crate::search::budget::Budget;
use crate::wire::fault::{Code, Fault};

/// Most steps for one line: a base, and more for each byte.
const BASE_STEPS: u64 = 8_000_000;
const STEPS_PER_BYTE: u64 = 64;
/// Most alternatives that wait to be tried at once.
const MAX_FRAMES: usize = 1_000_000;
const CHECK_EVERY: u64 = 16_384;

/// A state to go back to.
enum Frame {
    Try {
        at: usize,
        position: usize,
    },
    Restore {
        slot: usize,
        value: Option<usize>,
    },
    /// A run of characters from `low` on, with one of them less.
    Shorter {
        at: usize,
        low: usize,
        end: usize,
    },
}

/// Kept from line to line, so that its memory is reused.
#[derive(Default)]
pub struct Memory {
    frames: Vec<Frame>,
    slots: Vec<Option<usize>>,
}

/// Finds the first match at `from` or later, and puts its bounds and those of its groups into `slots`.
pub fn search(
    program: &Program,
    memory: &mut Memory,
    line: &[u8],
    from: usize,
    slots: &mut [Option<usize>],
    budget: &Budget,
) -> Result<bool, Fault> {
    let mut steps = BASE_STEPS + STEPS_PER_BYTE * line.len() as u64;
    let mut start = from;
    while start <= line.len() {
        memory.slots.clear();
        memory.slots.resize(program.slots, None);
        if run(program, memory, line, start, &mut steps, budget)? {
            for (slot, value) in slots.iter_mut().zip(&memory.slots) {
                *slot = *value;
            }
            return Ok(true);
        }
        start += char_at(line, start).map_or(1, |(_, length)| length);
    }
    Ok(false)
}

fn run(
    program: &Program,
    memory: &mut Memory,
    line: &[u8],
    start: usize,
    steps: &mut u64,
    budget: &Budget,
) -> Result<bool, Fault> {
    let Memory { frames, slots } = memory;
    frames.clear();
    let mut at = 0;
    let mut position = start;
    loop {
        *steps = steps.checked_sub(1).ok_or_else(too_many_ways)?;
        if steps.is_multiple_of(CHECK_EVERY) {
            budget.check()?;
        }
        if frames.len() > MAX_FRAMES {
            return Err(too_many_ways());
        }
        let next = match &program.instructions[at] {
            Instruction::Match => return Ok(true),
            Instruction::Char(wanted) => match char_at(line, position) {
                Some((found, length)) if found == *wanted => Some(position + length),
                _ => None,
            },
            Instruction::Set(set) => match char_at(line, position) {
                Some((found, length)) if classes::contains(set, found) => Some(position + length),
                _ => None,
            },
            Instruction::Many { set, min, max } => {
                let run = run_of(line, position, |c| classes::contains(set, c), *min, *max);
                *steps = steps.saturating_sub(run.map_or(0, |(_, end)| (end - position) as u64));
                if let Some((low, end)) = run
                    && low < end
                {
                    frames.push(Frame::Shorter {
                        at: at + 1,
                        low,
                        end,
                    });
                }
                run.map(|(_, end)| end)
            }
            Instruction::Look(look) => holds(*look, line, position).then_some(position),
            Instruction::Backreference(group) => match (slots[2 * group], slots[2 * group + 1]) {
                (Some(first), Some(last)) if line[position..].starts_with(&line[first..last]) => {
                    *steps = steps.saturating_sub((last - first) as u64);
                    Some(position + last - first)
                }
                _ => None,
            },
            Instruction::Save(slot) => {
                frames.push(Frame::Restore {
                    slot: *slot,
                    value: slots[*slot],
                });
                slots[*slot] = Some(position);
                Some(position)
            }
            Instruction::Advanced(slot) => (slots[*slot] != Some(position)).then_some(position),
            Instruction::Split(first, second) => {
                frames.push(Frame::Try {
                    at: *second,
                    position,
                });
                at = *first;
                continue;
            }
            Instruction::Jump(target) => {
                at = *target;
                continue;
            }
        };
        match next {
            Some(next) => (at, position) = (at + 1, next),
            None => match go_back(frames, slots, line) {
                Some(again) => (at, position) = again,
                None => return Ok(false),
            },
        }
    }
}

fn go_back(
    frames: &mut Vec<Frame>,
    slots: &mut [Option<usize>],
    line: &[u8],
) -> Option<(usize, usize)> {
    loop {
        match frames.pop()? {
            Frame::Try { at, position } => return Some((at, position)),
            Frame::Restore { slot, value } => slots[slot] = value,
            Frame::Shorter { at, low, end } => {
                let end = before(line, end);
                if end > low {
                    frames.push(Frame::Shorter { at, low, end });
                }
                return Some((at, end));
            }
        }
    }
}

/// Finds the ends of the shortest and the longest run; None when there are too few characters.
fn run_of(
    line: &[u8],
    from: usize,
    belongs: impl Fn(char) -> bool,
    min: u32,
    max: Option<u32>,
) -> Option<(usize, usize)> {
    let mut end = from;
    let mut low = from;
    let mut count = 0;
    while max.is_none_or(|max| count < max) {
        match char_at(line, end) {
            Some((character, length)) if belongs(character) => end += length,
            _ => break,
        }
        count += 1;
        if count == min {
            low = end;
        }
    }
    (count >= min).then_some((low, end))
}

fn holds(look: Look, line: &[u8], position: usize) -> bool {
    let is_word = |character: Option<char>| {
        character.is_some_and(|character| classes::contains(&classes::word(), character))
    };
    let after = || is_word(char_at(line, position).map(|(character, _)| character));
    let ahead = || {
        is_word(
            (position > 0)
                .then(|| before(line, position))
                .and_then(|start| {
                    char_at(line, start)
                        .filter(|(_, length)| start + length == position)
                        .map(|(character, _)| character)
                }),
        )
    };
    match look {
        Look::LineStart => position == 0,
        Look::LineEnd => position == line.len(),
        Look::WordBoundary => ahead() != after(),
        Look::NotWordBoundary => ahead() == after(),
        Look::WordStart => !ahead() && after(),
        Look::WordEnd => ahead() && !after(),
    }
}

/// The character that begins at `position` and its length in bytes; None at the end and at bytes that are not UTF-8.
pub fn char_at(line: &[u8], position: usize) -> Option<(char, usize)> {
    let first = *line.get(position)?;
    let length = match first {
        0..=0x7F => return Some((char::from(first), 1)),
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return None,
    };
    let bytes = line.get(position..position + length)?;
    let text = std::str::from_utf8(bytes).ok()?;
    text.chars().next().map(|character| (character, length))
}

/// Finds the beginning of the character or the stray byte that ends at `position`.
fn before(line: &[u8], position: usize) -> usize {
    (1..=4.min(position))
        .map(|length| position - length)
        .find(|&start| char_at(line, start).is_some_and(|(_, length)| start + length == position))
        .unwrap_or(position.saturating_sub(1))
}

fn too_many_ways() -> Fault {
    Fault::new(
        Code::Timeout,
        "The pattern's back-references leave too many ways to match on one line.",
    )
    .hint("Repeat less before a back-reference, or leave it out and look at the lines found.")
}

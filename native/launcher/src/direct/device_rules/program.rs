//! The rules as instructions. The kernel runs them at each open and each mknod of a device node by a process of the group, and
//! refuses with EPERM where they return 0.

use super::rule::{ALL_ACCESS, Rule};
use crate::bpf::Instruction;

/// Registers of the result, and of the address of the request: three numbers of 32 bits.
const RESULT: u8 = 0;
const ASKED: u8 = 1;
/// Registers of the request's numbers, once they are loaded.
const KIND: u8 = 2;
const ACCESS: u8 = 3;
const MAJOR: u8 = 4;
const MINOR: u8 = 5;

const LOAD: u8 = 0x61;
const SET: u8 = 0xb4;
const COPY: u8 = 0xbc;
const AND: u8 = 0x54;
const SHIFT_RIGHT: u8 = 0x74;
const SKIP_UNLESS_EQUAL: u8 = 0x55;
const SKIP_IF_ANY_BIT: u8 = 0x45;
const RETURN: u8 = 0x95;

/// Allows a request that one rule allows in full: two rules do not add up.
pub fn assemble(rules: &[Rule]) -> Vec<Instruction> {
    let mut program = vec![
        load(KIND, 0),
        copy(ACCESS, KIND),
        with_number(AND, KIND, 0xffff),
        with_number(SHIFT_RIGHT, ACCESS, 16),
        load(MAJOR, 4),
        load(MINOR, 8),
    ];
    program.extend(rules.iter().flat_map(allow));
    program.extend(answer(0));
    program
}

/// Each failing test jumps past the answer.
fn allow(rule: &Rule) -> Vec<Instruction> {
    let refused = ALL_ACCESS & !rule.access;
    let mut tests = vec![
        (SKIP_UNLESS_EQUAL, KIND, rule.kind as u32),
        (SKIP_UNLESS_EQUAL, MAJOR, rule.major),
    ];
    tests.extend(rule.minor.map(|minor| (SKIP_UNLESS_EQUAL, MINOR, minor)));
    tests.push((SKIP_IF_ANY_BIT, ACCESS, refused));
    let answer = answer(1);
    let length = tests.len() + answer.len();
    let tests = tests
        .into_iter()
        .enumerate()
        .map(|(place, (code, register, number))| Instruction {
            offset: (length - place - 1) as i16,
            ..with_number(code, register, number)
        });
    tests.chain(answer).collect()
}

fn answer(allowed: u32) -> [Instruction; 2] {
    [
        with_number(SET, RESULT, allowed),
        with_number(RETURN, RESULT, 0),
    ]
}

fn load(target: u8, offset: i16) -> Instruction {
    Instruction {
        registers: target | ASKED << 4,
        offset,
        ..with_number(LOAD, target, 0)
    }
}

fn copy(target: u8, source: u8) -> Instruction {
    Instruction {
        registers: target | source << 4,
        ..with_number(COPY, target, 0)
    }
}

/// An instruction on a register and a number below 2^20.
fn with_number(code: u8, register: u8, number: u32) -> Instruction {
    Instruction {
        code,
        registers: register,
        offset: 0,
        immediate: number as i32,
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule::parse;
    use super::*;

    /// Runs a program as the kernel would, by the codes in the kernel's documentation, with the request in
    /// the kernel's form.
    fn run(program: &[Instruction], asked: [u32; 3]) -> u32 {
        let mut registers = [0_u32; 11];
        let mut next = 0;
        for _ in 0..1_000 {
            let Instruction {
                code,
                registers: operands,
                offset,
                immediate,
            } = program[next];
            let (target, source) = (usize::from(operands & 15), usize::from(operands >> 4));
            let number = immediate as u32;
            next += 1;
            let jumps = match code {
                0x61 => {
                    assert_eq!(source, 1, "the address of what is asked");
                    registers[target] = asked[offset as usize / 4];
                    false
                }
                0xb4 => {
                    registers[target] = number;
                    false
                }
                0xbc => {
                    registers[target] = registers[source];
                    false
                }
                0x54 => {
                    registers[target] &= number;
                    false
                }
                0x74 => {
                    registers[target] >>= number;
                    false
                }
                0x55 => registers[target] != number,
                0x45 => registers[target] & number != 0,
                0x95 => return registers[0],
                other => panic!("no code: {other:#x}"),
            };
            if jumps {
                next += offset as usize;
            }
        }
        panic!("no end");
    }

    /// @param question Kind, numbers and access, as in a rule.
    fn allows(rules: &[&str], question: &str) -> bool {
        let rules: Vec<Rule> = rules
            .iter()
            .map(|rule| parse(rule).expect("a rule"))
            .collect();
        let question = parse(question).expect("a question");
        let kind = question.access << 16 | question.kind as u32;
        let minor = question.minor.expect("a number");
        match run(&assemble(&rules), [kind, question.major, minor]) {
            0 => false,
            1 => true,
            other => panic!("no answer: {other}"),
        }
    }

    const OF_MACHINES: [&str; 5] = [
        "c 1:3 rw",
        "c 5:2 rw",
        "c 136:* rw",
        "b 7:9 r",
        "c 195:255 rwm",
    ];

    #[test]
    fn a_device_is_allowed_by_kind_number_and_access() {
        for (question, expected) in [
            ("c 1:3 r", true),
            ("c 1:3 w", true),
            ("c 1:3 rw", true),
            ("c 1:3 m", false),
            ("c 1:3 rwm", false),
            ("b 1:3 r", false),
            ("c 1:2 r", false),
            ("c 1:4 r", false),
            ("c 2:3 r", false),
            ("c 5:2 rw", true),
            ("c 5:1 rw", false),
            ("c 136:0 rw", true),
            ("c 136:1048575 rw", true),
            ("c 136:0 m", false),
            ("c 137:0 rw", false),
            ("b 136:0 r", false),
            ("b 7:9 r", true),
            ("b 7:9 w", false),
            ("b 7:9 rw", false),
            ("c 7:9 r", false),
            ("c 195:255 rwm", true),
            ("c 195:255 m", true),
            ("c 195:254 m", false),
            ("c 10:200 rw", false),
            ("b 8:0 r", false),
        ] {
            assert_eq!(allows(&OF_MACHINES, question), expected, "{question}");
        }
    }

    #[test]
    fn without_rules_nothing_is_allowed() {
        for question in ["c 1:3 r", "b 8:0 w", "c 1:3 m"] {
            assert!(!allows(&[], question), "{question}");
        }
    }

    #[test]
    fn rules_do_not_add_up() {
        let apart = ["c 1:3 r", "c 1:3 w"];
        assert!(allows(&apart, "c 1:3 r"));
        assert!(allows(&apart, "c 1:3 w"));
        assert!(!allows(&apart, "c 1:3 rw"));
    }

    #[test]
    fn an_access_that_is_none_is_decided_by_the_number() {
        let program = assemble(&[parse("c 1:3 r").expect("a rule")]);
        assert_eq!(run(&program, [2, 1, 3]), 1);
        assert_eq!(run(&program, [2, 1, 4]), 0);
    }

    #[test]
    fn an_instruction_has_eight_bytes() {
        assert_eq!(size_of::<Instruction>(), 8);
    }
}

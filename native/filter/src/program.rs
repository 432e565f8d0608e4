//! Writes the rules as the kernel's program (classic BPF), which runs before each system call. The kernel remembers the
//! calls that pass whatever their arguments are, and runs no program for them.

use std::collections::BTreeMap;

use crate::rule::{Condition, Rule};

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// Numbers from here on are those of x32, a second set of calls on x86_64; arm64 has none.
const SECOND_SET: u32 = 0x4000_0000;

/// The number that a tracer gives to a call which it wants the kernel to skip.
const SKIPPED: u32 = u32::MAX;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const AND: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const ABOVE: u16 = (libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K) as u16;
const FROM: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const SKIP: u16 = (libc::BPF_JMP | libc::BPF_JA) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// Offsets in struct seccomp_data: number, architecture, the low half of the first argument.
const NUMBER: u32 = 0;
const MACHINE: u32 = 4;
const ARGUMENTS: u32 = 16;

type Program = Vec<libc::sock_filter>;

/// A call of another architecture kills its process. A call that is newer than all rules fails with that error.
pub fn of(rules: &[Rule], newer: i32) -> Program {
    let mut of_calls: BTreeMap<u32, Vec<&Rule>> = BTreeMap::new();
    for rule in rules {
        for call in rule.calls {
            of_calls.entry(*call).or_default().push(rule);
        }
    }
    let newest = of_calls.keys().max().copied().unwrap_or(0);
    let mut program = vec![
        one(LOAD, MACHINE),
        jump(EQUAL, ARCHITECTURE, 1, 0),
        one(RETURN, libc::SECCOMP_RET_KILL_PROCESS),
        one(LOAD, NUMBER),
        jump(EQUAL, SKIPPED, 2, 0),
        jump(FROM, SECOND_SET, 0, 1),
        one(RETURN, libc::SECCOMP_RET_KILL_PROCESS),
        jump(ABOVE, newest, 0, 1),
        refusal(newer as u16),
    ];
    for (call, rules) in of_calls {
        let judged = judge(&rules);
        program.push(jump(EQUAL, call, 1, 0));
        program.push(one(SKIP, judged.len() as u32));
        program.extend(judged);
    }
    program.push(refusal(libc::EPERM as u16));
    program
}

/// Decides on one call; always returns.
fn judge(rules: &[&Rule]) -> Program {
    let mut program = Program::new();
    let cases = rules
        .iter()
        .flat_map(|rule| rule.cases.iter().map(|case| (*case, rule.refusal)));
    for (case, refused) in cases {
        let checks: Vec<Program> = case.iter().map(check).collect();
        let mut rest = checks.iter().map(Vec::len).sum::<usize>() + 1;
        for part in checks {
            rest -= part.len();
            // The last instructions of a check skip the rest of the rule where the check fails.
            program.extend(part.into_iter().map(|instruction| match instruction.code {
                EQUAL => libc::sock_filter {
                    jf: instruction.jf + rest as u8,
                    ..instruction
                },
                _ => instruction,
            }));
        }
        program.push(match refused {
            None => one(RETURN, libc::SECCOMP_RET_ALLOW),
            Some(errno) => refusal(errno),
        });
    }
    program.push(refusal(libc::EPERM as u16));
    program
}

/// Continues where the argument fits, and jumps to its own end otherwise. Halves that the mask leaves out are
/// not examined.
fn check(condition: &Condition) -> Program {
    let low = ARGUMENTS + condition.index * 8;
    let halves = [(low, 0), (low + 4, 32)].map(|(at, shift)| {
        (
            at,
            (condition.mask >> shift) as u32,
            (condition.bits >> shift) as u32,
        )
    });
    let mut program = Program::new();
    for (at, mask, bits) in halves.into_iter().filter(|(_, mask, _)| *mask != 0) {
        program.push(one(LOAD, at));
        if mask != u32::MAX {
            program.push(one(AND, mask));
        }
        program.push(jump(EQUAL, bits, 0, 0));
    }
    let length = program.len();
    for (at, instruction) in program.iter_mut().enumerate() {
        if instruction.code == EQUAL {
            instruction.jf = (length - at - 1) as u8;
        }
    }
    program
}

fn refusal(errno: u16) -> libc::sock_filter {
    one(RETURN, libc::SECCOMP_RET_ERRNO | u32::from(errno))
}

fn one(code: u16, k: u32) -> libc::sock_filter {
    jump(code, k, 0, 0)
}

fn jump(code: u16, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::RULES;
    use linux_raw_sys::general::*;

    const ALLOWED: u32 = libc::SECCOMP_RET_ALLOW;
    const ENDED: u32 = libc::SECCOMP_RET_KILL_PROCESS;

    fn refused(errno: i32) -> u32 {
        libc::SECCOMP_RET_ERRNO | errno as u32
    }

    fn verdict(call: u32, arguments: &[u64]) -> u32 {
        run(&of(RULES, libc::ENOSYS), ARCHITECTURE, call, arguments)
    }

    /// Runs the program as the kernel does.
    fn run(program: &Program, architecture: u32, call: u32, arguments: &[u64]) -> u32 {
        let mut data = vec![call, architecture, 0, 0];
        for argument in arguments.iter().chain([0; 6].iter()).take(6) {
            data.extend([*argument as u32, (*argument >> 32) as u32]);
        }
        let (mut at, mut value) = (0, 0);
        loop {
            let instruction = program[at];
            let jump = |taken: bool| {
                usize::from(if taken {
                    instruction.jt
                } else {
                    instruction.jf
                })
            };
            at += 1;
            match instruction.code {
                LOAD => value = data[instruction.k as usize / 4],
                AND => value &= instruction.k,
                EQUAL => at += jump(value == instruction.k),
                ABOVE => at += jump(value > instruction.k),
                FROM => at += jump(value >= instruction.k),
                SKIP => at += instruction.k as usize,
                RETURN => return instruction.k,
                code => panic!("no instruction {code}"),
            }
        }
    }

    #[test]
    fn everyday_calls_pass_whatever_their_arguments() {
        for call in [
            __NR_read,
            __NR_openat,
            __NR_execve,
            __NR_mmap,
            __NR_kill,
            __NR_chroot,
        ] {
            assert_eq!(verdict(call, &[u64::MAX; 6]), ALLOWED, "{call}");
        }
    }

    #[test]
    fn calls_that_need_rights_over_the_machine_are_refused() {
        for call in [
            __NR_mount,
            __NR_umount2,
            __NR_pivot_root,
            __NR_unshare,
            __NR_setns,
            __NR_bpf,
            __NR_fsopen,
            __NR_open_tree,
            __NR_move_mount,
            __NR_mount_setattr,
            __NR_perf_event_open,
            __NR_fanotify_init,
            __NR_quotactl,
            __NR_sethostname,
            __NR_syslog,
            __NR_open_by_handle_at,
        ] {
            assert_eq!(verdict(call, &[]), refused(libc::EPERM), "{call}");
        }
    }

    #[test]
    fn arguments_decide_where_a_rule_has_conditions() {
        let pid_namespace = libc::CLONE_NEWPID as u64;
        for (call, arguments, expected) in [
            (__NR_clone, &[libc::SIGCHLD as u64][..], ALLOWED),
            (__NR_clone, &[pid_namespace], refused(libc::EPERM)),
            (
                __NR_clone,
                &[libc::CLONE_THREAD as u64],
                refused(libc::EPERM),
            ),
            (__NR_clone3, &[], refused(libc::ENOSYS)),
            (__NR_socket, &[1, 1, 0], ALLOWED),
            (__NR_socket, &[2, 1, 6], ALLOWED),
            (__NR_socket, &[2, 3, 255], refused(libc::EPERM)),
            (__NR_socket, &[16, 3, 9], refused(libc::EPROTONOSUPPORT)),
            (__NR_socket, &[17, 3, 0], refused(libc::EPERM)),
            (__NR_socket, &[40, 1, 0], refused(libc::EAFNOSUPPORT)),
            (__NR_socket, &[2, 1, 262], refused(libc::EPROTONOSUPPORT)),
            (__NR_keyctl, &[], refused(libc::ENOSYS)),
            (__NR_prctl, &[22], refused(libc::EINVAL)),
            (__NR_prctl, &[24], ALLOWED),
            (__NR_fcntl, &[0, 37], ALLOWED),
            (__NR_fcntl, &[0, 1033], ALLOWED),
            (__NR_prlimit64, &[0, 7, 1], ALLOWED),
            (__NR_prlimit64, &[1, 7, 1], refused(libc::EPERM)),
            (__NR_prlimit64, &[1, 7, 0], ALLOWED),
            (__NR_prlimit64, &[64, 7, 1], ALLOWED),
            (__NR_seccomp, &[], refused(libc::ENOSYS)),
        ] {
            assert_eq!(verdict(call, arguments), expected, "{call} {arguments:?}");
        }
    }

    #[test]
    fn other_architectures_end_their_process_and_newer_calls_do_not_exist() {
        let program = of(RULES, libc::ENOSYS);
        const I386: u32 = 0x4000_0003;
        assert_eq!(run(&program, I386, 0, &[]), ENDED);
        assert_eq!(verdict(SECOND_SET | __NR_read, &[]), ENDED);
        assert_eq!(verdict(SKIPPED - 1, &[]), ENDED);
        assert_eq!(verdict(SKIPPED, &[]), refused(libc::ENOSYS));
        assert_eq!(verdict(1_000, &[]), refused(libc::ENOSYS));
    }

    #[test]
    fn each_rule_holds_for_arguments_made_of_its_conditions() {
        for rule in RULES {
            let expected = rule.refusal.map_or(ALLOWED, |errno| refused(errno.into()));
            for case in rule.cases {
                let mut arguments = [0; 6];
                for condition in *case {
                    arguments[condition.index as usize] = condition.bits;
                }
                for call in rule.calls {
                    assert_eq!(verdict(*call, &arguments), expected, "{call} {arguments:?}");
                }
            }
        }
    }

    #[test]
    fn the_kernel_takes_its_length() {
        let length = of(RULES, libc::ENOSYS).len();
        assert!(
            length > 600 && length <= libc::BPF_MAXINSNS as usize,
            "{length}"
        );
    }
}

"""kill-at-call.py COUNT-FILE CALL PROGRAM ARGUMENT…: runs the program, and kills it and all that it has started at the
CALL-th entry to or return from a system call, counted over all of them. A process that it has started belongs to
it until it executes another program, and goes on from there. Writes the count to the file when it ends before."""
import ctypes, os, signal, sys

TRACEME, SETOPTIONS, SYSCALL, DETACH = 0, 0x4200, 24, 17
GOOD, FORK, VFORK, CLONE, EXEC = 1, 2, 4, 8, 16
EXECUTED = signal.SIGTRAP | 4 << 8
ALL_CHILDREN = 0x40000000
ptrace = ctypes.CDLL(None, use_errno=True).ptrace
ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def main(count_file, call, program):
    first = os.fork()
    if first == 0:
        ptrace(TRACEME, 0, None, None)
        os.kill(os.getpid(), signal.SIGSTOP)
        os.execv(program[0], program)
    os.waitpid(first, 0)
    ptrace(SETOPTIONS, first, None, GOOD | FORK | VFORK | CLONE | EXEC)
    ptrace(SYSCALL, first, None, None)
    traced, stops = {first}, 0
    while True:
        process, status = os.waitpid(-1, ALL_CHILDREN)
        if not os.WIFSTOPPED(status):
            traced.discard(process)
            if process == first:
                with open(count_file, 'w') as file:
                    file.write(str(stops))
                sys.exit(os.waitstatus_to_exitcode(status))
            continue
        if status >> 8 == EXECUTED and process != first:
            traced.discard(process)
            ptrace(DETACH, process, None, None)
            continue
        passed_on = 0
        if os.WSTOPSIG(status) == signal.SIGTRAP | 0x80:
            stops += 1
            if stops == call:
                for other in traced | {process}:
                    os.kill(other, signal.SIGKILL)
                os.kill(os.getpid(), signal.SIGKILL)
        elif process in traced and os.WSTOPSIG(status) not in (signal.SIGTRAP, signal.SIGSTOP):
            passed_on = os.WSTOPSIG(status)
        traced.add(process)
        ptrace(SYSCALL, process, None, passed_on)


main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])

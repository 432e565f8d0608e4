/** Processes of a node: holds its kubelet up while containers run, and ends the agent of a sandbox. */
import type { Node } from '../node.ts';

const SIGNAL_KUBELET = `
for process in /proc/[0-9]*; do
  if [ "$(cat "$process/comm" 2>/dev/null)" = kubelet ]; then kill "-$1" "\${process#/proc/}"; fi
done
`;

/** Of the agent and its supervisors, which have the same command line, the agent is process 1 in its container. */
const END_AGENT = `
for process in /proc/[0-9]*; do
  if tr '\\0' ' ' <"$process/cmdline" 2>/dev/null | grep -q -- "--sandbox-id $1 "; then
    grep -q '^NSpid:.*[[:space:]]1$' "$process/status" && kill -KILL "\${process#/proc/}"
  fi
done
true
`;

export function stopKubelet({ room }: Node): void {
  room.run(['sh', '-c', SIGNAL_KUBELET, 'sh', 'STOP']);
}

export function resumeKubelet({ room }: Node): void {
  room.run(['sh', '-c', SIGNAL_KUBELET, 'sh', 'CONT']);
}

/** Does nothing on a node that does not have it. */
export function endAgent({ room }: Node, id: string): void {
  room.run(['sh', '-c', END_AGENT, 'sh', id]);
}

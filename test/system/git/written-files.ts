/**
 * A search through what a sandbox has written, for tests that look for secrets. It leaves out files last written before
 * the sandbox was: the image's, which take over half a minute to read on a cold disk. The time of the last change would
 * not do: hard links, by which services take over an image, set it.
 */

/** A shell command that lists regular files written since that time, each ended by NUL. */
export const filesWrittenSince = (time: Date) =>
  `find / \\( -path /proc -o -path /sys \\) -prune -o -type f -newermt @${Math.floor(time.getTime() / 1_000)} -print0 2>/dev/null`;

#!/bin/sh
# Runs a command whose programs may be of another processor. Takes the kernel's name of the processor, QEMU's emulator, and
# the command. A user namespace of its own (with all ids the same) has a binfmt_misc of its own since Linux 6.7: nothing is
# registered with the machine, and all of it is gone with the command.
set -eu
case "$1" in
  aarch64) number='\xb7' ;;
  x86_64) number='\x3e' ;;
  *) echo "emulated: no such processor: $1" >&2; exit 1 ;;
esac
# An ELF file of 64 bits, little-endian, executable or shared, of this processor.
magic="\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00${number}\\x00"
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
# F: opened once, so that it works in a root that lacks it. OC: keeps the rights of programs like sudo.
rule=":emulated:M::$magic:$mask:$2:OCF"
shift 2
isolated() { exec unshare --user --mount --propagation private --pid --fork "$@"; }
(isolated true) || { echo "emulated: this kernel makes no user namespaces" >&2; exit 1; }
folder=$(mktemp -d)
child=""
clean_up() {
  # The first of its namespace of processes, with which all others end: --kill-child forgets it once ids are mapped.
  [ -z "$child" ] || kill -KILL $(cat "/proc/$child/task/$child/children") 2>/dev/null || true
  rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 130' HUP INT TERM
mkfifo "$folder/mapped"
isolated sh -euc '
  read -r _ <"$1"
  mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc || {
    echo "emulated: binfmt_misc in a user namespace needs Linux 6.7 or later" >&2
    exit 1
  }
  printf %s "$2" >/proc/sys/fs/binfmt_misc/register
  shift 2
  exec "$@"' sh "$folder/mapped" "$rule" "$@" &
child=$!
# Waits until the child is in its namespace.
exec 3>"$folder/mapped"
for kind in uid gid; do echo "0 0 4294967295" >"/proc/$child/${kind}_map"; done
echo >&3
exec 3>&-
status=0
wait "$child" || status=$?
child=""
exit "$status"

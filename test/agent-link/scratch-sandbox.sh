#!/bin/sh
# Becomes the agent as PID 1 over a throw-away copy of a root file system. Runs as PID 1 of namespaces of its
# own, so nothing it mounts is seen outside or outlives it. A secret (a folder, or none) comes to /run/secret:
# as files ("copied"), or as Kubernetes mounts it ("mounted"), read-only and apart from all disks. The folder CARRIED,
# if there is one, is at /carried.
set -eu
lower=$1 scratch=$2 agent=$3 disk_bytes=$4 secret=$5 how=$6
shift 6
mount --make-rprivate /
mount -t tmpfs -o "size=$disk_bytes" tmpfs "$scratch"
mkdir "$scratch/upper" "$scratch/work" "$scratch/root"
mount -t overlay -o "lowerdir=$lower,upperdir=$scratch/upper,workdir=$scratch/work" overlay "$scratch/root"
mount -t proc proc "$scratch/root/proc"
mount -t tmpfs tmpfs "$scratch/root/dev"
for device in null:3 zero:5 full:7 random:8 urandom:9; do
  mknod -m 666 "$scratch/root/dev/${device%:*}" c 1 "${device#*:}"
done
mknod -m 666 "$scratch/root/dev/tty" c 5 0
ln -s /proc/self/fd "$scratch/root/dev/fd"
mkdir "$scratch/root/dev/shm" "$scratch/root/dev/pts"
mount -t tmpfs tmpfs "$scratch/root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$scratch/root/dev/pts"
ln -s pts/ptmx "$scratch/root/dev/ptmx"
if [ "$secret" != none ]; then
  mkdir "$scratch/root/run/secret"
  [ "$how" = copied ] || mount -t tmpfs -o mode=700 tmpfs "$scratch/root/run/secret"
  cp -a "$secret/." "$scratch/root/run/secret"
  [ "$how" = copied ] || mount -o remount,ro "$scratch/root/run/secret"
fi
if [ -n "${CARRIED:-}" ]; then
  mkdir "$scratch/root/carried"
  mount --bind "$CARRIED" "$scratch/root/carried"
fi
cp "$agent" "$scratch/root/sandhaven-agent"
exec chroot "$scratch/root" /sandhaven-agent "$@"

# Removes what a data directory's sandboxes leave in the kernel and under /run. `make dist` puts these functions into
# prerm and postrm: at a purge the program itself is gone already.

# Prints the instance id of a data directory; nothing without one.
instance_of() {
  [ -r "$1/instance" ] || return 0
  id=$(cat "$1/instance")
  case "$id" in
    '' | *[!0-9a-z]*) ;;
    ??????) echo "$id" ;;
  esac
}

# Every cgroup of the instance, on v1 and on v2, the deepest first.
groups_of() {
  for top in /sys/fs/cgroup /sys/fs/cgroup/*; do
    for kind in '' -helpers -service; do
      [ ! -d "$top/sandhaven-$1$kind" ] || find "$top/sandhaven-$1$kind" -depth -type d
    done
  done
}

# Ends the machines: their mounts and loop devices go with them. Repeats, since a dying process takes its time.
end_machines() {
  tries=0
  while [ "$tries" -lt 100 ] && [ -n "$(groups_of "$1")" ]; do
    groups_of "$1" | while read -r group; do
      # A frozen group of v1 dies once it is thawed.
      [ ! -e "$group/freezer.state" ] || echo THAWED > "$group/freezer.state" || true
      xargs -r kill -KILL < "$group/cgroup.procs" || true
      rmdir "$group" || true
    done 2>/dev/null
    tries=$((tries + 1))
    [ -z "$(groups_of "$1")" ] || sleep 0.1
  done
}

# Address of a slot by its number, as the service counts them.
address_of() {
  echo "10.213.$(($1 / 254)).$(($1 % 254 + 1))"
}

remove_network() {
  for link in $(sed -n "s/^ *\(sh$1-[0-9]*\):.*/\1/p" /proc/net/dev); do
    ip link delete "$link" || true
  done
  if command -v nft >/dev/null; then
    nft delete table inet "sandhaven_$1" 2>/dev/null || true
    withdraw_from_chains "$1" || true
  fi
  for lock in $(grep -ls "\"id\":\"$1\"" /run/sandhaven/slots/* || true); do
    if grep -q '"purpose":"gateway"' "$lock"; then
      ip address delete "$(address_of "${lock##*/}")/32" dev lo 2>/dev/null || true
    fi
    rm -f "$lock"
  done
  close_uplinks "$1"
}

# Takes the accept rules out of other programs' chains; each carries the name of the instance's table.
withdraw_from_chains() {
  nft --handle --numeric list ruleset | awk -v mark="comment \"sandhaven_$1\"" '
    $1 == "table" { family = $2; table = $3 }
    $1 == "chain" { chain = $2 }
    index($0, mark) && match($0, /# handle [0-9]+/) {
      print family, table, chain, substr($0, RSTART + 9, RLENGTH - 9)
    }' |
    while read -r family table chain handle; do
      nft delete rule "$family" "$table" "$chain" handle "$handle" || true
    done
}

# Switches off the forwarding of uplinks that the instance switched on and that no other uses.
close_uplinks() {
  for note in /run/sandhaven/uplinks/*/"$1"; do
    [ -e "$note" ] || continue
    folder=${note%/*}
    rm -f "$note"
    rmdir "$folder" 2>/dev/null || continue
    if [ "$(cat /proc/sys/net/ipv4/ip_forward)" = 0 ]; then
      echo 0 > "/proc/sys/net/ipv4/conf/${folder##*/}/forwarding" || true
    fi
  done
}

# Unmounts what is pinned below a folder, the newest first.
unmount_below() {
  awk -v top="$1/" 'index($5, top) == 1 { print $5 }' /proc/self/mountinfo | tac |
    while read -r place; do umount --lazy "$place" || true; done
}

remove_traces() {
  id=$(instance_of "$1")
  [ -n "$id" ] || return 0
  end_machines "$id"
  remove_network "$id"
  # The volume of disks; its loop device goes with the mount.
  if [ -e "$1/disks.xfs" ] && mountpoint -q "$1/disks"; then umount --lazy "$1/disks" || true; fi
  unmount_below "/run/sandhaven-$id"
  rm -rf "/run/sandhaven-$id"
  # The last instance of this host takes the folder of all with it.
  if [ -d /run/sandhaven ] && [ -z "$(ls -A /run/sandhaven/slots 2>/dev/null)" ]; then
    rm -rf /run/sandhaven
  fi
}

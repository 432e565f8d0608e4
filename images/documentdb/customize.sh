#!/bin/sh
# Makes the fresh Debian root in $1 the document database: its gateway with Node, and a data directory that is ready.
# Runs as root outside of it, while its /proc is mounted. Environment: RECIPE (this folder), NODE_DIST (the
# unpacked Node distribution), NODE_MODULES (the gateway's packages).
set -eu
root=$1
as_postgres() { chroot --userspec=postgres:postgres "$root" /usr/bin/env -i PATH=/usr/bin:/bin LANG=C.UTF-8 "$@"; }
bin=/usr/lib/postgresql/18/bin
data=/var/lib/documentdb/data

echo "the gateway" >&2
cp -r "$RECIPE/files/." "$root/"
mkdir -p "$root/usr/local/lib/documentdb"
cp --no-preserve=ownership "$NODE_DIST/bin/node" "$root/usr/local/bin/node"
cp -r --no-preserve=ownership "$RECIPE/gateway" "$NODE_MODULES" "$root/usr/local/lib/documentdb/"
cp "$RECIPE/npm/package.json" "$root/usr/local/lib/documentdb/"

echo "the data directory" >&2
# Debian's own cluster, which nothing uses.
rm -rf "$root/var/lib/postgresql/18" "$root/etc/postgresql/18"
chroot "$root" install -d -o postgres -g postgres -m 0700 /var/lib/documentdb
as_postgres $bin/initdb --pgdata=$data --auth=reject --no-sync --encoding=UTF8 --locale=C.UTF-8 \
  --data-checksums >/dev/null
# Made by the server in single-user mode: nothing listens while the image is made.
said=$(echo 'CREATE EXTENSION documentdb CASCADE' | as_postgres $bin/postgres --single -j -D $data \
  -c config_file=/etc/documentdb/postgresql.conf -c fsync=off -c exit_on_error=on postgres 2>&1) ||
  { echo "$said" >&2; exit 1; }

echo "last touches" >&2
echo sandbox >"$root/etc/hostname"
printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
: >"$root/etc/resolv.conf"
chmod 644 "$root/etc/hostname" "$root/etc/hosts" "$root/etc/resolv.conf"
rm -rf "$root/var/cache/apt" "$root/var/log/apt" "$root/var/log/dpkg.log" "$root/var/log/alternatives.log" \
  "$root/var/cache/debconf/"*-old "$root/var/lib/dpkg/"*-old "$root/var/log/postgresql/"*
mkdir -p "$root/var/cache/apt/archives/partial"

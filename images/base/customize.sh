#!/bin/sh
# Makes the fresh Debian root in $1 the base image: local CAs, a locale, a font, Node, npm, Python packages, /workspace.
# Runs as root outside of it, while its /proc is mounted. Environment: RECIPE (this folder), NODE_DIST (the
# unpacked Node distribution), NPM_DIST and EMOJI_DIST (the unpacked packages of npm and of a font), TYPESCRIPT (the compiled
# program of typescript/), LOCAL_CAS (a folder, possibly empty).
set -eu
root=$1
inside() { chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  LANG=C.UTF-8 REQUESTS_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt \
  ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} ${no_proxy:+no_proxy="$no_proxy"} \
  ${PIP_INDEX_URL:+PIP_INDEX_URL="$PIP_INDEX_URL"} "$@"; }

echo "certificates and settings" >&2
cp -r "$RECIPE/files/." "$root/"
find "$LOCAL_CAS" -name '*.crt' -exec cp -t "$root/usr/local/share/ca-certificates" {} +
said=$(inside update-ca-certificates 2>&1) || { echo "$said" >&2; exit 1; }

echo "a locale and a font" >&2
# In a folder of its own, which outlives the archive that `locale-gen` makes anew. What it is made of is five times its size.
inside localedef --no-archive --inputfile en_US --charmap UTF-8 en_US.UTF-8
inside dpkg --purge locales libc-l10n >/dev/null
# In black: matplotlib draws no font of pictures.
install -D --mode=644 "$EMOJI_DIST/400Regular/NotoEmoji_400Regular.ttf" "$root/usr/share/fonts/truetype/noto-emoji/NotoEmoji.ttf"
install -D --mode=644 "$EMOJI_DIST/LICENSE_FONT" "$root/usr/share/doc/noto-emoji/copyright"

echo "Node and npm" >&2
cp -r --no-preserve=ownership "$NODE_DIST/bin" "$NODE_DIST/include" "$root/usr/local/"
# Headers build native modules; those of other processors (nine tenths) cannot be used here.
find "$root/usr/local/include/node/openssl/archs" -mindepth 1 -maxdepth 1 \
  ! -name "linux-$(inside uname -m)" -exec rm -rf {} +
mkdir -p "$root/usr/local/lib/node_modules"
cp -r --no-preserve=ownership "$NPM_DIST" "$root/usr/local/lib/node_modules/npm"
rm -rf "$root/usr/local/lib/node_modules/npm/docs" "$root/usr/local/lib/node_modules/npm/man"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
install -D --mode=755 "$TYPESCRIPT" "$root/usr/local/libexec/sandhaven-typescript"

echo "Python packages" >&2
cp "$RECIPE/requirements.txt" "$root/tmp/requirements.txt"
inside pip install --quiet --only-binary :all: --no-cache-dir --no-compile -r /tmp/requirements.txt
rm "$root/tmp/requirements.txt"
# The packages' own tests are a fifth of their size.
find "$root"/usr/local/lib/python3*/dist-packages -type d -name tests -prune -exec rm -rf {} +
inside python3 -m compileall -q -j 0 /usr/local/lib/python3.13/dist-packages
inside python3 -c 'import matplotlib.pyplot, numpy, pandas, requests'
inside python3 - <"$RECIPE/fonts.py"

echo "last touches" >&2
mkdir -p "$root/workspace"
echo sandbox >"$root/etc/hostname"
printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
: >"$root/etc/resolv.conf"
chmod 644 "$root/etc/hostname" "$root/etc/hosts" "$root/etc/resolv.conf"
rm -rf "$root/var/cache/apt" "$root/var/log/apt" "$root/var/log/dpkg.log" "$root/var/log/alternatives.log" \
  "$root/var/cache/debconf/"*-old "$root/var/lib/dpkg/"*-old
mkdir -p "$root/var/cache/apt/archives/partial"
# Manuals stay out (dpkg.cfg), and their folders with them: without those, update-alternatives fails, and all of Java.
for section in 1 2 3 4 5 6 7 8; do mkdir -p "$root/usr/share/man/man$section"; done

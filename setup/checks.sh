#!/bin/sh
# Runs every check to its end, so that one run shows all faults; fails when one of them failed.
# With "--static" only those that run nothing.
set -eu
cd "$(dirname "$0")/.."
node=$(setup/node-path.sh)
failed=""
check() {
  name=$1
  shift
  echo "== $name"
  "$@" || failed="$failed, $name"
}
in_native() { (cd native && "$@"); }

check format-and-lint "$node" node_modules/.bin/biome check .
check types "$node" node_modules/.bin/tsc --noEmit
check rust-format in_native cargo fmt --all --check
check rust-lint in_native cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
if [ "${1:-}" != --static ]; then
  check rust-tests in_native cargo test --workspace --locked --quiet
  report=$(mktemp)
  trap 'rm -f "$report"' EXIT
  check tests "$node" node_modules/.bin/vitest run --reporter=default --reporter=json --outputFile.json="$report"
fi
[ -z "$failed" ] || echo "failed: ${failed#, }"
if [ -n "${report:-}" ]; then "$node" setup/test-summary.ts "$report" || failed=1; fi
[ -z "$failed" ]

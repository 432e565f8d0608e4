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
# Takes the name of its report, then arguments of vitest.
run_tests() {
  report="$reports/$1.json"
  shift
  "$node" node_modules/.bin/vitest run --reporter=default --reporter=json --outputFile.json="$report" "$@"
}
without_cluster() { (unset SANDHAVEN_TEST_CLUSTER && "$@"); }

check format-and-lint "$node" node_modules/.bin/biome check .
check types "$node" node_modules/.bin/tsc --noEmit
check types-of-the-page "$node" node_modules/.bin/tsc -p web
check rust-format in_native cargo fmt --all --check
check rust-lint in_native cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
if [ "${1:-}" != --static ]; then
  check rust-tests in_native cargo test --workspace --locked --quiet
  reports=$(mktemp -d)
  trap 'rm -rf "$reports"' EXIT
  # Those on a cluster are runs of their own: it stands from the beginning of its run to the end.
  check tests without_cluster run_tests machine
  if [ -n "${SANDHAVEN_TEST_CLUSTER:-}" ]; then
    check tests-of-the-system-on-kubernetes run_tests system --project cluster
    check tests-on-kubernetes run_tests cluster --project alone test/cluster/
  fi
fi
[ -z "$failed" ] || echo "failed: ${failed#, }"
if [ -n "${reports:-}" ]; then "$node" setup/test-summary.ts "$reports"/*.json || failed=1; fi
[ -z "$failed" ]

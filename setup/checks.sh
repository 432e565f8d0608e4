#!/bin/sh
# Runs every check to its end, so that one run shows all faults; fails when one of them failed.
# With "--static" only those that run nothing.
set -eu
cd "$(dirname "$0")/.."
node=$(setup/node-path.sh)
typescript=../images/base/typescript/Cargo.toml
failed=""
cache=${SANDHAVEN_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/sandhaven}
# As bin/sandhaven has it: each file of tests is a process of its own, which would strip and compile its modules again.
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$cache/node}"
begun=$(date +%s)
minutes() { seconds=$(($(date +%s) - begun)); printf '%d:%02d min' $((seconds / 60)) $((seconds % 60)); }
check() {
  name=$1
  shift
  echo "== $name, after $(minutes)"
  "$@" || failed="$failed, $name"
}
vitest="node_modules/.bin/vitest run --reporter=default --reporter=./setup/test-report.ts"
# Takes the name of its report, then arguments of vitest.
run_tests() {
  report="$reports/$1.json"
  shift
  "$node" $vitest --outputFile.json="$report" "$@"
}
# Begins such a run beside the next ones. `ended` waits for it, and shows what it has said.
begin_tests() {
  report="$reports/$1"
  shift
  "$node" $vitest --outputFile.json="$report.json" "$@" >"$report.log" 2>&1 &
  echo $! >"$report.pid"
}
ended() {
  status=0
  wait "$(cat "$reports/$1.pid")" || status=$?
  rm "$reports/$1.pid"
  cat "$reports/$1.log"
  return "$status"
}
# Takes a minute, most of it for libraries, so that sources which have passed with this compiler are not linted again. Uses the crates of
# build scripts and macros that the image's build has compiled.
lint_of_the_image() {
  sources=$({ rustc --version; find images/base/typescript -type f -not -path '*/target/*' | sort | xargs sha256sum; } | sha256sum)
  passed="$cache/linted/${sources%% *}"
  [ ! -e "$passed" ] || return 0
  setup/processors/cargo.sh clippy --release --manifest-path "$typescript" \
    --target-dir target/typescript --locked --quiet -- -D warnings || return
  mkdir -p "$cache/linted"
  : >"$passed"
}
clean_up() {
  for file in "$reports"/*.pid; do [ ! -e "$file" ] || kill "$(cat "$file")" 2>/dev/null || true; done
  rm -rf "$reports"
}

if [ "${1:-}" != --static ]; then
  reports=$(mktemp -d)
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  begin_tests quick --project quick
  # They wait for most of their time.
  begin_tests waiting --project waiting
fi
check format-and-lint "$node" node_modules/.bin/biome check .
check types "$node" node_modules/.bin/tsc --noEmit
check types-of-the-page "$node" node_modules/.bin/tsc -p web
check rust-format setup/processors/cargo.sh fmt --all --check
check rust-format-of-the-image setup/processors/cargo.sh fmt --manifest-path "$typescript" --check
check rust-lint setup/processors/cargo.sh clippy --workspace --all-targets --locked --quiet -- -D warnings
check rust-lint-of-the-image lint_of_the_image
if [ "${1:-}" != --static ]; then
  check rust-tests setup/processors/cargo.sh test --workspace --locked --quiet
  check quick-tests ended quick
  begin_tests series --project series
  check tests run_tests together --project together --project documents --project chromium
  check tests-in-series ended series
  check tests-that-wait ended waiting
  # These measure the machine.
  check tests-alone run_tests alone --project alone
fi
summary=""
if [ -n "${reports:-}" ]; then summary=$("$node" setup/test-summary.ts "$reports"/*.json) || failed="$failed, test-summary"; fi
# The counts stand last, whatever failed.
printf '%s\n' "$summary" | sed '$d'
[ -z "$failed" ] || echo "failed: ${failed#, }"
[ -z "$summary" ] || printf '%s\n' "$summary" | tail -n 1
[ -z "$failed" ]

#!/bin/sh
# Copies a public suite of another product's clients, at its tag, or a framework that is on no registry, into the cache: from a folder with
# the files of its repository. Their text is not the project's, so none of it is here. Without them it prints why they are missing.
#   SANDHAVEN_COMPAT_SUITES=FOLDER test/compat/suites/fetch.sh NAME
# One folder may hold the files of all repositories.
set -eu
case "$1" in
  daytona-0.205.1)
    repository="daytona/clients at v0.205.1"
    tests=sdk-python/tests
    parts="sdk-typescript/src/__tests__/e2e.test.ts $tests/__init__.py $tests/conftest.py $tests/pytest.ini $tests/test_e2e.py $tests/test_async_e2e.py"
    digest=1259740d94d97edc27ee4b66dab62ea1d77e9228cd2fd63810ee43d004c55ad0
    ;;
  e2b-2.45.0)
    repository="e2b-dev/E2B at e2b@2.45.0"
    parts="packages/js-sdk/package.json packages/js-sdk/tsconfig.json packages/js-sdk/src packages/js-sdk/tests"
    digest=d322624403ae975554fa7ba705377c6f9c981ceb14b456e65cea8ded8eb62d78
    ;;
  e2b-code-interpreter-2.7.1)
    repository="e2b-dev/code-interpreter at @e2b/code-interpreter@2.7.1"
    parts="js/package.json js/tsconfig.json js/src js/tests python/e2b_code_interpreter python/tests python/pytest.ini"
    digest=836a7990c5da3a263161d80343da0d9cc379a8b654bfcbb1a4fec822810fd92e
    ;;
  nemo-gym-07a53cf)
    repository="NVIDIA-NeMo/Gym at 07a53cf"
    parts="nemo_gym/__init__.py nemo_gym/package_info.py nemo_gym/sandbox"
    digest=2100c7a9c1e28c082b5691567e8019fe4b380094fcdaa14e6596d6408891fe57
    ;;
esac
cache="${XDG_CACHE_HOME:-$HOME/.cache}/sandhaven/compat-suites/$1"
digest_of() { (cd "$1" 2>/dev/null && find $parts -type f ! -name '*.pyc' 2>/dev/null | LC_ALL=C sort | xargs sha256sum 2>/dev/null | sha256sum | cut -c 1-64); }
[ "$(digest_of "$cache")" != "$digest" ] || exit 0
from=${SANDHAVEN_COMPAT_SUITES:-}
if [ -z "$from" ]; then
  echo "missing: SANDHAVEN_COMPAT_SUITES names no folder with the files of $repository"
elif [ "$(digest_of "$from")" != "$digest" ]; then
  echo "missing: $from does not have the files of $repository"
else
  rm -rf "$cache"
  mkdir -p "$cache"
  (cd "$from" && tar c $parts) | tar x -C "$cache"
fi

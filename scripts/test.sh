#!/usr/bin/env bash
# Build Heteroscope with its tests and run them; ends with ctest's summary.
#
#   scripts/test.sh [--long] [-- CTEST ARGUMENTS]
#
# Installs the packages that are missing and builds into build/dev. Tests labelled 'long' run with --long only.
# For example:   scripts/test.sh -- -R tst_dispatcher
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$here/scripts/install-packages.sh"

selection=(-LE '^long$')
while [ $# -gt 0 ]; do
  case "$1" in
    --long) selection=() ;;
    --) shift; break ;;
    -h|--help) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) echo "test.sh: '$1' is not an option of this script; arguments for ctest come after --" >&2; exit 2 ;;
  esac
  shift
done

install_packages
cmake -S "$here" --preset dev
cmake --build "$here/build/dev"
cd "$here"
exec ctest --preset dev ${selection[@]+"${selection[@]}"} "$@"

#!/usr/bin/env bash
# Build Heteroscope and start it: the window, or where there is no display its demo.
#
#   scripts/run.sh [-- ARGUMENTS FOR THE PROGRAM]
#
# Installs the packages that are missing, builds (Release) into build/run and opens the window. For example:
#   scripts/run.sh -- devices          scripts/run.sh -- run saxpy --check
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$here/scripts/install-packages.sh"

case "${1:-}" in
  -h|--help) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
  --) shift ;;
  '') ;;
  *) echo "run.sh: '$1' is not an option of this script; arguments for the program come after --" >&2; exit 2 ;;
esac

more=()
[ -n "${WAYLAND_DISPLAY:-}" ] && [ -z "${DISPLAY:-}" ] && more+=(qt6-wayland)
install_packages ${more[@]+"${more[@]}"} >&2

build=$here/build/run
log=$build/build.log
mkdir -p "$build"
echo "Building in ${build#"$PWD"/}…" >&2
# HETEROSCOPE_TESTS and the benchmarks stay out: this is for running.
if ! { cmake -S "$here" --preset release -B "$build" -DHETEROSCOPE_TESTS=OFF -DHETEROSCOPE_BENCH=OFF >"$log" 2>&1 &&
       cmake --build "$build" >>"$log" 2>&1; }; then
  tail -n 40 "$log" >&2
  echo "The build failed; the whole log is $log" >&2
  exit 1
fi
program=$build/app/heteroscope

if [ $# -gt 0 ]; then exec "$program" "$@"; fi
if [ -z "${DISPLAY:-}" ] && [ -z "${WAYLAND_DISPLAY:-}" ]; then
  echo "There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set), so this runs 'heteroscope demo'." >&2
  exec "$program" demo
fi
exec "$program"

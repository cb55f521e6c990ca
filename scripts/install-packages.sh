# Sourced by run.sh and test.sh: sees to the packages that building and running needs, on Debian 12 and Ubuntu 24.04
# (and their relatives with apt). Touches no package manager when nothing is missing.
#
#   install_packages [more packages…]
#
# A word "a|b" is satisfied by either; the first one that the archive has is installed. Returns 1, having said which
# packages are missing and the command that installs them, when they cannot be installed.

heteroscope_packages=(
  g++ cmake ninja-build ccache
  qt6-base-dev 'qt6-charts-dev|libqt6charts6-dev' 'qt6-svg-dev|libqt6svg6-dev' libqt6opengl6-dev
  libgl-dev libegl-dev
  ocl-icd-opencl-dev opencl-headers pocl-opencl-icd
  libsqlitecpp-dev libsqlite3-dev nlohmann-json3-dev libmuparser-dev libcli11-dev libfmt-dev libspdlog-dev
  libbenchmark-dev fonts-dejavu-core
)

is_installed() {
  local name
  for name in ${1//|/ }; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] && return 0
  done
  return 1
}

# The first alternative that the archive has; the first one when it has none.
archive_name() {
  local name
  for name in ${1//|/ }; do
    apt-cache show --no-all-versions "$name" >/dev/null 2>&1 && { echo "$name"; return; }
  done
  echo "${1%%|*}"
}

archive_has() {
  local name
  for name in ${1//|/ }; do apt-cache show --no-all-versions "$name" >/dev/null 2>&1 && return 0; done
  return 1
}

with_retries() {
  local try
  for try in 1 2 3; do
    "$@" && return 0
    [ "$try" = 3 ] || { echo "…that did not work; trying again in $((try * 5)) s" >&2; sleep $((try * 5)); }
  done
  return 1
}

install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "Note: this is no Debian or Ubuntu system, so packages are not looked after. The names there are:" >&2
    echo "  ${heteroscope_packages[*]} $*" >&2
    return 0
  fi
  local word missing=()
  for word in "${heteroscope_packages[@]}" "$@"; do is_installed "$word" || missing+=("$word"); done
  [ ${#missing[@]} = 0 ] && return 0

  local names=() as_root=()
  for word in "${missing[@]}"; do names+=("$(archive_name "$word")"); done
  local command="apt-get install --no-install-recommends ${names[*]}"
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
      as_root=(sudo)
    else
      echo "Missing packages: ${names[*]}" >&2
      echo "They cannot be installed from here (neither root nor sudo). As root, run:" >&2
      echo "  $command" >&2
      return 1
    fi
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive)

  local stale=
  for word in "${missing[@]}"; do archive_has "$word" || stale=1; done
  if [ -n "$stale" ]; then
    echo "Reading the package lists (apt-get update)…"
    with_retries "${as_root[@]}" apt-get update -q >/dev/null ||
      echo "The package lists could not be read; going on with those that are here." >&2
    names=()
    for word in "${missing[@]}"; do names+=("$(archive_name "$word")"); done
  fi
  echo "Installing ${#names[@]} missing packages: ${names[*]}"
  local log; log=$(mktemp)
  # Lists that are old name versions which the archive has dropped: read them again before the second try.
  if "${as_root[@]}" apt-get install -y -q --no-install-recommends "${names[@]}" </dev/null >"$log" 2>&1 ||
     { "${as_root[@]}" apt-get update -q >>"$log" 2>&1; with_retries "${as_root[@]}" \
         apt-get install -y -q --no-install-recommends "${names[@]}" </dev/null >>"$log" 2>&1; }; then
    rm -f "$log"
    return 0
  fi
  tail -n 15 "$log" >&2; rm -f "$log"
  echo "The packages could not be installed. As root, run:" >&2
  echo "  apt-get update && apt-get install --no-install-recommends ${names[*]}" >&2
  return 1
}

# What a release is built with: a Rust for both architectures, Zig as the linker against glibc 2.17, and two programs of cargo.
# Sourced. They are installed into one folder, at the versions below, from PyPI, crates.io and Debian; nothing else changes.
# shellcheck shell=bash

TOOLS=${MELD_RELEASE_TOOLS:-$ROOT/target/release-tools}
ZIG_VERSION=0.17.1
ZIGBUILD_VERSION=0.24.0
CYCLONEDX_VERSION=0.5.9
DEBIAN_MIRROR=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
DEBIAN_SECURITY_MIRROR=${DEBIAN_SECURITY_MIRROR:-http://deb.debian.org/debian-security}
TARGETS=(x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu)

need() { command -v "$1" >/dev/null || die "$1 is missing; on Debian: apt-get install -y $2"; }

# install_packages COMMAND PACKAGE...: for a command that is missing, where apt-get and root are there.
install_packages() {
  command -v "$1" >/dev/null && return
  if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then die "$1 is missing; on Debian: apt-get install -y ${*:2}"; fi
  DEBIAN_FRONTEND=noninteractive logged "installing ${*:2}" apt_install "${@:2}"
}
apt_install() { apt-get update && apt-get install -y --no-install-recommends "$@"; }

zig() { "$TOOLS/venv/bin/python" -m ziglang "$@"; }

cargo_program() { # NAME VERSION
  [ "$(cat "$TOOLS/cargo/$1.version" 2>/dev/null)" = "$2" ] && return
  logged "building $1 $2" cargo install --quiet --locked --force --root "$TOOLS/cargo" "$1" --version "$2"
  echo "$2" >"$TOOLS/cargo/$1.version"
}

# apt_of SUITE COMMAND...: apt-get for amd64 and arm64 of a Debian suite, with lists of its own; the system's stay as they are.
apt_of() {
  local suite=$1 state=$TOOLS/apt/$1
  shift
  mkdir -p "$state/lists/partial" "$state/archives/partial"
  : >>"$state/status"
  cat >"$state/sources.list" <<LIST
deb $DEBIAN_MIRROR $suite main
deb $DEBIAN_SECURITY_MIRROR $suite-security main
LIST
  cat >"$state/apt.conf" <<CONF
#clear APT::Architectures;
APT::Architectures { "amd64"; "arm64"; };
APT::Sandbox::User "root";
Dir::State::lists "$state/lists";
Dir::State::status "$state/status";
Dir::Cache "$state";
Dir::Etc::sourceparts "-";
Dir::Etc::sourcelist "$state/sources.list";
CONF
  APT_CONFIG=$state/apt.conf apt-get "$@"
}

# unpacked FOLDER SUITE PACKAGE...: Debian packages' files, under a folder.
unpacked() {
  local folder=$1 suite=$2 package
  shift 2
  rm -rf "$folder"
  mkdir -p "$folder/debs"
  apt_of "$suite" update
  (cd "$folder/debs" && apt_of "$suite" download "$@")
  for package in "$folder"/debs/*.deb; do dpkg -x "$package" "$folder"; done
  rm -rf "$folder/debs"
}

# A Rust that has the standard library of both architectures: rustup's if it has both targets, else one of Debian's packages.
rust() {
  local sysroot target
  if command -v rustup >/dev/null; then
    sysroot=$(rustc --print sysroot)
    for target in "${TARGETS[@]}"; do
      [ -d "$sysroot/lib/rustlib/$target/lib" ] || sysroot=''
    done
    if [ -n "$sysroot" ]; then return; fi
  fi
  if ! command -v dpkg >/dev/null || [ "$(uname -m)" != x86_64 ]; then
    die "no Rust with the standard library of ${TARGETS[*]}; run: rustup target add ${TARGETS[*]}"
  fi
  if [ ! -x "$TOOLS/rustc" ]; then
    logged "a Rust with both architectures, of Debian's packages" unpacked "$TOOLS/rust" bookworm \
      rustc-web libstd-rust-web-1.96 libllvm22 libstd-rust-web-dev:amd64 libstd-rust-web-dev:arm64
    cat >"$TOOLS/rustc" <<'SH'
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")/rust/usr
LD_LIBRARY_PATH=$root/lib/x86_64-linux-gnu exec "$root/bin/rustc" "$@"
SH
    chmod +x "$TOOLS/rustc"
  fi
  export RUSTC=$TOOLS/rustc
}

release_tools() {
  export TOOLS
  mkdir -p "$TOOLS"
  need git git
  need dpkg-deb dpkg
  need readelf binutils
  need python3 "python3 python3-venv"
  if [ "$("$TOOLS/venv/bin/pip" show ziglang 2>/dev/null | sed -n 's/^Version: //p')" != "$ZIG_VERSION" ]; then
    python3 -c 'import ensurepip' 2>/dev/null || install_packages python3-venv python3-venv
    logged "installing Zig $ZIG_VERSION" zig_environment
  fi
  cargo_program cargo-zigbuild "$ZIGBUILD_VERSION"
  cargo_program cargo-cyclonedx "$CYCLONEDX_VERSION"
  rust
  export PATH=$TOOLS/cargo/bin:$PATH
  CARGO_ZIGBUILD_ZIG_PATH=$("$TOOLS/venv/bin/python" -c 'import ziglang, os; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')
  export CARGO_ZIGBUILD_ZIG_PATH
}
zig_environment() { python3 -m venv "$TOOLS/venv" && "$TOOLS/venv/bin/pip" install --quiet "ziglang==$ZIG_VERSION"; }

image_tools() {
  [ "$(id -u)" -eq 0 ] || die "the container image needs root; --no-image leaves it out"
  install_packages mmdebstrap mmdebstrap
}

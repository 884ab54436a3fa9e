# The files of a release: what ./meld release does. Sourced by meld, after release/tools.sh.
#
#   commit --> sources.tar.gz --> [ x86_64 | aarch64: command line, C library ] --> tarballs, .deb
#                             \-> [ Maven: jars with both libraries ] -----------> plugin tarball, image
#                              \> licences, bills of materials                     SHA256SUMS
#
# All of it is made of the commit, in a folder of its own, with the commit's time; so two runs make the same bytes.
# shellcheck shell=bash

help_release() {
  cat <<'EOF'
Usage: ./meld release [--output DIR] [--work DIR] [--no-image]

Makes the files of a release out of the commit that is checked out: binaries,
Debian packages and the C library for Linux on x86_64 and aarch64, the plugin,
a container image, sources, bills of materials and checksums. Two runs make the
same bytes. release/README.md describes the files, and how to publish them.

  --output DIR   where they go (default: target/dist)
  --work DIR     where they are built, emptied first (default:
                 target/release-work)
  --no-image     without the container image, which needs root
EOF
}

release() {
  local output=$ROOT/target/dist work=$ROOT/target/release-work image=yes
  while [ $# -gt 0 ]; do
    case $1 in
      --output | --work)
        [ $# -ge 2 ] || die "$1 takes a folder" 2
        if [ "$1" = --output ]; then output=$(realpath -m "$2"); else work=$(realpath -m "$2"); fi
        shift
        ;;
      --no-image) image='' ;;
      -h | --help)
        help_release
        return
        ;;
      *) die "unknown option '$1'; release --help lists them" 2 ;;
    esac
    shift
  done
  setup
  release_tools
  [ -z "$image" ] || image_tools
  umask 022
  export LC_ALL=C TZ=UTC
  unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_TARGET_DIR CARGO_BUILD_TARGET MAVEN_OPTS MAVEN_ARGS

  COMMIT=$(git -C "$ROOT" rev-parse HEAD) || die "a release is made of a commit, and $ROOT is not a git checkout"
  [ -z "$(git -C "$ROOT" status --porcelain)" ] || say "meld: what is not committed is not in the release"
  SOURCE_DATE_EPOCH=$(git -C "$ROOT" log -1 --format=%ct "$COMMIT")
  export SOURCE_DATE_EPOCH
  rm -rf "$work" "$output"
  mkdir -p "$work/tmp" "$output"
  WORK=$work DIST=$output SOURCE=$work/source
  git clone --quiet --no-checkout "$ROOT" "$SOURCE"
  git -C "$SOURCE" -c advice.detachedHead=false checkout --quiet "$COMMIT"
  VERSION=$(sed -n 's:.*<revision>\(.*\)</revision>.*:\1:p' "$SOURCE/pom.xml")

  export WORK DIST SOURCE VERSION COMMIT

  step "sources" sources
  logged "fetching crates" cargo fetch --locked --manifest-path "$SOURCE/native-sim/Cargo.toml"
  step "licences of what is linked in" licences
  step "binaries and libraries of both architectures" native
  step "archives and Debian packages" archives
  step "jars" jars
  step "bills of materials" boms
  [ -z "$image" ] || step "container image" image
  (cd "$DIST" && sha256sum -- * >"$WORK/SHA256SUMS" && mv "$WORK/SHA256SUMS" .)
  say "meld: $VERSION of commit ${COMMIT:0:12} is in $DIST:"
  (cd "$DIST" && stat -c '%12s  %n' -- *)
}

# step LABEL STEP: of release/steps, with its output in the log.
step() { logged "$1" "$ROOT/release/steps" "$2"; }

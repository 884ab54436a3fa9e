# What takes too long for CI: what ./meld check does. Sourced by meld.
# shellcheck shell=bash

CHECK_PARTS=(rust native ring demo upkeep conformance compatibility docker soak fuzz release bare-root aarch64 image)
CHECK=$ROOT/target/check

help_check() {
  cat <<'EOF'
Usage: ./meld check [PART]...

Runs what takes too long for ./meld test, and prints one line for each part:

  rust          Rust's documents, and the oldest Rust            five minutes
  native        the simulator's tests that take minutes          twenty minutes
  ring          what the ring needs of the order of memory     ten minutes
  demo          the demo in its full size                        five minutes
  upkeep        lifetimes beside balancer and mover, 1000 blocks five minutes
  conformance   Hadoop's own test classes, with the plugin       hours
  compatibility the integration tests on each Hadoop and Java    hours
  docker        the acceptance test of the cluster in containers half an hour
  soak          mixed work over DataNode restarts                half an hour
  fuzz          each fuzz target for five minutes                half an hour
  release       the release, twice; all bytes must be the same   half an hour
  bare-root     the release on bare Debian bookworm and bullseye ten minutes
  aarch64       its binary, C library and plugin on aarch64      five minutes
  image         its container image, in a container engine       five minutes

Without PART: all of them. The last four need root on Debian; those after
release take the files that it made, or make them. Logs are in target/check.
EOF
}

check() {
  local part parts=() known failed=0 start status
  for part in "$@"; do
    case $part in -h | --help)
      help_check
      return
      ;;
    esac
    known=" ${CHECK_PARTS[*]} "
    [[ $known == *" $part "* ]] || die "unknown part '$part' of check; the parts are: ${CHECK_PARTS[*]}" 2
    parts+=("$part")
  done
  [ ${#parts[@]} -gt 0 ] || parts=("${CHECK_PARTS[@]}")
  setup
  mkdir -p "$CHECK"
  : >"$CHECK/summary"
  for part in "${parts[@]}"; do
    say "meld: $part … (log: $CHECK/$part.log)"
    start=$SECONDS
    status=passed
    ("check_${part/-/_}") >"$CHECK/$part.log" 2>&1 </dev/null || status=FAILED
    [ $status = passed ] || failed=$((failed + 1))
    printf '%-13s %-7s %6d s  %s\n' "$part" $status $((SECONDS - start)) "$(tail -n 1 "$CHECK/$part.log")" | tee -a "$CHECK/summary"
  done
  printf '%d passed, %d failed\n' $((${#parts[@]} - failed)) $failed
  [ $failed -eq 0 ]
}

check_rust() {
  (cd "$ROOT/native-sim" && RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet) || return 1
  if cargo "+$RUST_MINIMUM" --version >/dev/null 2>&1; then
    (cd "$ROOT/native-sim" && cargo "+$RUST_MINIMUM" check --workspace --locked --quiet)
  else
    echo "only the documents: rustup has no Rust $RUST_MINIMUM here"
  fi
}

# calibrate finds the parameters of five hidden drives, and reads what fio writes; all claims on 1 and on 64 threads; profiles
# without TOML.
check_native() (
  cd "$ROOT/native-sim" &&
    cargo test --package meldsim --no-default-features --test typed_profile --locked &&
    cargo test --package meldsim --test it --locked -- --ignored &&
    CALIBRATE_DRIVES=5 cargo test --profile tested --package meldsim-calibrate --lib --locked -- --ignored &&
    cargo test --package meldsim-cli --test it --locked -- --ignored
)

# Strides within which each state has a ring of its own.
check_ring() {
  local built=$ROOT/native-sim/java/jcstress/target
  maven --quiet -Pjcstress -pl native-sim/java/jcstress -am package -DskipTests &&
    "$JAVA_HOME/bin/java" -cp "$built/classes:$built/lib/*" org.openjdk.jcstress.Main -strideSize 8 -strideCount 8 \
      -jvmArgsPrepend -XX:MaxDirectMemorySize=512m -r "$CHECK/ring"
}

check_demo() { "$ROOT/meld" demo --report "$CHECK/demo-report.html"; }

check_upkeep() {
  maven -pl tests -am verify -Dmeld.upkeep.blocks=1000 -Dit.test=ITUpkeep -Dtest=none \
    -Dsurefire.failIfNoSpecifiedTests=false -Dfailsafe.failIfNoSpecifiedTests=false
}

# What must end at its first failure is a process of its own.
check_conformance() {
  "$ROOT/meld" conformance all &&
    "$ROOT/meld" conformance quick --hadoop 3.3.6 &&
    "$ROOT/meld" conformance quick --hadoop 3.4.2
}
check_compatibility() { "$ROOT/meld" compatibility; }
check_docker() { "$ROOT/meld" engine && "$ROOT/docker/test.sh"; }
check_soak() { "$ROOT/meld" soak 30; }
check_fuzz() { "$ROOT/meld" fuzz all 300; }

check_release() {
  "$ROOT/meld" release --output "$CHECK/release" --work "$CHECK/work-one" &&
    "$ROOT/meld" release --output "$CHECK/release-again" --work "$CHECK/the-second-work" &&
    "$ROOT/release/tests/python" "$CHECK/release" &&
    "$ROOT/release/tests/same" "$CHECK/release" "$CHECK/release-again"
}

# released: makes the release, where no part has.
released() { [ -f "$CHECK/release/SHA256SUMS" ] || "$ROOT/meld" release --output "$CHECK/release" --work "$CHECK/work-one"; }

check_bare_root() {
  release_tools && image_tools && released &&
    "$ROOT/release/tests/bare-root" "$CHECK/release" "$CHECK/work-one/source/docker/target/image/hadoop/lib" &&
    "$ROOT/release/tests/simulator" "$CHECK/release"
}

check_aarch64() {
  release_tools && image_tools && install_packages qemu-aarch64-static qemu-user-static && install_packages pkg-config pkg-config &&
    released && "$ROOT/release/tests/aarch64" "$CHECK/release"
}

check_image() {
  local ran='' status=0
  # shellcheck source=docker/cluster.sh
  . "$ROOT/docker/cluster.sh"
  released || return 1
  if engine; then ran=yes; else engine start; fi
  "$ROOT/release/tests/image" "$CHECK/release" || status=1
  [ -n "$ran" ] || stop_engine
  return $status
}

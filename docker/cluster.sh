# The compose cluster: what ./meld up, down, status, shell and engine do. Sourced by meld.
# shellcheck shell=bash

DOCKER=$ROOT/docker
STAGE=$DOCKER/target/image
VARIANTS=$DOCKER/target/variants # as the DataNodes see them: variants/, and one for each page allocation
ENGINE=$DOCKER/target/engine # of an engine that was started here
PROJECT=hdfs-meld

# ---- the engine -----------------------------------------------------------------------------

engine_runs() { docker info >/dev/null 2>&1; }

help_engine() {
  cat <<'EOF'
Usage: ./meld engine

Makes sure that a container engine answers, as ./meld up does: uses the one
that runs or, as root, starts one for this tree.
EOF
}

# Uses the engine that runs, or one that was started here before; with "start", starts one.
engine() {
  if ! { command -v docker >/dev/null && engine_runs; }; then
    export DOCKER_HOST=unix://$ENGINE/docker.sock
    if ! { command -v docker >/dev/null && engine_runs; }; then
      [ "${1:-}" = start ] || return 1
      start_engine
    fi
  fi
}

start_engine() {
  local missing=() tries
  if ! command -v dockerd >/dev/null || ! has_compose || ! command -v iptables >/dev/null; then
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
      die "no container engine answers. Install and start Docker with compose, then run this again."
    fi
    command -v dockerd >/dev/null || missing+=(docker.io)
    has_compose || missing+=(docker-compose)
    command -v iptables >/dev/null || missing+=(iptables)
    logged "package lists" apt-get update
    DEBIAN_FRONTEND=noninteractive logged "installing ${missing[*]}" \
      apt-get install -y --no-install-recommends ca-certificates "${missing[@]}"
    hash -r
    # Where the distribution starts services it has started this one.
    for ((tries = 5; tries > 0; tries--)); do
      if (unset DOCKER_HOST && engine_runs); then
        unset DOCKER_HOST
        return
      fi
      sleep 1
    done
  fi
  [ "$(id -u)" -eq 0 ] || die "no container engine answers, and only root may start one. Start Docker, then run this again."
  mkdir -p "$ENGINE"
  say "meld: no container engine runs; starting one of our own (its log: $ENGINE/dockerd.log)"
  setsid dockerd --data-root "$ENGINE/data" --exec-root "$ENGINE/exec" --pidfile "$ENGINE/dockerd.pid" \
    --host "$DOCKER_HOST" >"$ENGINE/dockerd.log" 2>&1 </dev/null &
  for ((tries = 60; tries > 0; tries--)); do
    if engine_runs; then return; fi
    sleep 1
  done
  tail -n 20 "$ENGINE/dockerd.log" >&2
  die "the container engine did not start within 60 s"
}

# Ends the engine if it was started here.
stop_engine() {
  local pid tries
  [ -f "$ENGINE/dockerd.pid" ] || return 0
  pid=$(cat "$ENGINE/dockerd.pid")
  [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ] || return 0
  kill "$pid" 2>/dev/null || return 0
  for ((tries = 60; tries > 0; tries--)); do
    if ! kill -0 "$pid" 2>/dev/null; then return; fi
    sleep 1
  done
  die "the container engine (process $pid) did not end within 60 s"
}

has_compose() { docker compose version >/dev/null 2>&1 || command -v docker-compose >/dev/null; }

# Services of a profile are the cluster's, too, when it is stopped.
compose() {
  export COMPOSE_PROFILES=${PROFILES-monitoring}
  if docker compose version >/dev/null 2>&1; then
    docker compose --project-name "$PROJECT" --file "$DOCKER/compose.yaml" "$@"
  else
    docker-compose --project-name "$PROJECT" --file "$DOCKER/compose.yaml" "$@"
  fi
}

# containers [SERVICE]: the cluster's, or those of one service, by id.
containers() {
  docker ps --all --quiet --filter "label=com.docker.compose.project=$PROJECT" \
    ${1:+--filter "label=com.docker.compose.service=$1"}
}

# ---- the image ------------------------------------------------------------------------------

base_image() {
  local image
  for image in debian:bookworm-slim hdfs-meld-base:bookworm; do
    if docker image inspect "$image" >/dev/null 2>&1; then
      echo "$image"
      return
    fi
  done
  if timeout 60 docker pull --quiet debian:bookworm-slim >/dev/null 2>&1; then
    echo debian:bookworm-slim
    return
  fi
  if ! command -v debootstrap >/dev/null && [ "$(id -u)" -eq 0 ]; then
    logged "package lists" apt-get update
    DEBIAN_FRONTEND=noninteractive logged "installing debootstrap" apt-get install -y --no-install-recommends debootstrap
  fi
  logged "making a base image of Debian's packages" "$DOCKER/base-image"
  echo hdfs-meld-base:bookworm
}

build_image() {
  build_jars
  logged "collecting the jars of Hadoop and Spark" maven --quiet -Pdocker package -pl docker/lib/hadoop,docker/lib/spark
  (cd "$ROOT/native-sim" && logged "building meldsim and meld-top" cargo build --release --locked --package meldsim-cli --package meld-top)
  "$DOCKER/stage" "$ROOT"
  local base
  base=$(base_image)
  logged "building the image" docker build --quiet --tag hdfs-meld:latest --build-arg "BASE=$base" --file "$DOCKER/Dockerfile" "$STAGE"
}

stage_variants() {
  local a b c d scheme
  mkdir -p "$VARIANTS"
  rm -f "$VARIANTS"/* # not the folder: containers that run have it mounted
  cp "$DOCKER"/variants/* "$VARIANTS/"
  for a in C W D P; do for b in C W D P; do for c in C W D P; do for d in C W D P; do
    scheme=$a$b$c$d
    case $scheme in *C*C* | *W*W* | *D*D* | *P*P*) continue ;; esac
    cat >"$VARIANTS/palloc-$scheme.toml" <<TOML
base = "melded-tlc-8x8"
name = "palloc-$scheme"

[ftl]
page_allocation = "$scheme"
TOML
    cat >"$VARIANTS/palloc-$scheme.xml" <<XML
<?xml version="1.0"?>
<!-- The SSD of /data/1 and /data/2 places pages by $scheme. -->
<configuration>
<property><name>dfs.datanode.meld.devices</name><value>ssd=/opt/meld/variants/palloc-$scheme.toml</value></property>
<property><name>dfs.datanode.meld.volume.profiles</name><value>/data/1=@ssd,/data/2=@ssd,/data/optane=optane-900p</value></property>
</configuration>
XML
  done; done; done; done
}

# ---- commands -------------------------------------------------------------------------------

help_up() {
  cat <<'EOF'
Usage: ./meld up [--datanodes N] [--monitoring]

Starts the cluster of docker/ in containers: a NameNode, three DataNodes on
simulated SSDs, Spark, a page that shows what the SSDs do, and one with the
clients.

  --datanodes N   more than three DataNodes
  --monitoring    Prometheus as well, with the rules of docker/monitoring
EOF
}

up() {
  local datanodes=3 PROFILES=
  while [ $# -gt 0 ]; do
    case "$1" in
      --datanodes)
        datanodes=${2:-}
        if ! [[ $datanodes =~ ^[0-9]+$ ]] || [ "$datanodes" -lt 3 ]; then die "--datanodes takes a number from 3 on" 2; fi
        shift 2
        ;;
      --monitoring)
        PROFILES=monitoring
        shift
        ;;
      *) die "unknown option '$1'; up takes --datanodes N and --monitoring" 2 ;;
    esac
  done
  setup
  engine start
  build_image
  if [ -n "$PROFILES" ]; then
    logged "building the image of Prometheus" docker build --quiet --tag hdfs-meld-monitoring:latest \
      --build-arg "BASE=$(base_image)" "$DOCKER/monitoring"
  fi
  stage_variants
  logged "starting the cluster" compose up --detach --no-build --scale "datanode=$((datanodes - 3))"
  wait_healthy
  status
  say "meld: what the simulated SSDs do: http://localhost:${MELD_TOP_HTTP_PORT:-9880}/"
}

# Every container runs, and passes its health check if it has one; HDFS can be written.
wait_healthy() {
  local deadline=$((SECONDS + 180)) id state service waiting
  while true; do
    waiting=()
    for id in $(containers); do
      read -r state service < <(docker inspect --format \
        '{{if .State.Health}}{{.State.Health.Status}}{{else}}{{.State.Status}}{{end}} {{index .Config.Labels "com.docker.compose.service"}}' "$id")
      case $state in
        healthy | running) ;;
        *) waiting+=("$service") ;;
      esac
    done
    [ ${#waiting[@]} -eq 0 ] && break
    if [ $SECONDS -ge $deadline ]; then
      compose logs --tail 20 "${waiting[@]}" >&2
      die "not in service after 180 s: ${waiting[*]}"
    fi
    sleep 1
  done
  # All blocks are reported, so that no reader is sent to a replica that is not there yet.
  docker exec "$(containers edge)" timeout 120 hdfs dfsadmin -safemode wait >/dev/null ||
    die "the NameNode did not leave safe mode within 120 s; ./meld shell hdfs fsck / says what is missing"
}

help_status() {
  cat <<'EOF'
Usage: ./meld status

Lists the cluster's services, their health and addresses.
EOF
}

status() {
  engine || die "no container engine answers, so no cluster runs. ./meld up starts one."
  local id
  {
    echo "SERVICE STATE HEALTH ADDRESS"
    for id in $(containers); do
      docker inspect --format '{{index .Config.Labels "com.docker.compose.service"}} {{.State.Status}} {{with .State.Health}}{{.Status}}{{else}}-{{end}} {{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$id"
    done | sort
  } | awk '{ printf "%-16s %-10s %-10s %s\n", $1, $2, $3, $4 }'
}

help_top() {
  cat <<'EOF'
Usage: ./meld top [OPTIONS] [HOST:PORT...]

What the simulated SSDs of a running HDFS do, in a terminal: throughput, IOPS,
latency, busy dies and channels, melded share, write amplification, readers
that wait. Asks the web servers of the DataNodes; without an address, those of
the cluster that ./meld up started.

  --once            look twice, print, and end
  --format json     with --once: an object for scripts
  --interval S      seconds between looks (2; with --listen 1)
  --listen ADDRESS:PORT
                    serve the same as a page
  --each NAME:PORT  with --listen: every DataNode of that name

Keys: up and down choose a device, s sorts, q quits.
EOF
}

top() {
  if ! have_rust || ! have_linker; then setup; fi
  # An option's value is no address.
  local argument is_value='' is_named='' addresses=()
  for argument in "$@"; do
    case $argument in
      --interval | --format | --listen) is_value=yes ;;
      --each) is_named=yes is_value=yes ;;
      -*) is_value='' ;;
      *)
        [ -n "$is_value" ] || is_named=yes
        is_value=''
        ;;
    esac
  done
  if [ -z "$is_named" ]; then
    mapfile -t addresses < <(datanodes)
    [ ${#addresses[@]} -gt 0 ] ||
      die "no DataNode runs here. ./meld up starts some; or name them: ./meld top HOST:9864"
  fi
  (cd "$ROOT/native-sim" && cargo build --release --locked --quiet --package meld-top >&2)
  exec "$ROOT/native-sim/target/release/meld-top" "$@" "${addresses[@]}"
}

# The web servers of the cluster's DataNodes that run.
datanodes() {
  local id service address
  engine 2>/dev/null || return 0
  for id in $(containers); do
    read -r service address < <(docker inspect --format \
      '{{index .Config.Labels "com.docker.compose.service"}} {{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$id")
    case $service in
      datanode*) [ -z "$address" ] || echo "$address:9864" ;;
    esac
  done
}

help_shell() {
  cat <<'EOF'
Usage: ./meld shell [SERVICE] [COMMAND...]

A shell, or a command, in a service's container (default: edge, which has the
clients of HDFS and Spark). For example:

  ./meld shell hdfs dfs -ls /
  ./meld shell datanode-1
EOF
}

shell() {
  engine || die "no container engine answers, so no cluster runs. ./meld up starts one."
  local id='' terminal=(--interactive)
  [ $# -eq 0 ] || id=$(containers "$1" | tail -n 1)
  if [ -n "$id" ]; then shift; else id=$(containers edge); fi
  [ -n "$id" ] || die "the cluster does not run. ./meld up starts it."
  if [ -t 0 ] && [ -t 1 ]; then terminal+=(--tty); fi
  docker exec "${terminal[@]}" "$id" "${@:-bash}"
}

help_down() {
  cat <<'EOF'
Usage: ./meld down [--volumes]

Stops the cluster.

  --volumes   delete its data, too
EOF
}

down() {
  local volumes=()
  case "${1:-}" in
    '') ;;
    --volumes) volumes=(--volumes) ;;
    *) die "unknown option '$1'; down takes --volumes" 2 ;;
  esac
  if engine; then
    logged "stopping the cluster" compose down --remove-orphans --timeout 30 "${volumes[@]}"
    stop_engine
  else
    say "meld: no container engine answers; nothing to stop"
  fi
}

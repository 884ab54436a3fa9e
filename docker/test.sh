#!/usr/bin/env bash
# The acceptance test of the cluster: starts it, writes and reads through the plugin, breaks DataNodes while it is in use, proves by
# checksums that nothing is lost, and leaves nothing behind. Needs what ./meld up needs.
set -euo pipefail
cd "$(dirname "$0")/.."

PROJECT=hdfs-meld
SOCKET=$PWD/docker/target/engine/docker.sock
STARTED=$SECONDS

say() { printf '\n== %s (%d s)\n' "$1" $((SECONDS - STARTED)); }
fail() {
  printf 'docker/test.sh: FAILED: %s\n' "$1" >&2
  exit 1
}

in_namenode() { ./meld shell namenode "$@"; }
hdfs() { in_namenode hdfs "$@" 2>/dev/null; }
submit() { in_namenode spark-submit --class "org.hdfsmeld.spark.$1" /opt/meld/jobs/spark-jobs.jar "${@:2}"; }
container() { docker ps --all --quiet --filter "label=com.docker.compose.project=$PROJECT" --filter "label=com.docker.compose.service=$1"; }
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)["result"][sys.argv[1]])' "$1"; }

# Waits until a command succeeds: until SECONDS_AT_MOST COMMAND...
until_true() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $deadline ] || fail "still not so after a long wait: $*"
    sleep 1
  done
}

clean_up() {
  local status=$?
  ./meld down --volumes || status=1
  exit "$status"
}
trap clean_up EXIT

say "the cluster starts"
./meld up
[ -S "$SOCKET" ] && export DOCKER_HOST=unix://$SOCKET

say "hints"
hdfs dfs -mkdir -p /scan /lookup
hdfs meld -setReadPattern sequential /scan
hdfs meld -setReadPattern random /lookup
hdfs meld -getReadPattern /scan | grep -q sequential || fail "the hint of /scan is not there"

say "generate and scan, by spark-submit"
submit Generate --format text --scale 0.2 --files 4 --output hdfs://namenode:8020/scan/tpch
scan() { submit Scan --format text --json - hdfs://namenode:8020/scan/tpch/lineitem 2>/dev/null | field checksum; }
before=$(scan)
echo "checksum of the rows: $before"

say "a DataNode is killed in the middle of a write"
in_namenode bash -c 'head -c 402653184 /dev/urandom >/tmp/written && md5sum </tmp/written >/tmp/written.md5'
in_namenode bash -c 'hdfs dfs -put -f /tmp/written /lookup/written 2>/dev/null' &
put=$!
until_true 60 test "$(hdfs dfs -ls /lookup | grep -c COPYING)" -ge 1
docker kill "$(container datanode-2)" >/dev/null
wait "$put" || fail "the write did not survive the DataNode"
same() { in_namenode bash -c 'hdfs dfs -cat /lookup/written 2>/dev/null | md5sum | cmp - /tmp/written.md5'; }
same || fail "what was written is not what is read"
docker start "$(container datanode-2)" >/dev/null

say "another is killed in the middle of a scan"
(sleep 8 && docker kill "$(container datanode-3)" >/dev/null) &
[ "$(scan)" = "$before" ] || fail "the scan with a DataNode less reads other rows"
wait
docker start "$(container datanode-3)" >/dev/null

say "one is cut off the network"
network=$(docker network ls --quiet --filter "label=com.docker.compose.project=$PROJECT")
docker network disconnect "$network" "$(container datanode-1)"
same || fail "with a DataNode cut off, what was written is not what is read"
[ "$(scan)" = "$before" ] || fail "with a DataNode cut off, the scan reads other rows"
docker network connect --alias datanode-1 "$network" "$(container datanode-1)"
docker restart "$(container datanode-1)" >/dev/null

say "everything is back, and whole"
healthy() { hdfs fsck / | tee /tmp/meld-fsck | grep -q 'Under-replicated blocks:.*\b0 ' && grep -q 'Status: HEALTHY' /tmp/meld-fsck; }
until_true 180 healthy
docker restart "$(container namenode)" >/dev/null
until_true 120 hdfs dfsadmin -safemode wait
hdfs meld -getReadPattern /scan | grep -q sequential || fail "the hint of /scan did not survive a restart of the NameNode"
hdfs meld -explain /scan/tpch/lineitem | tee /tmp/meld-explain | head -20
grep -q sequential /tmp/meld-explain || fail "the blocks of /scan do not have its hint"
same || fail "what was written is not what is read"

say "nothing is left"
./meld down --volumes
trap - EXIT
if [ -S "$SOCKET" ] || docker info >/dev/null 2>&1; then
  for kind in container network volume; do
    left=$(docker "$kind" ls --quiet --filter "label=com.docker.compose.project=$PROJECT")
    [ -z "$left" ] || fail "a $kind is left: $left"
  done
fi
printf '\ndocker/test.sh: passed in %d s\n' $((SECONDS - STARTED))

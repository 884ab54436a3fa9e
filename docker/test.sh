#!/usr/bin/env bash
# The acceptance test of the cluster: starts it, writes and reads through the plugin, measures, breaks DataNodes while they are in use,
# proves by checksums that nothing is lost, and leaves nothing behind. Needs what ./meld up needs.
set -euo pipefail
cd "$(dirname "$0")/.."

PROJECT=hdfs-meld
OWN_ENGINE=$PWD/docker/target/engine/docker.sock
OUTPUT=$PWD/target/docker-test
STARTED=$SECONDS

say() { printf '\n== %s (%d s)\n' "$1" $((SECONDS - STARTED)); }
fail() {
  printf 'docker/test.sh: FAILED: %s\n' "$1" >&2
  exit 1
}

edge() { ./meld shell edge "$@"; }
hdfs() { edge hdfs "$@" 2>>"$OUTPUT/commands.log"; }
submit() { edge spark-submit --class "org.hdfsmeld.spark.$1" /opt/meld/jobs/spark-jobs.jar "${@:2}" 2>>"$OUTPUT/commands.log"; }
container() { docker ps --all --quiet --filter "label=com.docker.compose.project=$PROJECT" --filter "label=com.docker.compose.service=$1"; }

# until_true SECONDS_AT_MOST COMMAND...
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
mkdir -p "$OUTPUT"

say "the cluster starts"
./meld up
if [ -S "$OWN_ENGINE" ]; then export DOCKER_HOST=unix://$OWN_ENGINE; fi

say "scan: the melded layout against the normal one"
./meld suite --variants normal,melded --jobs scan --rounds 2 --files 4 --output "$OUTPUT/scan" \
  --expect 'scan:melded/normal>=1.30'

say "mixed: NVM sets against one undivided SSD"
./meld suite --variants sets-baseline,sets-vertical --jobs mixed --rounds 1 --files 4 --seconds 15 --output "$OUTPUT/mixed" \
  --expect 'mixed:sets-vertical:ratio<=1.10' --expect 'mixed:sets-baseline:ratio>=3'

say "hints"
MELD_VARIANT=default ./meld up
hdfs dfs -mkdir -p /scan /lookup
hdfs meld -setReadPattern sequential /scan
hdfs meld -setReadPattern random /lookup
pattern() { hdfs meld -getReadPattern /scan | grep -q sequential; }
pattern || fail "the hint of /scan is not there"
submit Generate --format text --scale 0.2 --files 4 --output hdfs://namenode:8020/scan/tpch >/dev/null
scan() { submit Scan --format text hdfs://namenode:8020/scan/tpch/text/lineitem | sed -n 's/.*"checksum" : "\(.*\)".*/\1/p'; }
before=$(scan)
[ -n "$before" ] || fail "the scan says no checksum"
echo "checksum of the rows: $before"

say "a DataNode is killed in the middle of a write"
edge bash -c 'head -c 402653184 /dev/urandom >/data/written && md5sum </data/written >/data/written.md5'
hdfs dfs -put -f /data/written /lookup/written &
put=$!
copying() { hdfs dfs -ls /lookup | grep -q COPYING; }
until_true 60 copying
docker kill "$(container datanode-2)" >/dev/null
wait "$put" || fail "the write did not survive the DataNode"
same() { hdfs dfs -cat /lookup/written | edge bash -c 'md5sum | cmp - /data/written.md5'; }
same || fail "what was written is not what is read"
docker start "$(container datanode-2)" >/dev/null

say "another is killed in the middle of a scan"
scan >"$OUTPUT/scan-of-two" &
scanning=$!
reading() { edge bash -c 'exec 3<>/dev/tcp/spark-master/8080 && printf "GET /json/ HTTP/1.0\r\n\r\n" >&3 && cat <&3' | grep -q '"state" : "RUNNING"'; }
until_true 60 reading
docker kill "$(container datanode-3)" >/dev/null
wait "$scanning" || fail "the scan did not survive the DataNode"
[ "$(cat "$OUTPUT/scan-of-two")" = "$before" ] || fail "the scan with a DataNode less reads other rows"
docker start "$(container datanode-3)" >/dev/null

say "one is cut off the network"
network=$(docker network ls --quiet --filter "label=com.docker.compose.project=$PROJECT")
docker network disconnect "$network" "$(container datanode-1)"
same || fail "with a DataNode cut off, what was written is not what is read"
[ "$(scan)" = "$before" ] || fail "with a DataNode cut off, the scan reads other rows"
docker network connect --alias datanode-1 "$network" "$(container datanode-1)"

say "everything is back, and whole"
whole() {
  hdfs fsck / >"$OUTPUT/fsck" # its report counts, not its exit code
  grep -q 'Status: HEALTHY' "$OUTPUT/fsck" && grep -q 'Under-replicated blocks:[[:space:]]*0 ' "$OUTPUT/fsck"
}
until_true 240 whole
docker restart "$(container namenode)" >/dev/null
until_true 120 hdfs dfsadmin -safemode wait
until_true 120 whole
pattern || fail "the hint of /scan did not survive a restart of the NameNode"
hdfs meld -explain /scan/tpch/text/lineitem >"$OUTPUT/explain"
head -n 12 "$OUTPUT/explain"
grep -q sequential "$OUTPUT/explain" || fail "the blocks of /scan do not have its hint"
same || fail "what was written is not what is read"
[ "$(scan)" = "$before" ] || fail "the scan reads other rows"

say "nothing is left"
trap - EXIT
./meld down --volumes
if docker info >/dev/null 2>&1; then
  for kind in container network volume; do
    left=$(docker "$kind" ls --quiet --filter "label=com.docker.compose.project=$PROJECT")
    [ -z "$left" ] || fail "a $kind is left: $left"
  done
fi
printf '\ndocker/test.sh: passed in %d s\n' $((SECONDS - STARTED))

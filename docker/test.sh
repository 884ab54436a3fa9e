#!/usr/bin/env bash
# The acceptance test of the cluster: starts it, writes and reads through the plugin, breaks DataNodes while they are in use, measures,
# proves by checksums that nothing is lost, and leaves nothing behind. Needs what ./meld up needs. With --quick, without the mixed suite.
set -euo pipefail
case "$*" in
  '' | --quick) QUICK=$* ;;
  *)
    echo "Usage: docker/test.sh [--quick]" >&2
    exit 2
    ;;
esac
cd "$(dirname "$0")/.."

PROJECT=hdfs-meld
OWN_ENGINE=$PWD/docker/target/engine/docker.sock
OUTPUT=$PWD/target/docker-test
STARTED=$SECONDS

say() { printf '\n== %s (%d s)\n' "$1" $((SECONDS - STARTED)); }
fail() {
  printf 'docker/test.sh: FAILED: %s\n' "$1" >&2
  [ ! -f "$OUTPUT/commands.log" ] || tail -n 40 "$OUTPUT/commands.log" >&2
  exit 1
}

edge() { ./meld shell edge "$@"; }
hdfs() { edge hdfs "$@" 2>>"$OUTPUT/commands.log"; }
submit() { edge spark-submit --class "org.hdfsmeld.spark.$1" /opt/meld/jobs/spark-jobs.jar "${@:2}" 2>>"$OUTPUT/commands.log"; }
container() { docker ps --all --quiet --filter "label=com.docker.compose.project=$PROJECT" --filter "label=com.docker.compose.service=$1"; }
checksum() { sed -n 's/.*"checksum" : "\(.*\)".*/\1/p'; }

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
: >"$OUTPUT/commands.log"

say "the cluster starts"
docker/monitoring/test
./meld up --monitoring
if [ -S "$OWN_ENGINE" ]; then export DOCKER_HOST=unix://$OWN_ENGINE; fi

say "hints, and rows"
hdfs dfs -mkdir -p /scan /lookup
hdfs meld -setReadPattern sequential /scan
hdfs meld -setReadPattern random /lookup
pattern() { hdfs meld -getReadPattern /scan | grep -q sequential; }
pattern || fail "the hint of /scan is not there"
submit Generate --format text --scale 0.1 --files 2 --output hdfs://namenode:8020/scan/tpch >/dev/null
scan() { submit Scan --format text hdfs://namenode:8020/scan/tpch/text/lineitem | checksum; }
before=$(scan)
[ -n "$before" ] || fail "the scan says no checksum"
echo "checksum of the rows: $before"

say "what is watched: Prometheus has all that the dashboard asks for"
watched() { docker/monitoring/queries "http://localhost:${MELD_PROMETHEUS_PORT:-9090}" >"$OUTPUT/queries" 2>&1; }
deadline=$((SECONDS + 120))
until watched; do
  [ $SECONDS -lt $deadline ] || fail "$(cat "$OUTPUT/queries")"
  sleep 2
done
cat "$OUTPUT/queries"

whole() {
  hdfs fsck / >"$OUTPUT/fsck" # its report counts, not its exit code
  grep -q 'Status: HEALTHY' "$OUTPUT/fsck" && grep -q 'Under-replicated blocks:[[:space:]]*0 ' "$OUTPUT/fsck"
}

say "a DataNode is killed in the middle of a write"
# The writer is fed the first 160 MiB, and the rest when the DataNode is dead: its second block is open, on every DataNode.
edge bash -c 'head -c 251658240 /dev/urandom >/data/written && md5sum </data/written >/data/written.md5 && rm -f /data/half /data/killed'
edge bash -c '{ head -c 167772160 /data/written; touch /data/half; until [ -e /data/killed ]; do sleep 0.2; done; tail -c +167772161 /data/written; } |
  hdfs dfs -D dfs.replication=3 -put -f - /lookup/written' 2>>"$OUTPUT/commands.log" &
put=$!
until_true 120 edge test -e /data/half
docker kill "$(container datanode-2)" >/dev/null
edge touch /data/killed
wait "$put" || fail "the write did not survive the DataNode"
same() { hdfs dfs -cat /lookup/written | edge bash -c 'md5sum | cmp - /data/written.md5'; }
same || fail "what was written is not what is read"
docker start "$(container datanode-2)" >/dev/null
# The NameNode may have told a DataNode to copy the block. One that is cut off would not, and the NameNode asks again after 5 minutes.
until_true 240 whole

say "one is cut off the network"
network=$(docker network ls --quiet --filter "label=com.docker.compose.project=$PROJECT")
docker network disconnect "$network" "$(container datanode-1)"
same || fail "with a DataNode cut off, what was written is not what is read"
[ "$(scan)" = "$before" ] || fail "with a DataNode cut off, the scan reads other rows"
docker network connect --alias datanode-1 "$network" "$(container datanode-1)"

say "everything is back, and whole"
until_true 240 whole
docker restart "$(container namenode)" >/dev/null
until_true 120 hdfs dfsadmin -safemode wait
until_true 120 whole
pattern || fail "the hint of /scan did not survive a restart of the NameNode"
file=$(hdfs dfs -ls -C /scan/tpch/text/lineitem | sed -n '0,/part-/{/part-/p}')
hdfs meld -explain "$file" >"$OUTPUT/explain"
cat "$OUTPUT/explain"
grep -q 'sequential, explicit.* 100 % of' "$OUTPUT/explain" || fail "the blocks of /scan do not have its hint"
same || fail "what was written is not what is read"
[ "$(scan)" = "$before" ] || fail "the scan reads other rows"

say "scan: the melded layout against the normal one"
./meld suite --variants normal,melded --jobs scan --rounds 1 --files 3 --dilation 200 --output "$OUTPUT/scan" \
  --expect 'scan:melded/normal>=1.30' --expect 'scan:normal:wait>=0.9'

say "a timeline of the scan, from its tasks to the dies"
./meld suite --variants melded --jobs scan --rounds 1 --files 3 --dilation 200 --output "$OUTPUT/timeline" --timeline
[ -s "$OUTPUT/timeline/scan.melded.perfetto.gz" ] || fail "there is no timeline"
grep -E 'that a task made|with their command|waited for devices' "$OUTPUT/timeline/suite.log" | tee "$OUTPUT/joined"
# Others read too, such as the history server; but they do not wait for devices.
awk '/task made/ { task = $(NF - 2) > 0 }
     /their command/ { command = $(NF - 2) == $NF && $NF > 0 }
     /waited for/ { waited = $5 > 0 && $(NF - 3) >= 0.99 * $5 }
     END { exit !(task && command && waited) }' "$OUTPUT/joined" || fail "the timeline is not joined"

say "the DataNode that is read is killed in the middle of a scan"
# As the suite left them: blocks of 128 MiB, on devices slow enough that one takes seconds.
raw_scan() { submit Scan --format raw --verify hdfs://namenode:8020/suite/melded/raw/date=1 | checksum; }
read_bytes() { # SERVICE: what it has read of its blocks since it started
  edge bash -c "exec 3<>/dev/tcp/$1/9864 && printf 'GET /jmx?qry=Hadoop:service=DataNode,name=MeldVolumeMetrics-* HTTP/1.0\r\nHost: localhost\r\n\r\n' >&3 && cat <&3" |
    awk -F '[:,]' '/"forwarded_read_bytes"/ { sum += $2 } END { print sum + 0 }'
}
./meld top --once
top=$(./meld top --once --interval 1 --format json)
echo "$top" | python3 -c 'import json, sys
top = json.load(sys.stdin)
names = {device["datanode"] for device in top["devices"]}
assert len(names) == 3 and not top["troubles"], top
assert all(device["healthy"] for device in top["devices"]), top
assert any(device["melded_share"] > 0 for device in top["devices"]), top' || fail "./meld top does not show the devices of three DataNodes"

# The page has its own names for the DataNodes. Counters are compared until nothing is written any more, such as a replica.
PAGE=http://localhost:${MELD_TOP_HTTP_PORT:-9880}
same_devices() {
  local name
  ./meld top --once --interval 1 --format json >"$OUTPUT/top.json"
  for name in datanode-1 datanode-2 datanode-3; do
    echo "$name $(docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$(container $name)")"
  done >"$OUTPUT/addresses"
  python3 - "$PAGE" "$OUTPUT/top.json" "$OUTPUT/addresses" >"$OUTPUT/page" 2>&1 <<'PYTHON'
import json, sys, urllib.request
page, once, addresses = sys.argv[1:]
with urllib.request.urlopen(page + "/") as answer:
    assert answer.headers["Content-Type"].startswith("text/html"), answer.headers
    assert "Simulated SSDs" in answer.read().decode()
with urllib.request.urlopen(page + "/devices.json") as answer:
    served = json.load(answer)
once = json.load(open(once))
address_of = dict(line.split() for line in open(addresses))
of_time = {"read_latency_us", "dies_busy", "channels_busy", "simulated_read_mib_s", "read_iops", "write_iops", "read_mib_s",
           "write_mib_s", "readers_waiting", "writers_waiting", "outstanding"}
def devices(top):
    found = {}
    for device in top["devices"]:
        host, port = device["datanode"].rsplit(":", 1)
        device["datanode"] = f"{address_of.get(host, host)}:{port}"
        found[device["datanode"], device["device"]] = {key: None if key in of_time else value for key, value in device.items()}
    return found
assert served.keys() == once.keys() and served["schema_version"] == once["schema_version"], (served.keys(), once.keys())
assert not served["troubles"], served["troubles"]
assert len({device["datanode"] for device in served["devices"]}) == 3, served
assert devices(served) == devices(once), (served, once)
PYTHON
}
deadline=$((SECONDS + 120))
until same_devices; do
  [ $SECONDS -lt $deadline ] || fail "the page does not show what ./meld top shows: $(cat "$OUTPUT/page")"
done
missed() { # SERVICE: the page says that it does not answer
  python3 -c 'import json, sys, urllib.request
troubles = json.load(urllib.request.urlopen(sys.argv[1] + "/devices.json"))["troubles"]
sys.exit(not any(trouble.startswith(sys.argv[2] + ":") for trouble in troubles))' "$PAGE" "$1"
}

raw=$(checksum <"$OUTPUT/scan/scan.melded.1.json")
declare -A idle
for name in datanode-1 datanode-2 datanode-3; do idle[$name]=$(read_bytes $name); done
raw_scan >"$OUTPUT/scan-of-two" &
scanning=$!
victim=''
being_read() {
  local name
  for name in "${!idle[@]}"; do
    if [ $(($(read_bytes "$name") - idle[$name])) -gt 33554432 ]; then victim=$name; fi
  done
  [ -n "$victim" ]
}
until_true 120 being_read
docker kill "$(container "$victim")" >/dev/null
echo "killed: $victim"
kill -0 "$scanning" 2>/dev/null || fail "the scan was over before the DataNode was killed"
wait "$scanning" || fail "the scan did not survive the DataNode"
until_true 60 missed "$victim"
[ "$(cat "$OUTPUT/scan-of-two")" = "$raw" ] || fail "the scan with a DataNode less reads other bytes"
docker start "$(container "$victim")" >/dev/null

if [ -z "$QUICK" ]; then
  say "mixed: NVM sets against one undivided SSD"
  # So slow a device that the p99 is its, even on a host of two processors: 1 MiB takes a quarter of a second.
  ./meld suite --variants sets-baseline,sets-vertical --jobs mixed --rounds 1 --files 2 --dilation 500 --seconds 35 --output "$OUTPUT/mixed" \
    --expect 'mixed:sets-vertical:ratio<=1.10' --expect 'mixed:sets-baseline:ratio>=3'
  until_true 240 whole
fi
same || fail "what was written is not what is read"

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

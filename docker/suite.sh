# The benchmark suite on the compose cluster: what ./meld suite does. Sourced by meld, after cluster.sh.
# shellcheck shell=bash disable=SC2153

SUITE_JOBS=(scan query lookup mixed sort churn)
# What Spark is started with beside a job's own settings.
more=()

help_suite() {
  cat <<EOF
Usage: ./meld suite [OPTIONS]

Runs Spark jobs on the cluster of ./meld up, variant by variant, and writes a
report. Each variant has data of its own, written before anything is measured.
A round runs every job on every variant once. Before each variant the DataNodes
are restarted with its configuration and, as root, the host's page cache is
dropped.

  --variants A,B   files of docker/variants, without .xml (default:
                   normal,melded)
  --jobs A,B       ${SUITE_JOBS[*]} (default: scan)
  --rounds N       how often each is measured (default: 3)
  --files N        raw files of 128 MiB that scan, lookup and mixed read
                   (default: 8)
  --scale S        TPC-H scale factor of what query and sort read (default: 0.5)
  --dilation N     wall seconds that a simulated second takes (default: 150)
  --windows A,B    measure each variant with the read-ahead windows A, B, ... as
                   256k,1m,16m (default: 16m, not labelled)
  --seconds S      length of a phase of mixed (default: 15)
  --output DIR     results and report (default: target/suite); what is there of
                   other jobs and variants stays, and is in the report
  --expect EXPR    what must hold in the end, as "scan:melded/normal>=1.30"; may
                   be repeated; else the exit code is 1
  --fresh          write the data anew
  --timeline       also write, of the first round, what Spark's tasks, the
                   DataNodes and the dies did, for Perfetto; what is recorded
                   takes a little time itself
EOF
}

# job CLASS ARGUMENTS...: one job on the cluster; its JSON is printed. Settings of Spark: conf=(--conf KEY=VALUE).
job() {
  shell spark-submit --class "org.hdfsmeld.spark.$1" "${conf[@]}" /opt/meld/jobs/spark-jobs.jar "${@:2}" 2>>"$SUITE_LOG"
}

dfs() { shell hdfs dfs "$@" >>"$SUITE_LOG" 2>&1; }

# Whoever interrupts the suite does not reach the job, which would go on in its container and disturb the next run.
interrupted() {
  shell pkill -f 'org[.]hdfsmeld[.]spark[.]' >>"$SUITE_LOG" 2>&1 || true
  die "the suite was interrupted" 130
}

# use VARIANT MODE DILATION [WINDOW]: restarts the DataNodes with that configuration.
use() {
  export MELD_VARIANT=$1 MELD_MODE=$2 MELD_TIME_DILATION=$3 MELD_WINDOW=${4:-}
  local node
  # One by one, so that each gets its address back. If they swapped theirs, the NameNode would take their blocks as lost until
  # they report, and copies of them would be written on the devices that are measured.
  for node in datanode-1 datanode-2 datanode-3; do
    compose up --detach --no-build --no-deps --timeout 60 "$node" >>"$SUITE_LOG" 2>&1 </dev/null
  done
  wait_healthy
}

data_nodes() {
  local id list=()
  for id in $(containers datanode-1) $(containers datanode-2) $(containers datanode-3); do
    list+=("$(docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$id"):9864")
  done
  (IFS=, && echo "${list[*]}")
}

drop_caches() {
  sync
  if [ -w /proc/sys/vm/drop_caches ]; then echo 3 2>/dev/null >/proc/sys/vm/drop_caches || true; fi
}

# prepare VARIANT: the data that the jobs read, written as the variant lays it out. Called where errors do not exit.
prepare() {
  local name
  if [ -n "$fresh" ]; then dfs -rm -r -f -skipTrash "/suite/$1" || return; fi
  for name in "${jobs[@]}"; do
    case $name in
      scan | mixed) generate "$1" "$name" raw "$files" --format raw --files "$files" || return ;;
      lookup) generate "$1" "$name" random "$files" --format raw --files "$files" || return ;;
      churn) prepare_churn "$1" || return ;;
      query | sort) generate "$1" "$name" tables "$scale" --format both --scale "$scale" --files 4 || return ;;
    esac
  done
}

# prepare_churn VARIANT: a directory on the device of /data/2, whose clock no job waits for.
prepare_churn() {
  use "$1" account 1 || return
  dfs -rm -r -f -skipTrash "/suite/$1/churn" && dfs -mkdir -p "/suite/$1/churn" || return
  shell hdfs storagepolicies -setStoragePolicy -path "/suite/$1/churn" -policy ALL_SSD >>"$SUITE_LOG" 2>&1
}

# generate VARIANT JOB FOLDER SIZE ARGUMENTS...: data of that size for the job, unless it is there whole.
generate() {
  local root=/suite/$1 folder=/suite/$1/$3 conf=()
  local complete
  complete=$folder/date=$(last_day "$1")/.complete-$4
  if dfs -test -e "$complete"; then return; fi
  use "$1" account 1 || return
  dfs -mkdir -p "$root/ingest" "$folder" || return
  # What is ingested goes to /data/2, and what is read is on /data/1.
  shell hdfs storagepolicies -setStoragePolicy -path "$root/ingest" -policy ALL_SSD >>"$SUITE_LOG" 2>&1 || return
  # In the end only what is written now is there.
  dfs -rm -f "$folder/date=*/.complete-*" || return
  job Generate --overwrite --output "$folder/date=1" "${@:5}" >/dev/null || return
  # A variant that lays out by history needs one: the job reads the first day, and what is measured is the next day's.
  if [ "$(last_day "$1")" -eq 2 ]; then
    day=1 run "$2" "$1" >/dev/null || return
    job Generate --overwrite --output "$folder/date=2" "${@:5}" >/dev/null || return
    dfs -rm -r -skipTrash "$folder/date=1" || return
  fi
  dfs -touchz "$complete"
}

# last_day VARIANT: of the data that jobs are measured on.
last_day() { if grep -q 'hint.automatic</name><value>history' "$VARIANTS/$1.xml"; then echo 2; else echo 1; fi; }

# recorded FILE JOB VARIANT OPTIONS...: as run, with a timeline in FILE.
recorded() {
  local file=$1 folder=/tmp/meld-timeline fetched
  fetched=$(mktemp -d)
  more=(--conf spark.plugins=org.hdfsmeld.spark.timeline.TimelinePlugin
    --conf "spark.hdfsmeld.timeline.file=$folder/job.spark.jsonl.gz"
    --conf spark.hadoop.fs.hdfs.impl=org.hdfsmeld.spark.timeline.RecordingFileSystem)
  shell rm -rf "$folder" && shell mkdir -p "$folder" && timeline start || return
  run "${@:2}" || return
  more=()
  timeline stop && timeline fetch "$folder" || return
  shell tar -C "$folder" -c . | tar -x -C "$fetched" || return
  "$ROOT/native-sim/target/release/meldsim" timeline --join "$fetched" --timeline "$file" >>"$SUITE_LOG" 2>&1 || return
  rm -r "$fetched"
}

timeline() { shell hdfs meld -timeline "$@" >>"$SUITE_LOG" 2>&1; }

# run JOB VARIANT OPTIONS...: the job on the variant's data; its JSON is printed.
run() {
  local data=/suite/$2 day=${day:-$(last_day "$2")} arguments=() conf=("${more[@]}")
  case $1 in
    scan)
      # One reader, as two would share an SSD in some runs and not in others.
      conf+=(--conf spark.cores.max=1)
      arguments=(Scan --format raw "$data/raw/date=$day/raw")
      ;;
    query) arguments=(Query "$data/tables/date=$day/parquet") ;;
    lookup) arguments=(Lookup --reads 4000 --bytes 64k --threads 2 "$data/random/date=$day/raw") ;;
    mixed)
      # The writer is on every DataNode, so also on that which is read.
      conf+=(--conf spark.hadoop.dfs.replication=3)
      arguments=(Mixed --ingest "$data/ingest" --seconds "$seconds" --rounds 1 "$data/raw/date=$day/raw")
      ;;
    churn)
      # Every device gets all of it. HDFS deletes up to two heartbeats later: a round is longer, or the device has no room.
      conf+=(--conf spark.hadoop.dfs.replication=3)
      arguments=(Churn --output "$data/churn/run" --least-seconds 8)
      ;;
    sort) arguments=(Sort --format text --output "$data/sorted" --overwrite "$data/tables/date=$day/text/lineitem") ;;
  esac
  job "${arguments[0]}" "${@:3}" "${arguments[@]:1}"
}

# measure JOB VARIANT ROUND [WINDOW]
measure() {
  local how=(run)
  if [ -n "$timeline" ] && [ "$3" -eq 1 ]; then how=(recorded "$output/$1.$2${4:+@$4}.perfetto.gz"); fi
  "${how[@]}" "$1" "$2" --datanodes "$(data_nodes)" --label "variant=$2" --label "round=$3" --label "job=$1" \
    ${4:+--label "window=$4"} >"$output/$1.$2${4:+@$4}.$3.json"
}

suite() {
  local variants=(normal melded) jobs=(scan) rounds=3 files=8 scale=0.5 dilation=150 seconds=15 fresh='' timeline='' expect=()
  local windows=('') output=$ROOT/target/suite name round variant window command="./meld suite${*:+ ${*@Q}}"
  while [ $# -gt 0 ]; do
    case "$1" in
      --variants) IFS=, read -ra variants <<<"${2:-}" ;;
      --jobs) IFS=, read -ra jobs <<<"${2:-}" ;;
      --rounds) rounds=${2:-} ;;
      --files) files=${2:-} ;;
      --scale) scale=${2:-} ;;
      --dilation) dilation=${2:-} ;;
      --windows) IFS=, read -ra windows <<<"${2:-}" ;;
      --seconds) seconds=${2:-} ;;
      --output) output=${2:-} ;;
      --expect) expect+=(--expect "${2:-}") ;;
      --fresh)
        fresh=1
        shift
        continue
        ;;
      --timeline)
        timeline=1
        shift
        continue
        ;;
      --help | -h)
        help_suite
        return
        ;;
      *) die "unknown option '$1'; ./meld suite --help lists them" 2 ;;
    esac
    [ $# -ge 2 ] || die "$1 takes a value; ./meld suite --help" 2
    shift 2
  done
  for name in "$rounds" "$files"; do
    [[ $name =~ ^[1-9][0-9]*$ ]] || die "--rounds and --files take a number from 1 on, not '$name'" 2
  done
  for name in "${jobs[@]}"; do
    [[ " ${SUITE_JOBS[*]} " == *" $name "* ]] || die "there is no job '$name'; there are: ${SUITE_JOBS[*]}" 2
  done
  setup
  build_jars # the report's
  if [ -n "$timeline" ]; then build_cli; fi
  if ! engine || [ -z "$(containers edge)" ]; then die "the cluster does not run. ./meld up starts it."; fi
  stage_variants
  for name in "${variants[@]}"; do
    [ -f "$VARIANTS/$name.xml" ] || die "there is no variant '$name' in $VARIANTS" 2
  done
  mkdir -p "$output"
  output=$(cd "$output" && pwd)
  SUITE_LOG=$output/suite.log
  : >"$SUITE_LOG"
  for name in "${jobs[@]}"; do
    for variant in "${variants[@]}"; do rm -f "$output/$name.$variant".*.json "$output/$name.$variant"@*.json; done
  done
  say "meld: the jobs' log is $SUITE_LOG"
  trap interrupted INT TERM
  for variant in "${variants[@]}"; do
    timed "data of $variant" prepare "$variant"
  done
  for ((round = 1; round <= rounds; round++)); do
    for variant in "${variants[@]}"; do
      for window in "${windows[@]}"; do
        for name in "${jobs[@]}"; do
          case $name in
            churn) use "$variant" account 1 "$window" ;;
            *) use "$variant" real-time "$dilation" "$window" ;;
          esac
          drop_caches
          timed "round $round of $rounds: $name on $variant${window:+@$window}" measure "$name" "$variant" "$round" "$window"
        done
      done
    done
  done
  report "$output" --made-by "$command" "${expect[@]}"
}

# timed LABEL COMMAND...: in a shell of its own, so that what ends it or interrupts it is said here and not in the log.
timed() {
  local start=$SECONDS label=$1
  shift
  ("$@") || {
    tail -n 20 "$SUITE_LOG" >&2
    die "$label failed; the whole log: $SUITE_LOG"
  }
  say "$label: $((SECONDS - start)) s"
}

report() {
  "$JAVA_HOME/bin/java" @"$ROOT/demo/target/java.args" org.hdfsmeld.spark.Report \
    --html "$1/report.html" --json "$1/report.json" "${@:2}" "$1"
}

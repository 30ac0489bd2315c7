#!/usr/bin/env bash
# How far plain `occam train` comes on the problems of studies/exact-zoo, whose exact posteriors are known.
#   bench/zoo.sh OCCAM FOLDER [THREADS_PER_JOB [JOBS [PROBLEM...]]] [-- OPTIONS OF train...]
# Trains every problem (or those named), JOBS at a time (default: as many as the cores hold, with 2 threads each), checks
# each network on 5,000 data sets (OCCAM_ZOO_DATASETS), and prints a table, the worst first, with median and maximum.
# OCCAM_ZOO_PROBLEMS is another folder of such problems, as bench/unseen.
# FOLDER gets NAME.occam, NAME.log, NAME.check/ and zoo.csv. Networks that are in it already are taken as they are.
# Seconds are wall time of the whole of `occam train`, with whatever else runs on the machine; cpu are its CPU seconds.
set -euo pipefail
arguments=() options=()
while [ $# -gt 0 ]; do
  if [ "$1" = -- ]; then
    shift
    options=("$@")
    break
  fi
  arguments+=("$1")
  shift
done
if [ ${#arguments[@]} -lt 2 ]; then
  sed -n '2,8s/^# //p' "$0" >&2
  exit 64
fi
occam=$(realpath "${arguments[0]}") folder=${arguments[1]} threads=${arguments[2]:-2}
jobs=${arguments[3]:-$(((($(nproc) + threads - 1)) / threads))}
problems=$(realpath "${OCCAM_ZOO_PROBLEMS:-$(dirname "$0")/../studies/exact-zoo}")
names=("${arguments[@]:4}")
if [ ${#names[@]} -eq 0 ]; then
  for file in "$problems"/*.cpp; do names+=("$(basename "$file" .cpp)"); done
fi
mkdir -p "$folder"
cd "$folder"

# Each runs in a shell of its own.
one() {
  local name=$1
  shift
  if [ ! -e "$name.occam" ]; then
    TIMEFORMAT='%R %U %S'
    { time "$OCCAM" train "$PROBLEMS/$name.toml" -o "$name.occam" --threads "$THREADS" "$@" > "$name.log" 2>&1; } \
      2> "$name.seconds" || { echo "$name: training failed: $(tail -n 1 "$name.log")" >&2; return; }
  fi
  "$OCCAM" check "$name.occam" --problem "$PROBLEMS/$name.toml" --threads "$THREADS" \
    --datasets "${OCCAM_ZOO_DATASETS:-5000}" --seed 7 --quiet -o "$name.check" > "$name.check.log" 2>&1 ||
    echo "$name: check failed: $(tail -n 1 "$name.check.log")" >&2
  "$OCCAM" info "$name.occam" --json > "$name.json"
}
export -f one
export OCCAM=$occam PROBLEMS=$problems THREADS=$threads
printf '%s\n' "${names[@]}" | xargs -P "$jobs" -I NAME bash -c 'one "$@"' one NAME ${options[@]+"${options[@]}"}

python3 - "${names[@]}" <<'PYTHON'
import csv, json, math, os, statistics, sys

columns = ["problem", "n", "models", "steps", "seconds", "cpu", "loss", "best_loss", "kl", "se", "missed", "accuracy", "best", "verdict"]
nan = float("nan")

def row(name):
    info = json.load(open(name + ".json"))
    findings = json.load(open(name + ".check/metrics.json"))["findings"]
    value = lambda finding, metric: findings.get(finding, {}).get(metric, {}).get("value", nan)
    verdict = [line for line in open(name + ".check.log") if line.startswith("Verdict: ")]
    seconds, *cpu = map(float, open(name + ".seconds").read().split()) if os.path.exists(name + ".seconds") else [nan, nan]
    return {"problem": name, "n": "-".join(map(str, info["n"])), "models": len(info["models"]),
            "steps": info["record"]["steps"], "seconds": round(seconds, 1), "cpu": round(sum(cpu), 1),
            "loss": value("scores", "log_loss"), "best_loss": value("exact", "best_log_loss"),
            "kl": value("exact", "kl"), "se": value("exact", "kl_se"),
            "missed": value("missed", "missed_bound"),
            "accuracy": value("accuracy", "accuracy"), "best": value("exact", "best_accuracy"),
            "verdict": verdict[0][9:].split(":")[0].split(".")[0].strip() if verdict else ""}

rows, failed = [], []
for name in sys.argv[1:]:
    try:
        rows.append(row(name))
    except (OSError, KeyError, ValueError) as error:
        failed.append(name)
rows.sort(key=lambda one: -one["kl"] if one["kl"] == one["kl"] else -math.inf)
with open("zoo.csv", "w", newline="") as file:
    writer = csv.DictWriter(file, columns)
    writer.writeheader()
    writer.writerows(rows)

def text(one):
    return (f"{one['problem']:<16} {one['n']:>9} {one['models']:>6} {one['steps']:>7} {one['seconds']:>8.1f} {one['cpu']:>8.1f} "
            f"{one['loss']:>7.4f} {one['best_loss']:>9.4f} {one['kl']:>9.5f} {one['se']:>8.5f} {one['missed']:>8.5f} "
            f"{one['accuracy']:>8.4f} {one['best']:>7.4f}  {one['verdict']}")

print(f"{'problem':<16} {'N':>9} {'models':>6} {'steps':>7} {'seconds':>8} {'cpu':>8} {'loss':>7} {'best loss':>9} {'KL':>9} "
      f"{'se':>8} {'missed':>8} {'accuracy':>8} {'best':>7}  check says")
for one in rows:
    print(text(one))
kl = [one["kl"] for one in rows if one["kl"] == one["kl"]]
seconds = [one["seconds"] for one in rows if one["seconds"] == one["seconds"]]
if kl:
    print(f"\n{len(kl)} problems: median KL {statistics.median(kl):.5f}, largest {max(kl):.5f}; "
          f"{sum(x <= .001 for x in kl)} at most .001, {sum(x > .005 for x in kl)} above .005 nats")
if seconds:
    print(f"seconds of training: median {statistics.median(seconds):.0f}, largest {max(seconds):.0f}, "
          f"all together {sum(seconds):.0f}")
for name in failed:
    print(f"{name}: no figures; see {name}.log and {name}.check.log")
sys.exit(1 if failed else 0)
PYTHON

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What takes too long for each commit: 100,000 schedules of every law with no bug planted, among all
# of them a million without a false alarm of a deadlock, foreign libraries for as long, a fleet in
# the simulated world and on a real Slurm, a program under load, another processor, packages on a
# machine of their own, the zoo with controls as long, the mutants of assertions and oracles, the
# benchmarks. Prints a table; `--json FILE` writes all rows as one list.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

SCHEDULES=${SCHEDULES:-100000}
SANITIZED_SCHEDULES=${SANITIZED_SCHEDULES:-10000}
SOAK_SECONDS=${SOAK_SECONDS:-600}
ALARM_SCHEDULES=${ALARM_SCHEDULES:-1000000}
build=build/release
sanitized_build=build/asan
json=

while (($#)); do
  case $1 in
    --json) json=${2:?--json needs a file} && shift 2 ;;
    --build) build=${2:?--build needs a folder} && shift 2 ;;
    *) echo "nightly: unknown argument '$1'" >&2 && exit 1 ;;
  esac
done

rows=$(mktemp -d)
trap 'rm -rf "$rows"' EXIT
failed=0

echo "--- laws: $SCHEDULES schedules each"
laws=$("$build/properties/fermata_suite" --list) || exit 1
total=0
for law in $laws; do
  start=$SECONDS
  log=$rows/$law.log ok=true
  "$build/properties/fermata_suite" --only "$law" --runs "$SCHEDULES" >"$log" 2>&1 ||
    { ok=false failed=1 && cat "$log"; }
  passed=$(sed -nE 's/^schedules +([0-9]+)$/\1/p' "$log")
  total=$((total + ${passed:-0}))
  printf '%-24s %8s schedules %5s s  %s\n' "$law" "${passed:-?}" $((SECONDS - start)) "$ok"
  printf '[{"name": "law/%s", "value": %s, "unit": "schedules", ' "$law" "${passed:-0}" \
    >"$rows/law_$law.json"
  printf '"ratio": null, "limit": %s, "ok": %s}]\n' "$SCHEDULES" "$ok" >>"$rows/law_$law.json"
done

# In a law a deadlock report that should not be is a failure: of all coroutines it contradicts the
# law's own oracle, of some of them it ends a run in a world that has none.
alarms=true
((failed == 0 && total >= ALARM_SCHEDULES)) || alarms=false failed=1
printf 'deadlocks: %s schedules without a false alarm, of at least %s  %s\n' "$total" \
  "$ALARM_SCHEDULES" "$alarms"
printf '[{"name": "deadlocks/no_false_alarm", "value": %s, "unit": "schedules", ' "$total" \
  >"$rows/law_alarms.json"
printf '"ratio": null, "limit": %s, "ok": %s}]\n' "$ALARM_SCHEDULES" "$alarms" \
  >>"$rows/law_alarms.json"

echo "--- laws under AddressSanitizer: $SANITIZED_SCHEDULES schedules each"
sanitized=true
"$sanitized_build/properties/fermata_suite" --runs "$SANITIZED_SCHEDULES" ||
  { sanitized=false failed=1; }
printf '[{"name": "laws/sanitized", "value": %s, "unit": "schedules", "ratio": null, ' \
  "$SANITIZED_SCHEDULES" >"$rows/law_sanitized.json"
printf '"limit": %s, "ok": %s}]\n' "$SANITIZED_SCHEDULES" "$sanitized" >>"$rows/law_sanitized.json"

echo "--- soak: $SOAK_SECONDS s"
soaked=true
"$build/tests/soak/fermata_soak" "$SOAK_SECONDS" "$RANDOM" || { soaked=false failed=1; }
printf '[{"name": "soak", "value": %s, "unit": "s", "ratio": null, "limit": %s, "ok": %s}]\n' \
  "$SOAK_SECONDS" "$SOAK_SECONDS" "$soaked" >"$rows/soak.json"

for driver in $("$build/tests/soak/fermata_loop_soak" --list); do
  echo "--- soak of the event loop on $driver: $SOAK_SECONDS s"
  soaked=true
  "$build/tests/soak/fermata_loop_soak" "$driver" "$SOAK_SECONDS" "$RANDOM" ||
    { soaked=false failed=1; }
  printf '[{"name": "soak/loop/%s", "value": %s, "unit": "s", "ratio": null, ' "$driver" \
    "$SOAK_SECONDS" >"$rows/soak_loop_$driver.json"
  printf '"limit": %s, "ok": %s}]\n' "$SOAK_SECONDS" "$soaked" >>"$rows/soak_loop_$driver.json"
done

echo "--- arm64, under qemu: the same hashes, tapes and backtraces"
tests/arm64/compare.py "$build" build/arm64 build/sysroot/arm64/root --json "$rows/arm64.json" ||
  failed=1

echo "--- packages: on a machine that has nothing else, and from vcpkg's port and Conan's recipe"
tests/packages/bare_machine.py build/packages build/bare --json "$rows/packages.json" || failed=1
ported=0
for port in vcpkg conan; do
  tests/packages/${port}_test.py . && ported=$((ported + 1))
done
((ported == 2)) || failed=1
printf '[{"name": "packages/ports", "value": %s, "unit": "ports", "ratio": null, "limit": 2, ' \
  "$ported" >"$rows/ports.json"
printf '"ok": %s}]\n' "$( ((ported == 2)) && echo true || echo false)" >>"$rows/ports.json"

echo "--- libraries that were not written for Fermata"
tests/outside/long_runs.py "$build" --json "$rows/foreign.json" || failed=1

echo "--- workers of a fleet in the simulated world: $SCHEDULES schedules each"
fleet=true
FERMATA_RUNS=$SCHEDULES "$build/tests/fleet/fleet_sim_test" || { fleet=false failed=1; }
printf '[{"name": "fleet/simulated", "value": %s, "unit": "schedules", "ratio": null, ' \
  "$SCHEDULES" >"$rows/fleet_simulated.json"
printf '"limit": %s, "ok": %s}]\n' "$SCHEDULES" "$fleet" >>"$rows/fleet_simulated.json"

echo "--- a plan of 200,000 runs on a real Slurm that loses machines and its controller"
tests/fleet/slurm_test.py "$build" --long --json "$rows/fleet_slurm.json" ||
  (($? == 77)) || failed=1  # 77: Slurm does not start here.

echo "--- the recipe of the container, in a bare Debian"
tests/fleet/container_root.py . "$build" || (($? == 77)) || failed=1

echo "--- page of a run: made from its sources and the lock file, and compared; opened"
rebuilt=true pages=1
sim/fermata/sim/report/web/rebuild.sh || rebuilt=false pages=0 failed=1
printf '[{"name": "page/rebuilt", "value": %s, "unit": "pages", ' "$pages" >"$rows/page.json"
printf '"ratio": null, "limit": 1, "ok": %s}]\n' "$rebuilt" >>"$rows/page.json"
bench/page.py --json "$rows/page_opening.json" || failed=1

echo "--- zoo"
properties/zoo/run.py --build "$build" --control "$SCHEDULES" --json "$rows/zoo.json" || failed=1

echo "--- assertions and oracles: each notices a change of one line"
tests/assertions/run.py --build "$build" --json "$rows/assertions.json" || failed=1

echo "--- bench"
bench/run.py --build "$build" --json "$rows/bench.json" || failed=1

if [[ -n $json ]]; then
  python3 - "$json" "$rows"/*.json <<'MERGE'
import json, sys
rows = [row for path in sys.argv[2:] for row in json.load(open(path, encoding="utf-8"))]
with open(sys.argv[1], "w", encoding="utf-8") as out:
    out.write(json.dumps(rows, indent=1) + "\n")
MERGE
fi
exit "$failed"

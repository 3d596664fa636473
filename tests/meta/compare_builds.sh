#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# compare_builds.sh BUILD BUILD [SEEDS]: the failing seeds of examples/lost_update fail in the same
# way, at the same virtual time and with the same trace hash, in two builds of it.

set -eu
[ $# -ge 2 ] || { echo "usage: $0 BUILD BUILD [SEEDS]" >&2; exit 1; }

failures_of() {
  program=$1/examples/lost_update/example_lost_update_sim_test
  [ -x "$program" ] || { echo "$0: there is no $program" >&2; exit 1; }
  seed=1
  while [ "$seed" -le "$seeds" ]; do
    FERMATA_OUT=$folder FERMATA_SEED=$seed FERMATA_RUNS=1000 "$program" |
      sed -n 's/^\(reproduce: FERMATA_SEED=[^ ]*\).*/\1/
              /^safety: /,/^  signature /p; /^trace hash /p'
    seed=$((seed + 1))
  done
}

seeds=${3:-100}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures_of "$1" >"$folder/first"
failures_of "$2" >"$folder/second"
diff "$folder/first" "$folder/second"
different=$(grep '^reproduce: ' "$folder/first" | sort -u | wc -l)
[ "$different" -eq "$seeds" ] || { echo "only $different of $seeds seeds fail" >&2; exit 1; }
echo "$different seeds fail in the same way in both builds"

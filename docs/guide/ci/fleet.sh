#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# From a laptop to a fleet and back. TESTS is a test program, PLAN an empty folder on storage that
# all machines share.
set -euo pipefail

# What is to be explored: the program, its tests, a seed, so many runs of each.
fermata fleet plan "$TESTS" --plan "$PLAN" --filter "${FILTER:-*}" --seed 7 --runs "${RUNS:-200000}"

# A worker explores until nothing is left, or its time is up. Start as many as you like, anywhere.
fermata fleet work "$PLAN" --time 5s

# How far it is, who works, what was found.
fermata fleet status "$PLAN"

# More workers, on this machine and on others; this is the command to give to a scheduler.
fermata fleet work "$PLAN" --jobs 2

# The result of all of them; the exit code is the verdict.
code=0
fermata fleet result "$PLAN" --json "$PLAN/result.json" --junit "$PLAN/result.xml" || code=$?

# The lines `reproduce:` of the result work in the folder of the plan.
for tape in "$PLAN"/findings/*/*.shrunk.tape; do
  [[ -e $tape ]] || continue
  (cd "$PLAN" && fermata replay "findings/${tape#*/findings/}") || true
done

# What is new against an earlier plan.
if [[ -n ${BEFORE:-} ]]; then fermata fleet compare "$BEFORE" "$PLAN" || code=$?; fi
exit "$code"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH --job-name=fermata
#SBATCH --array=0-3
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00
#SBATCH --signal=B:TERM@60
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output="/shared/nightly/logs/%A_%a.log"

# Tasks may be lost, queued again or run twice: each takes chunks of the plan until
# none is left. When its time is over, it gives its chunk back and ends in order,
# with code 130, which does not fail the task: what is left is for others.
told=
trap 'told=1; kill -s TERM "$worker"' TERM
/usr/local/bin/fermata fleet work /shared/nightly --jobs 8 &
worker=$!
wait "$worker"; code=$?
if [[ -n $told ]]; then wait "$worker"; code=$?; fi
[[ $code -eq 130 ]] || exit "$code"

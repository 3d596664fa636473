#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH --job-name=simulation
#SBATCH --array=0-3
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00
#SBATCH --signal=B:TERM@60

# Each task of the array explores its part; which one it finds in Slurm's variables. A task that is
# sent away ends in order, and goes on where it stopped when it is queued again.
exec fermata run build/my_tests \
  --seed 7 --runs 400 --keep-going --out "nightly-$SLURM_ARRAY_TASK_ID"

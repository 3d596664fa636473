#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -e

fermata fleet plan build/my_tests --plan /shared/nightly --seed 7 --runs 400
fermata fleet slurm /shared/nightly --tasks 4 --jobs 8 --time 1h
fermata fleet status /shared/nightly

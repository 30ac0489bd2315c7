#!/usr/bin/env bash
# Runs a program on 1, 2 and 3 ranks, as on one machine and as on several; or says that there is no MPI.
#   tests/mpi/run.sh PROGRAM
set -euo pipefail
if [ ! -x "$1" ] || ! command -v mpirun >/dev/null; then
  echo "$1: SKIPPED, there is no MPI (Debian: libopenmpi-dev openmpi-bin)"
  exit 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# What Open MPI itself never frees is not ours to find.
export ASAN_OPTIONS=detect_leaks=0
for ranks in 1 2 3; do
  mpirun --oversubscribe -n "$ranks" "$1" --gtest_brief=1
  OCCAM_RANKS_APART=1 mpirun --oversubscribe -n "$ranks" "$1" --gtest_brief=1
done

#!/bin/sh
# A study on a Slurm cluster: sixteen jobs share the trials through one PostgreSQL server.
# SQLite does not work here: its locks are not reliable on network file systems.
#
# Submit: WIMBLE_STORAGE=postgresql://user@server/wimble sbatch slurm.sh
# Give the password in ~/.pgpass or PGPASSWORD, not on the command line. More jobs may join, and jobs may be cancelled, at any time:
# on SIGTERM a run returns its trials to the queue, and a killed one loses them when its lease expires.
#SBATCH --job-name=wimble
#SBATCH --array=1-16
#SBATCH --cpus-per-task=4
#SBATCH --time=08:00:00
#SBATCH --signal=B:TERM@60
set -eu
# `exec`, so that the signal reaches wimble and not the shell.
exec wimble run study.toml --workers "$SLURM_CPUS_PER_TASK"

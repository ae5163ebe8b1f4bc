#!/usr/bin/env bash
# gpu_day.sh [--python PROGRAM] [--out FOLDER] [--seconds N]: Assay on a machine with an NVIDIA GPU, in about 20 minutes.
# Installs what is missing into .venv-gpu (with --python: into nothing, that interpreter is taken as it is), runs `pytest -m gpu`,
# checks the digit models and those of the matrix on every flow of a GPU, and writes gpu.md (a table with the GPU's name, for docs/results),
# gpu.jsonl and the logs to FOLDER, each row as soon as it is known.
# Exit code: 0 all is as the code expects, 1 something differs (told at the end), 2 it could not begin.
set -uo pipefail
cd "$(dirname "$0")/.."
python="" out=build/gpu seconds=900
while [ $# -gt 0 ]; do
  case $1 in
    --python) python=$2 ;;
    --out) out=$2 ;;
    --seconds) seconds=$2 ;;
    *) sed -n '2,6s/^# //p' "$0"; exit 2 ;;
  esac
  shift 2
done
mkdir -p "$out"
if ! command -v nvidia-smi >/dev/null || ! nvidia-smi --list-gpus | grep -q GPU; then
  echo "gpu_day: no NVIDIA GPU here (nvidia-smi lists none); start it on a machine with a driver" >&2
  [ -n "${ASSAY_GPU_DAY_DRY:-}" ] || exit 2
fi
if [ -z "$python" ]; then
  python=.venv-gpu/bin/python
  [ -x "$python" ] || python3 -m venv .venv-gpu || exit 2
  "$python" -m pip install --quiet -e 'packages/assay[gpu,onnxruntime,torch,tvm,iree,images]' pytest psutil hypothesis || exit 2
  "$python" -m pip install --quiet tensorrt || echo "gpu_day: TensorRT cannot be installed here; its flows are skipped"
fi
rc=0
timeout "$((seconds / 2))" "$python" -m pytest -m gpu -p no:cacheprovider --junitxml "$out/gpu-tests.xml" -rs \
  tests/end_to_end/test_gpu.py tests/ports/launch/test_launch_gpus.py 2>&1 | tee "$out/gpu-tests.log" || rc=1
timeout "$seconds" "$python" tools/gpu_table.py "$out" 2>&1 | tee "$out/gpu-table.log" || rc=1
exit "$rc"

#!/usr/bin/env bash
# Compiles the kernels for GPUs, so that a mistake in them is seen where there is no GPU. Takes the nvcc that is there,
# or fetches one from PyPI into a folder of its own (100 MB, once).
#   scripts/kernels.sh PYTHON
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-python3}
folder=build/nvcc

if [ "$(uname -m)" != x86_64 ]; then
  echo "The kernels for GPUs are not compiled: this is $(uname -m), not x86_64."
  exit 0
fi
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ ! -x "$nvcc" ]; then
  if [ ! -e "$folder/complete" ]; then
    rm -rf "$folder"
    if ! "$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder" \
      nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85 \
      nvidia-nvvm==13.0.88; then
      echo "The kernels for GPUs are not compiled: there is no nvcc, and none could be fetched." >&2
      # Where tests are relied on, this is one of them.
      if [ "${CI:-}" = true ]; then exit 1; else exit 0; fi
    fi
    touch "$folder/complete"
  fi
  nvcc=$folder/nvidia/cu13/bin/nvcc
fi
echo "Compiling the kernels for GPUs"
# Without the build files, which would compile half of the library first. For one kind of GPU: a mistake shows there.
mkdir -p build
compile() {
  "$1" -std=c++20 -gencode=arch=compute_90,code=sm_90 -I src ${OCCAM_HEADERS:+-I "$OCCAM_HEADERS"} \
    -c "$2" -o "build/$(basename "$2" .cu).o"
}
export -f compile
# The largest first; xargs fails where one of them does.
ls -S src/occam/*/cuda/*.cu bench/*.cu | xargs -P "$(nproc)" -I SOURCE bash -c 'compile "$@"' compile "$nvcc" SOURCE

#!/bin/sh
# Makes the virtual environment bench/.venv with the benchmarks' peers (PyTorch, JAX, ssm-simulators, pyABC); run again to bring it up to date.
# On Debian and Ubuntu `python3 -m venv` needs the package python3-venv (installed here when run as root).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv="$here/../.venv"

if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get install -y python3-venv
    else
        echo "setup.sh: python3 has no venv module; install it (Debian, Ubuntu: apt install python3-venv) and run again" >&2
        exit 1
    fi
fi
"$venv/bin/python" -c "" 2>/dev/null || python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet -r "$here/requirements.txt"
"$venv/bin/python" -c 'import jax, numpy, torch; print("torch", torch.__version__, "jax", jax.__version__, "numpy", numpy.__version__)'

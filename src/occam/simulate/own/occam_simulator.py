"""Simulate models of your own for occam, in Python with NumPy.

Write one function for each model and hand them to serve():

    import numpy as np
    from occam_simulator import serve

    def coin(theta, n, rng):
        return rng.random(n) < theta

    serve({"fair": coin, "flat": coin})

A function gets the model's parameters by their names in the problem file, the number n of rows to simulate, and a
NumPy Generator `rng`, from which everything random has to come. It returns the rows: an array (n, columns), or (n)
where there is one column; or a data frame or dict of columns, which are found by their names. None, or an array of NaN,
stands for parameters that give no usable data.

Where the problem file has a [design], a function also gets the design columns by their names, each an array (n), and
returns the observed columns only.

serve(..., vectorized=True) is for functions that simulate many data sets at once: parameters and n are arrays (B),
and the result is an array (B, n.max(), columns) of which the first n[b] rows of data set b are taken, or all rows one
after the other, (n.sum(), columns). Design columns are arrays (n.sum()), the rows of all data sets one after the other.

print() goes to standard error, so it does no harm. To try a function without occam, call it.
"""

import json
import os
import sys

import numpy as np

__all__ = ["serve"]


def serve(models, vectorized=False):
    """Answers requests for data sets until standard input ends."""
    # The answers' own descriptor; what anybody prints from now on goes to standard error.
    answers = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    requests = sys.stdin.buffer
    while True:
        line = requests.readline()
        if not line:
            return
        request = json.loads(line)
        model = request["model"]
        if model not in models:
            raise SystemExit(f"serve() has no function for model '{model}', only for: {', '.join(models)}")
        simulate = _many if vectorized else _one_by_one
        _write(answers, simulate(models[model], request))


def _design(request):
    return {name: np.array(values) for name, values in request.get("design", {}).items()}


def _array(result, request):
    """What a function returned as an array; columns that have names are found by them."""
    if isinstance(result, dict) or hasattr(result, "columns"):
        names = request["names"]
        found = list(getattr(result, "columns", result))
        if sorted(map(str, found)) != sorted(names):
            raise ValueError(
                f"model '{request['model']}' returned the columns {found}, expected {names}, in any order"
            )
        result = np.column_stack([np.asarray(result[name], dtype=np.float32) for name in names])
    return np.asarray(result, dtype=np.float32)


def _one_by_one(function, request):
    columns = request["columns"]
    names = list(request["parameters"])
    design = _design(request)
    rows = []
    first = 0
    for b, (n, seed) in enumerate(zip(request["n"], request["seeds"])):
        parameters = {name: request["parameters"][name][b] for name in names}
        given = {name: values[first : first + n] for name, values in design.items()}
        first += n
        result = function(n=n, rng=np.random.default_rng(seed), **parameters, **given)
        if result is None:
            rows.append(np.full((n, columns), np.nan, dtype=np.float32))
            continue
        data = _array(result, request)
        if data.shape == (n,) and columns == 1:
            data = data[:, None]
        if data.shape != (n, columns):
            raise ValueError(
                f"model '{request['model']}' returned an array of shape {data.shape}, expected {(n, columns)} for n = {n}"
            )
        rows.append(data)
    return np.concatenate(rows)


def _many(function, request):
    columns = request["columns"]
    n = np.array(request["n"])
    parameters = {name: np.array(values) for name, values in request["parameters"].items()}
    result = function(n=n, rng=np.random.default_rng(request["seed"]), **parameters, **_design(request))
    data = _array(result, request)
    sets, longest, total = len(n), int(n.max()), int(n.sum())
    if columns == 1 and data.shape in ((sets, longest), (total,)):
        data = data[..., None]
    if data.shape == (sets, longest, columns):
        if total == sets * longest:
            return data.reshape(total, columns)
        return data[np.arange(longest) < n[:, None]]
    if data.shape != (total, columns):
        raise ValueError(
            f"model '{request['model']}' returned an array of shape {data.shape}, expected {(sets, longest, columns)} "
            f"(data sets, longest n, columns) or {(total, columns)} (all rows)"
        )
    return data


def _write(descriptor, data):
    """As an npy file (format 1.0) of little-endian float32."""
    data = np.ascontiguousarray(data, dtype="<f4")
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {data.shape}, }}\n".encode()
    parts = memoryview(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data.tobytes())
    while parts:
        parts = parts[os.write(descriptor, parts) :]

"""Counts the floating-point operations of the benchmark's steps; run it to print them.

Matrix products of dense, convolution and LSTM layers only, two operations per multiply-add, in the naive
formulation (per-set vectors concatenated to every observation before the product; the LSTM's first step multiplies the
zero state too). Training = forward + weight gradients + input gradients, without the gradient of the data.
"""
import json

from cases import CASES


def dense(rows, width_in, width_out, data_columns=0):
    """Multiply-adds (forward, training) of a product (rows, in) x (in, out) whose first data_columns inputs are data."""
    forward = rows * width_in * width_out
    return forward, 3 * forward - rows * data_columns * width_out


def stack(rows, width_in, width, count, data_columns=0):
    yield dense(rows, width_in, width, data_columns)
    for _ in range(count - 1):
        yield dense(rows, width, width)


def invariant(case, width_in, pooling, is_data):
    width, count = case["inv"]
    rows, data_columns = case["B"] * case["N"], width_in if is_data else 0
    yield from stack(rows, width_in, width, count, data_columns)
    if pooling == "attention":
        yield from stack(rows, width_in, width, count, data_columns)
        yield dense(rows, width, width)
    yield from stack(case["B"], width, width, count)


def set_network(case, pooling):
    rows, width_in = case["B"] * case["N"], case["D"]
    for is_data in (True, False):
        yield from invariant(case, width_in, pooling, is_data)
        yield from stack(rows, width_in + case["inv"][0], *case["equiv"], width_in if is_data else 0)
        width_in = case["equiv"][0]
    yield from invariant(case, width_in, pooling, False)
    yield from stack(case["B"], case["inv"][0], *case["post"])
    yield dense(case["B"], case["post"][0], case["J"])


def sequence_network(case):
    length, width, hidden = case["N"], case["D"], case["hidden"]
    yield dense(case["B"] * length, width + hidden, 4 * hidden, width)
    for i, (filters, kernel, stride) in enumerate(case["convs"]):
        length = (length - kernel) // stride + 1
        yield dense(case["B"] * length, kernel * width, filters, kernel * width if i == 0 else 0)
        width = filters
    yield from stack(case["B"], hidden + width, *case["post"])
    yield dense(case["B"], case["post"][0], case["J"])


def flops(name, pooling="attention"):
    """(forward, training) operations of one batch of case a, b or c."""
    case = CASES[name]
    layers = set_network(case, pooling) if case["kind"] == "set" else sequence_network(case)
    forward, training = (sum(column) for column in zip(*layers))
    return 2 * forward, 2 * training


def main():
    for name, case in CASES.items():
        for pooling in ("attention", "mean") if case["kind"] == "set" else (None,):
            forward, training = flops(name, pooling)
            print(json.dumps({"case": name, "pooling": pooling, "forward_flop": forward, "training_flop": training}))


if __name__ == "__main__":
    main()

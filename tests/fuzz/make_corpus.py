#!/usr/bin/env python3
"""Writes the seeds of the binary targets into tests/fuzz/corpus (the others are text and lie there as they are).

    tests/fuzz/make_corpus.py [FOLDER]

Inputs that once were findings are not made here: they lie beside these under the names finding-*.
"""
import io
import json
import pathlib
import random
import struct
import sys
import zipfile

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "corpus")


def save(target, name, data):
    folder = root / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def npy(descr, shape, data, version=1, order="False"):
    text = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + data


def archive(members, method):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name + ".npy"), data, method)
    return out.getvalue()


def tensors(header, data):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


floats = struct.pack("<4f", 1, 2, 3, 4)
doubles = struct.pack("<2d", 1.5, float("nan"))
for name, data in {
    "floats": npy("<f4", "(2, 2)", floats),
    "doubles": npy("<f8", "(2,)", doubles),
    "scalar": npy("|u1", "()", b"\x07"),
    "version3": npy("<i8", "(1, 2, 1)", struct.pack("<2q", 1, -1), 3),
    "bool": npy("|b1", "(3,)", b"\0\1\2"),
    "empty": npy("<i2", "(0, 5)", b""),
}.items():
    save("npy", name, b"\x03" + data)

two = npy("<f4", "(2, 2)", floats)
for name, method in {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}.items():
    save("npz", name, b"\0" + archive({"a": two, "b": two}, method))
save("npz", "simulations", b"\0" + archive(
    {"data": two, "n": npy("<i8", "(2,)", struct.pack("<2q", 1, 1))}, zipfile.ZIP_STORED))
for way in (1, 2):
    save("npz", f"built{way}", bytes([way, 16]) + bytes(16) + bytes([min(len(two), 255)]) + two + b"\0" + two)
    save("npz", f"lies{way}", bytes([way, 16]) + bytes(range(1, 17)) + bytes([min(len(two), 255)]) + two + b"\0" + two)
save("npz", "chosen", b"\3" + bytes([2]) + bytes(40))

header = {"__metadata__": {"format": "test"},
          "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
          "b": {"dtype": "I64", "shape": [1], "data_offsets": [16, 24]}}
save("safetensors", "file", b"\0" + tensors(header, bytes(24)))
save("safetensors", "header", bytes([25]) + json.dumps(header).encode())
save("safetensors", "none", b"\1{}")
save("safetensors", "types", bytes([16]) + json.dumps(
    {t: {"dtype": t, "shape": [1], "data_offsets": [at, at + size]}
     for t, at, size in (("U8", 0, 1), ("I8", 1, 1), ("BOOL", 2, 1), ("I16", 3, 2), ("U16", 5, 2), ("F64", 7, 8))}
).encode())

# The structure-aware targets read changes from these bytes; a fixed seed gives each sample a few.
random.seed(1)
for target in ("network", "checkpoint"):
    save(target, "unchanged0", b"\0")
    for kind in range(3):
        save(target, f"sample{kind}", bytes([kind]))
        for k in range(6):
            changes = bytes([kind + 3 * random.randrange(80)]) + bytes(random.randrange(256) for _ in range(4 + 6 * k))
            save(target, f"changes{kind}{k}", changes)

save("protocol", "npy", bytes([1 | 1 << 3, 4]) + npy("<f4", "(2, 2)", floats))
save("protocol", "npy-flat", bytes([3, 0]) + npy("<f4", "(4,)", floats))
save("protocol", "npy-doubles", bytes([1, 9]) + npy("<f8", "(2, 1)", doubles))

meta = json.dumps({"models": ["a", "b"], "model_prior": [0.5, 0.5]}).encode()
p = npy("<f8", "(1, 2)", struct.pack("<2d", 0.25, 0.75))
truth = npy("<i4", "(1,)", struct.pack("<i", 1))
save("predictions", "arrays", b"\1" + archive(
    {"p": p, "true": truth, "u": npy("<f4", "(1,)", struct.pack("<f", .5)),
     "meta": npy("|u1", f"({len(meta)},)", meta)}, zipfile.ZIP_STORED))
save("predictions", "built", b"\2" + bytes([2, 0, 0x10]) + bytes(4) + meta)
save("predictions", "built-all", b"\2" + bytes([2, 0, 0x1f]) + bytes(40) + meta)
save("predictions", "built-int8", b"\2" + bytes([2, 0, 0x30]) + bytes(4) + meta)

table = json.dumps({"models": ["fair", "any"]}).encode()
save("table", "arrays", b"\1" + archive(
    {"data": npy("<f4", "(3, 1)", struct.pack("<3f", 0, 1, 1)), "n": npy("<i8", "(2,)", struct.pack("<2q", 1, 2)),
     "model": npy("<i4", "(2,)", struct.pack("<2i", 0, 1)), "meta": npy("|u1", f"({len(table)},)", table)},
    zipfile.ZIP_STORED))
save("table", "built", b"\2" + bytes([1, 1, 2]) + bytes(3) + b"\0\0\1" + b"\0\0\1" + table)
save("table", "built-parameters", b"\2" + bytes([1, 1, 1]) + bytes(40))

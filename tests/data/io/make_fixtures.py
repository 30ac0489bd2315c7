# Writes the files beside it that the tests of src/occam/io read: what NumPy itself makes of npy and npz.
# Run with NumPy 2 installed:  python3 make_fixtures.py
import io
import os
import zipfile

import numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))

numbers = np.arange(6).reshape(2, 3)
dtypes = ["float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
good = {name: numbers.astype(name) for name in dtypes}
good["scalar"] = np.float64(2.5)
good["empty"] = np.zeros((0, 4), np.float32)
good["cube"] = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 8
good["zeros"] = np.zeros(5000)
good["fortran_line"] = np.asfortranarray(numbers[:1].astype(np.float32))
good["größe"] = np.array([1.0])
np.savez("stored.npz", **good)
np.savez_compressed("compressed.npz", **good)

refused = {
    "big_endian": numbers.astype(">f8"),
    "fortran": np.asfortranarray(numbers.astype(np.float32)),
    "half": numbers.astype(np.float16),
    "complex": numbers.astype(np.complex64),
    "text": np.array(["a", "b"]),
    "objects": np.array([{"a": 1}, None], dtype=object),
    "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
    "fields": np.array([(1, 2.0)], dtype=[("a", "<i4"), ("b", "<f4")]),
}
np.savez("refused.npz", **refused)

for version in [(1, 0), (2, 0), (3, 0)]:
    with open(f"v{version[0]}.npy", "wb") as out:
        np.lib.format.write_array(out, numbers.astype(np.float32), version=version)


class Unseekable(io.RawIOBase):
    """A sink like a pipe: zipfile then writes sizes and CRCs after the data (data descriptors)."""

    def __init__(self, out):
        self.out = out

    def writable(self):
        return True

    def write(self, data):
        return self.out.write(data)


with open("descriptors.npz", "wb") as out:
    with zipfile.ZipFile(Unseekable(out), "w") as archive:
        archive.writestr("readme.txt", "not an array")
        for name, method in [("a", zipfile.ZIP_STORED), ("b", zipfile.ZIP_DEFLATED)]:
            data = io.BytesIO()
            np.save(data, numbers)
            info = zipfile.ZipInfo(f"{name}.npy")
            info.compress_type = method
            archive.writestr(info, data.getvalue())

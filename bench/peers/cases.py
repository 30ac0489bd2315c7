"""The benchmark's three training steps: network sizes, batch shapes and the random data all peers share.

Set networks: inv, equiv, post are (width, number of layers). Sequence networks: convs are (filters, kernel, stride).
No log N column and no summary layer: the head follows the post layers, as in the code of the paper's authors.
"""

CASES = {
    "a": {"kind": "set", "study": 1, "B": 64, "N": 50, "D": 1, "J": 2, "inv": (64, 2), "equiv": (32, 2), "post": (64, 2)},
    "b": {"kind": "set", "study": 3, "B": 64, "N": 150, "D": 3, "J": 6, "inv": (128, 2), "equiv": (64, 2), "post": (128, 3)},
    "c": {"kind": "sequence", "study": 4, "B": 32, "N": 1101, "D": 1, "J": 3, "hidden": 128,
          "convs": ((64, 5, 2), (64, 5, 3), (128, 3, 2), (128, 3, 3), (128, 2, 2)), "post": (256, 2)},
}
LEARNING_RATE = 5e-4
CLIP_NORM = 5.0


def random_batch(case):
    """x (B, N, D) float32 and labels (B,) int64, the same in every run."""
    import numpy as np  # here, so that counting operations needs no packages

    rng = np.random.default_rng(0)
    x = rng.standard_normal((case["B"], case["N"], case["D"]), np.float32)
    return x, rng.integers(0, case["J"], case["B"])

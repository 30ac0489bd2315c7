"""Simulators that other processes import."""

import os
import time


def coin(theta, n, rng):
    return rng.random(n) < theta


def coins(theta, n, rng):
    return rng.random((len(n), n.max())) < theta[:, None]


def slow_coin(theta, n, rng):
    time.sleep(0.5)
    return rng.random(n) < theta


def unlucky_coin(theta, n, rng):
    raise ArithmeticError(f"no luck with {n}")


def deadly_coin(theta, n, rng):
    os._exit(7)

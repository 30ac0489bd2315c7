"""Times the benchmark's training steps (or forward passes) in JAX: one jitted function with donated buffers.

A step: forward, logarithmic loss of the Dirichlet mean with alpha = 1 + exp(f), backward, clipping to global norm 5, Adam.
Several equivalent formulations are timed, since which is fastest depends on the machine; compare with the best:
split       set networks: the summary enters the equivariant layer once per set, not once per observation
unrollK     sequence network: K steps of the LSTM per iteration of the scan
With --device cuda, products are in XLA's own choice of precision (TF32).
"""
import functools

from timing import STEPS_IN_A_ROW, measure, parse_arguments, report, use_cores

ARGUMENTS = parse_arguments(__doc__.splitlines()[0])
use_cores(ARGUMENTS.threads)  # XLA sizes its thread pool by the cores it may use

import jax  # noqa: E402  (after the cores are chosen)

jax.config.update("jax_platforms", ARGUMENTS.device)
from jax import numpy as jnp  # noqa: E402

from cases import CASES, CLIP_NORM, LEARNING_RATE, random_batch  # noqa: E402

AT_ONCE = STEPS_IN_A_ROW if ARGUMENTS.device == "cuda" and not ARGUMENTS.inference else 1


# ---- parameters: nested dictionaries; a stack of layers is a list of (weight, bias) ------------------------

def init_dense(key, width_in, width_out):
    bound = width_in**-0.5
    return jax.random.uniform(key, (width_in, width_out), minval=-bound, maxval=bound), jnp.zeros(width_out)


def init_stack(key, width_in, width, count):
    keys = jax.random.split(key, count)
    return [init_dense(k, width_in if i == 0 else width, width) for i, k in enumerate(keys)]


def init_invariant(key, width_in, inv):
    keys = jax.random.split(key, 4)
    p = {"embed": init_stack(keys[0], width_in, *inv), "after": init_stack(keys[1], inv[0], *inv)}
    if ARGUMENTS.pooling == "attention":
        p |= {"score": init_stack(keys[2], width_in, *inv), "score_out": init_dense(keys[3], inv[0], inv[0])}
    return p


def init_equivariant(key, width_in, inv, equiv):
    keys = jax.random.split(key)
    return init_invariant(keys[0], width_in, inv) | {"dense": init_stack(keys[1], width_in + inv[0], *equiv)}


def init_set(key, case):
    keys = jax.random.split(key, 5)
    inv, equiv, post = case["inv"], case["equiv"], case["post"]
    return {"equivariant0": init_equivariant(keys[0], case["D"], inv, equiv),
            "equivariant1": init_equivariant(keys[1], equiv[0], inv, equiv),
            "invariant": init_invariant(keys[2], equiv[0], inv),
            "post": init_stack(keys[3], inv[0], *post), "head": init_dense(keys[4], post[0], case["J"])}


def init_sequence(key, case):
    keys = jax.random.split(key, 5)
    hidden, width, convs = case["hidden"], case["D"], []
    for k, (filters, kernel, _) in zip(jax.random.split(keys[0], len(case["convs"])), case["convs"]):
        weight, bias = init_dense(k, kernel * width, filters)
        convs.append((weight.reshape(kernel, width, filters), bias))
        width = filters
    wx, b = init_dense(keys[1], case["D"], 4 * hidden)
    wh, _ = init_dense(keys[2], hidden, 4 * hidden)
    return {"lstm": (wx, wh, b), "convs": convs, "post": init_stack(keys[3], hidden + width, *case["post"]),
            "head": init_dense(keys[4], case["post"][0], case["J"])}


# ---- networks ---------------------------------------------------------------------------------------------

def dense(p, x):
    weight, bias = p
    return x @ weight + bias


def run_stack(layers, x):
    for p in layers:
        x = jax.nn.elu(dense(p, x))
    return x


def invariant(p, x):
    e = run_stack(p["embed"], x)
    if "score" in p:
        scores = dense(p["score_out"], run_stack(p["score"], x))
        v = (e * jax.nn.softmax(scores, axis=1)).sum(1)
    else:
        v = e.mean(1)
    return run_stack(p["after"], v)


def equivariant(p, x, split):
    s = invariant(p, x)
    if not split:
        s = jnp.broadcast_to(s[:, None, :], (*x.shape[:2], s.shape[-1]))
        return run_stack(p["dense"], jnp.concatenate([x, s], -1))
    weight, bias = p["dense"][0]
    channels = x.shape[-1]
    first = x @ weight[:channels] + (s @ weight[channels:] + bias)[:, None, :]
    return run_stack(p["dense"][1:], jax.nn.elu(first))


def set_network(p, x, split):
    x = equivariant(p["equivariant0"], x, split)
    x = equivariant(p["equivariant1"], x, split)
    return dense(p["head"], run_stack(p["post"], invariant(p["invariant"], x)))


def lstm(p, x, unroll):
    """x (B, N, D) -> last hidden state (B, H); the input's products are made for all steps at once."""
    wx, wh, b = p
    inputs = jnp.swapaxes(x, 0, 1) @ wx + b

    def step(state, row):
        h, c = state
        i, f, g, o = jnp.split(row + h @ wh, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

    zero = jnp.zeros((x.shape[0], wh.shape[0]))
    (h, _), _ = jax.lax.scan(step, (zero, zero), inputs, unroll=unroll)
    return h


def convolve(layers, strides, x):
    for (weight, bias), stride in zip(layers, strides):
        x = jax.lax.conv_general_dilated(x, weight, (stride,), "VALID", dimension_numbers=("NWC", "WIO", "NWC"))
        x = jax.nn.elu(x + bias)
    return x.max(1)


def sequence_network(p, x, strides, unroll):
    v = jnp.concatenate([lstm(p["lstm"], x, unroll), convolve(p["convs"], strides, x)], -1)
    return dense(p["head"], run_stack(p["post"], v))


# ---- the step ---------------------------------------------------------------------------------------------

def log_loss_exp(f, labels):
    """Mean of -log(alpha_true / alpha_0) for alpha = 1 + exp(f), in log space."""
    log_p = jax.nn.log_softmax(jax.nn.softplus(f))
    return -jnp.take_along_axis(log_p, labels[:, None], 1).mean()


def clip(gradients):
    norm = jnp.sqrt(sum((g**2).sum() for g in jax.tree.leaves(gradients)))
    scale = jnp.minimum(1.0, CLIP_NORM / (norm + 1e-6))
    return jax.tree.map(lambda g: scale * g, gradients)


def adam(parameters, gradients, state):
    m, v, t = state
    t = t + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, gradients)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, gradients)
    rate, correction = LEARNING_RATE / (1 - 0.9**t), 1 - 0.999**t
    parameters = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v / correction) + 1e-8), parameters, m, v)
    return parameters, (m, v, t)


def standardise(data):
    x, mean, scale = data
    return (x - mean) / scale


def training_step(network, parameters, data, labels):
    """A function that does one complete step, waits for it and returns the loss; data is (x, mean, scale)."""
    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def update(parameters, state, data, labels):
        x = standardise(data)
        loss, gradients = jax.value_and_grad(lambda p: log_loss_exp(network(p, x), labels))(parameters)
        return *adam(parameters, clip(gradients), state), loss

    zeros = functools.partial(jax.tree.map, jnp.zeros_like)
    held = [parameters, (zeros(parameters), zeros(parameters), jnp.zeros(()))]

    def step():
        for _ in range(AT_ONCE):
            *held[:], loss = update(*held, data, labels)
        return loss.block_until_ready()
    return step


def forward_pass(network, parameters, data):
    forward = jax.jit(lambda parameters, data: network(parameters, standardise(data)))
    return lambda: forward(parameters, data).block_until_ready()


def variants(case):
    """(name, network function) to time."""
    if case["kind"] == "set":
        return [("jit", functools.partial(set_network, split=False)), ("jit+split", functools.partial(set_network, split=True))]
    strides = tuple(stride for _, _, stride in case["convs"])
    return [(f"jit+unroll{k}", functools.partial(sequence_network, strides=strides, unroll=k)) for k in (1, 4, 16)]


def run(case, network):
    x, labels = (jnp.asarray(array) for array in random_batch(case))
    init = init_set if case["kind"] == "set" else init_sequence
    parameters = init(jax.random.key(0), case)
    data = x, jnp.zeros(case["D"]), jnp.ones(case["D"])
    if ARGUMENTS.inference:
        step = forward_pass(network, parameters, data)
    else:
        step = training_step(network, parameters, data, labels)
    return measure(step, ARGUMENTS.seconds, steps=AT_ONCE)


def main():
    for name in ARGUMENTS.only:
        for variant, network in variants(CASES[name]):
            report(ARGUMENTS, name, run(CASES[name], network), peer="jax", variant=variant, version=jax.__version__)


if __name__ == "__main__":
    main()

"""Writes the reference values of the neural engine's tests, one <case>.npz per layer, loss and network.

Rerun from the repository root after bench/peers/setup.sh:
    bench/.venv/bin/python tests/data/nn/make_reference.py

PyTorch in float64 with fixed seeds; digamma, trigamma and lgamma, and the Dirichlet gradients, from mpmath
with 50 digits. In every file `dy` is the
upstream gradient of the output `y` and `d_<name>` the gradient of sum(y * dy) (of `loss`, where there is one) with
respect to <name>. Dense weights are (in, out), convolution weights (kernel, in, out), LSTM gates in the order i, f, g, o. Data sets are
concatenated along the first axis, `n` (B,) int64 gives their sizes. Scalars have shape (1,).
"""
import pathlib
import sys

import mpmath
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "bench" / "peers"))
import torch_networks as tn  # noqa: E402

ACTIVATIONS = {"elu": F.elu, "relu": F.relu, "tanh": torch.tanh, "softplus": F.softplus, "identity": lambda x: x}


def save(case, **arrays):
    """Write float64 and int64 arrays in C order."""
    def plain(a):
        a = np.atleast_1d(a.detach().numpy() if isinstance(a, torch.Tensor) else np.asarray(a))
        return np.ascontiguousarray(a, np.int64 if a.dtype.kind == "i" else np.float64)
    np.savez(HERE / f"{case}.npz", **{name: plain(a) for name, a in arrays.items()})


def normal(*shape):
    return torch.randn(*shape)


def gradients(output, dy, **tensors):
    """d_<name> of sum(output * dy); the tensors were made by `leaves`."""
    grads = torch.autograd.grad((output * dy).sum(), tensors.values())
    return {f"d_{name}": g for name, g in zip(tensors, grads)}


def save_layer(case, f, tensors, **constants):
    """Save inputs, y = f(**tensors), a random dy and all gradients."""
    tensors = {name: t.clone().requires_grad_() for name, t in tensors.items()}
    y = f(**tensors)
    dy = normal(*y.shape)
    save(case, **tensors, **constants, y=y, dy=dy, **gradients(y, dy, **tensors))


def save_loss(case, f, tensors, **constants):
    """Save inputs, the scalar loss f(**tensors)[0], further outputs f(**tensors)[1] and all gradients of the loss."""
    tensors = {name: t.clone().requires_grad_() for name, t in tensors.items()}
    loss, more = f(**tensors)
    save(case, **tensors, **constants, **more, loss=loss, **gradients(loss, torch.ones(()), **tensors))


# ---- layers -----------------------------------------------------------------------------------------------

def dense():
    for name, activation in ACTIVATIONS.items():
        save_layer(f"dense_{name}", lambda x, weight, bias: activation(x @ weight + bias),
                   {"x": normal(7, 5), "weight": normal(5, 9), "bias": normal(9)})


def pools():
    n = torch.tensor([3, 1, 5])
    x = {"x": normal(9, 6)}
    save_layer("pool_mean", lambda x: tn.pool_mean(x, n), x, n=n)
    save_layer("pool_sum", lambda x: tn.pool_sum(x, n), x, n=n)
    save_layer("pool_mean_sum", lambda x: torch.cat([tn.pool_mean(x, n), tn.pool_sum(x, n)], -1), x, n=n)
    save_layer("pool_max", lambda x: tn.pool_max(x, n), x, n=n)
    save_layer("pool_attention", lambda x, s: tn.pool_attention(x, s, n), x | {"s": 2 * normal(9, 6)}, n=n)


def lstm_last(x, wx, wh, b, n):
    """The last hidden state of each series, by nn.LSTM's own function."""
    zero = x.new_zeros(1, 1, len(wh))
    weights = [wx.T, wh.T, b, torch.zeros_like(b)]
    return torch.cat([torch.lstm(series[None], (zero, zero), weights, True, 1, 0.0, False, False, True)[1][0]
                      for series in x.split(n.tolist())])


def lstm():
    n, channels, hidden = torch.tensor([4, 7, 1, 7]), 3, 5
    save_layer("lstm", lambda x, wx, wh, b: lstm_last(x, wx, wh, b, n),
               {"x": normal(int(n.sum()), channels), "wx": 0.6 * normal(channels, 4 * hidden),
                "wh": 0.6 * normal(hidden, 4 * hidden), "b": 0.5 * normal(4 * hidden)}, n=n)


def conv(x, weight, bias, n, stride):
    parts = [F.conv1d(series.T[None], weight.permute(2, 1, 0), bias, stride)[0].T for series in x.split(n.tolist())]
    return torch.cat(parts)


def convs():
    n, kernel = torch.tensor([11, 6]), 3
    for stride in (1, 3):
        save_layer(f"conv1d_stride{stride}", lambda x, weight, bias: conv(x, weight, bias, n, stride),
                   {"x": normal(17, 3), "weight": normal(kernel, 3, 4), "bias": normal(4)},
                   n=n, n_out=(n - kernel) // stride + 1, stride=stride)


def gaussian():
    tensors = {"mu": normal(6, 5), "log_var": normal(6, 5)}
    save_layer("gaussian_sample", lambda mu, log_var, eps: mu + (log_var / 2).exp() * eps,
               tensors | {"eps": normal(6, 5)})

    def kl(mu, log_var):
        rows = 0.5 * (log_var.exp() + mu**2 - 1 - log_var).sum(1)
        return rows.mean(), {"kl": rows}
    save_loss("gaussian_kl", kl, tensors)


# ---- losses -----------------------------------------------------------------------------------------------

def mmd():
    g, scales = normal(12, 5), torch.tensor([1.0, 2.0, 4.0, 8.0, 16.0])

    def kernel_mean(a, b):
        squared = ((a[:, None] - b[None]) ** 2).sum(-1)
        return torch.exp(-squared[..., None] / (2 * scales)).sum(-1).mean()

    def loss(z):
        return kernel_mean(z, z) + kernel_mean(g, g) - 2 * kernel_mean(z, g), {}
    save_loss("mmd", loss, {"z": 0.7 * normal(12, 5) + 0.4}, g=g, scales=scales)


def log_softmax():
    labels = torch.tensor([0, 3, 1, 2, 2, 0])

    def loss(logits):
        log_p = logits.log_softmax(1)
        return F.nll_loss(log_p, labels), {"log_p": log_p}
    save_loss("log_softmax", loss, {"logits": 3 * normal(6, 4)}, labels=labels)


def dirichlet_kl(a):
    """KL[Dir(a) || Dir(1)] per row."""
    a0, count = a.sum(1), torch.tensor(float(a.shape[1]))
    return (((a - 1) * (torch.digamma(a) - torch.digamma(a0)[:, None])).sum(1)
            + torch.lgamma(a0) - torch.lgamma(a).sum(1) - torch.lgamma(count))


def exact_dirichlet_gradient(alpha, label, weight):
    """d(loss of one row)/d(alpha) with 50 digits: PyTorch's trigamma is good to about 1e-8 only."""
    alpha = [mpmath.mpf(a) for a in alpha]
    rest = [mpmath.mpf(1) if j == label else a for j, a in enumerate(alpha)]
    excess = (sum(rest) - len(rest)) * mpmath.psi(1, sum(rest))
    kl = [0 if j == label else (a - 1) * mpmath.psi(1, a) - excess for j, a in enumerate(rest)]
    log = [1 / sum(alpha) - (1 / a if j == label else 0) for j, a in enumerate(alpha)]
    return [float(l + weight * k) for l, k in zip(log, kl)]


def dirichlet():
    links = {"exp": lambda f: 1 + f.exp(), "softplus": lambda f: 1 + F.softplus(f), "relu": lambda f: 1 + F.relu(f)}
    slopes = {"exp": torch.exp, "softplus": torch.sigmoid, "relu": lambda f: (f > 0).double()}
    labels, weight = torch.tensor([0, 1, 2, 3, 3, 2, 1, 0]), 0.3
    f = torch.linspace(-6, 12, 32)[torch.randperm(32)].reshape(8, 4).requires_grad_()
    true = F.one_hot(labels, 4).double()
    for name, link in links.items():
        alpha = link(f)
        log_part = -torch.log((alpha * true).sum(1) / alpha.sum(1))
        kl_part = dirichlet_kl(true + (1 - true) * alpha)
        loss = (log_part + weight * kl_part).mean()
        by_torch, = torch.autograd.grad(loss, [f], retain_graph=True)
        d_alpha = [exact_dirichlet_gradient(a, int(j), weight) for a, j in zip(alpha.tolist(), labels)]
        d_f = torch.tensor(d_alpha) * slopes[name](f) / len(f)
        torch.testing.assert_close(d_f, by_torch, rtol=1e-7, atol=1e-12)
        save(f"dirichlet_{name}", f=f, labels=labels, **{"lambda": weight}, alpha=alpha, log_part=log_part,
             kl_part=kl_part, loss=loss, d_f=d_f)


def special():
    x = np.unique(np.concatenate([np.logspace(0, 8, 29), [1.0, 1.25, 1.4616321449683622, 1.5, 2.0, 2.5, 3.0, 4.5, 5.999,
                                                          6.0, 8.0, 10.0, 12.5]]))
    def column(f):
        return [float(f(mpmath.mpf(float(v)))) for v in x]
    save("special", x=x, digamma=column(lambda v: mpmath.psi(0, v)), trigamma=column(lambda v: mpmath.psi(1, v)),
         lgamma=column(mpmath.loggamma))


def adam():
    steps = normal(6, 10) * torch.tensor([0.5, 4.0, 1.0, 8.0, 0.1, 3.0])[:, None]
    p = nn.Parameter(normal(10))
    optimiser = torch.optim.Adam([p], lr=1e-2)
    trajectory = [p.detach().clone()]
    for gradient in steps:
        p.grad = gradient.clone()
        nn.utils.clip_grad_norm_([p], 5.0)
        optimiser.step()
        trajectory.append(p.detach().clone())
    save("adam", gradients=steps, parameters=torch.stack(trajectory), lr=1e-2, clip_norm=5.0)


# ---- networks ---------------------------------------------------------------------------------------------

LOG_N = {"log_n_mean": 1.0, "log_n_scale": 0.5}


def save_network(case, network, n, **constants):
    """Save input, constants, parameters, summary, y, dy and the gradients of every parameter."""
    for name, p in network.named_parameters():
        if p.dim() == 1 and not name.endswith("bias_hh_l0"):
            nn.init.normal_(p, std=0.2)
    channels = len(network.input_mean)
    network.input_mean.copy_(0.3 * normal(channels))
    network.input_scale.copy_(0.5 + torch.rand(channels))
    x = normal(int(n.sum()), channels).float().double()  # the engine takes float input: no rounding of ours
    summary = network.summarise(network.pooled(x, n))
    y = network(x, n)
    dy = normal(*y.shape)
    (y * dy).sum().backward()
    save(case, x=x, n=n, input_mean=network.input_mean, input_scale=network.input_scale, **constants,
         **tn.engine_arrays(network), summary=summary, y=y, dy=dy,
         **{f"d_{name}": g for name, g in tn.engine_arrays(network, gradients=True).items()})


def set_networks():
    for pooling in ("mean", "sum", "mean_sum", "max", "attention"):
        log_n = pooling != "attention"
        constants = {"sum_scale": 0.25} | (LOG_N if log_n else {})
        network = tn.SetNetwork(2, (6, 2), (5, 2), (7, 2), 3, pooling, summary=4, log_n=log_n, **constants)
        save_network(f"set_{pooling}", network, torch.tensor([4, 1, 6]), **constants)


def sequence_networks():
    layers = [(4, 3, 1), (3, 2, 2)]
    for case, hidden, convs, pooling in (("both", 5, layers, "max"), ("lstm", 5, [], "max"), ("conv", 0, layers, "mean")):
        network = tn.SequenceNetwork(2, hidden, convs, pooling, (7, 2), 3, summary=4, log_n=True, **LOG_N)
        save_network(f"sequence_{case}", network, torch.tensor([9, 12, 7]), **LOG_N)


# ---- heads ------------------------------------------------------------------------------------------------

# What the streams (seed 1, purpose dropout, items 0 to 2) of the engine draw first; the test compares.
HEAD_EPS = [[-1.0922555084482755, 0.2513648506581897], [-1.1834201019966231, 0.1551552608920711],
            [1.1084361957653368, -0.043764395585753721]]
SCALES = (1.0, 2.0, 4.0, 8.0, 16.0)


def mmd_from_normal(z):
    """Unbiased: pairs of different rows, and expectations over N(0, I) for the rest."""
    count, dim = z.shape
    pairs = [(i, j) for i in range(count) for j in range(count) if i != j]
    squared = torch.stack([((z[i] - z[j]) ** 2).sum() for i, j in pairs])
    total = 0
    for s in SCALES:
        total = total + torch.exp(-squared / (2 * s)).mean() + (s / (s + 2)) ** (dim / 2)
        total = total - 2 * (s / (s + 1)) ** (dim / 2) * torch.exp(-(z**2).sum(1) / (2 * (s + 1))).mean()
    return total


def mmd_normal():
    save_loss("mmd_from_normal", lambda z: (mmd_from_normal(z), {}), {"z": 0.7 * normal(12, 5) + 0.4},
              scales=torch.tensor(SCALES))


def variational_heads():
    n, weight = torch.tensor([4, 1, 6]), 0.7
    for case in ("vae", "mmd_vae"):
        network = tn.SetNetwork(2, (6, 2), (5, 2), (7, 2), 3, "mean", summary=4, log_n=True, **LOG_N)
        network.add_stack("encoder", 4, 8, 2)
        network.latent = nn.Linear(8, 4)
        network.head = nn.Linear(2, 3)
        for name, p in network.named_parameters():
            if p.dim() == 1:
                nn.init.normal_(p, std=0.2)
        network.input_mean.copy_(0.3 * normal(2))
        network.input_scale.copy_(0.5 + torch.rand(2))
        x = normal(int(n.sum()), 2).float().double()
        eps = torch.tensor(HEAD_EPS)
        summary = network.summarise(network.pooled(x, n))
        mu, log_var = network.latent(network.run_stack("encoder", summary)).split(2, 1)
        z = mu + (log_var / 2).exp() * eps
        if case == "vae":
            penalty = weight * 0.5 * (log_var.exp() + mu**2 - 1 - log_var).sum(1)
        else:
            penalty = (weight * mmd_from_normal(z)).expand(3)
        y = network.head(z)
        dy = normal(*y.shape)
        ((y * dy).sum() + penalty.sum()).backward()
        save(f"head_{case}", x=x, n=n, input_mean=network.input_mean, input_scale=network.input_scale, **LOG_N,
             weight=weight, eps=eps, **tn.engine_arrays(network), summary=summary, z=z, y=y,
             y_mean=network.head(mu), penalty=penalty, dy=dy,
             **{f"d_{name}": g for name, g in tn.engine_arrays(network, gradients=True).items()})


def main():
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    mpmath.mp.dps = 50
    for seed, group in enumerate([dense, pools, lstm, convs, gaussian, mmd, log_softmax, dirichlet, special, adam,
                                  set_networks, sequence_networks, mmd_normal, variational_heads]):
        torch.manual_seed(seed)
        group()


if __name__ == "__main__":
    main()

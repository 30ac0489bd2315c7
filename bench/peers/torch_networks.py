"""The set and sequence networks in PyTorch.

Used twice: to write reference values for the tests of the C++ engine (ragged input: observations of all
data sets concatenated to x (sum N, D) beside n (B,)) and as a peer in the benchmark (equal sizes: x (B, N, D),
n None). Parameters carry the engine's names; `engine_arrays` gives them in the engine's shapes.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F


# ---- pooling over the observations of each data set -------------------------------------------------------

def per_set(f, n, *xs):
    """Apply f(*parts, dim) to each data set; (sum N, F) or (B, N, F) -> (B, F)."""
    if n is None:
        return f(*xs, 1)
    parts = zip(*(x.split(n.tolist()) for x in xs))
    return torch.stack([f(*p, 0) for p in parts])


def pool_mean(x, n=None):
    return per_set(lambda p, dim: p.mean(dim), n, x)


def pool_sum(x, n=None):
    return per_set(lambda p, dim: p.sum(dim), n, x)


def pool_max(x, n=None):
    return per_set(lambda p, dim: p.amax(dim), n, x)


def pool_attention(x, scores, n=None):
    """Softmax of the scores over the observations, separately for each feature; weighted sum of x."""
    return per_set(lambda p, s, dim: (p * s.softmax(dim)).sum(dim), n, x, scores)


def spread(v, x, n=None):
    """Give the per-set vector v (B, F) to every observation of x."""
    if n is None:
        return v[:, None, :].expand(-1, x.shape[1], -1)
    return v.repeat_interleave(n, 0)


def append_log_n(v, x, n, mean, scale):
    """Append the column (log N - mean) / scale to v (B, F)."""
    if n is None:
        column = v.new_full((len(v), 1), math.log(x.shape[1]))
    else:
        column = n.to(v.dtype).log()[:, None]
    return torch.cat([v, (column - mean) / scale], -1)


# ---- stacks of dense layers -------------------------------------------------------------------------------

class Network(nn.Module):
    """A module whose stacks of ELU layers are children named prefix0, prefix1, …"""

    def add_stack(self, prefix, width_in, width, count):
        for i in range(count):
            self.add_module(f"{prefix}{i}", nn.Linear(width_in if i == 0 else width, width))

    def run_stack(self, prefix, x, first=0):
        i = first
        while hasattr(self, f"{prefix}{i}"):
            x = F.elu(getattr(self, f"{prefix}{i}")(x))
            i += 1
        return x


class Invariant(Network):
    """Embed each observation, pool, transform: (…, width_in) -> (B, width)."""

    def __init__(self, width_in, width, count, pooling, log_n=False, sum_scale=1.0, log_n_mean=0.0, log_n_scale=1.0):
        super().__init__()
        self.pooling, self.log_n, self.sum_scale = pooling, log_n, sum_scale
        self.log_n_mean, self.log_n_scale = log_n_mean, log_n_scale
        self.add_stack("embed", width_in, width, count)
        if pooling == "attention":
            self.add_stack("score", width_in, width, count)
            self.score_out = nn.Linear(width, width)
        pooled = (2 if pooling == "mean_sum" else 1) * width + (1 if log_n else 0)
        self.add_stack("after", pooled, width, count)

    def pool(self, x, e, n):
        if self.pooling == "attention":
            return pool_attention(e, self.score_out(self.run_stack("score", x)), n)
        if self.pooling == "mean":
            return pool_mean(e, n)
        if self.pooling == "max":
            return pool_max(e, n)
        if self.pooling == "sum":
            return self.sum_scale * pool_sum(e, n)
        if self.pooling == "mean_sum":
            return torch.cat([pool_mean(e, n), self.sum_scale * pool_sum(e, n)], -1)
        raise ValueError(f"unknown pooling '{self.pooling}'")

    def forward(self, x, n=None):
        v = self.pool(x, self.run_stack("embed", x), n)
        if self.log_n:
            v = append_log_n(v, x, n, self.log_n_mean, self.log_n_scale)
        return self.run_stack("after", v)


class Equivariant(Invariant):
    """Each observation beside an invariant summary of its set, through dense layers.

    With split, the first layer multiplies observation and summary separately, the summary once per set instead
    of once per observation; the same function with fewer operations (equal sizes only).
    """

    def __init__(self, width_in, inv, equiv, pooling, split=False, **options):
        super().__init__(width_in, *inv, pooling, **options)
        self.split = split
        self.add_stack("dense", width_in + inv[0], *equiv)

    def first_layer(self, x, s):
        weight_x, weight_s = self.dense0.weight.split([x.shape[-1], s.shape[-1]], dim=1)
        return F.elu(F.linear(x, weight_x) + F.linear(s, weight_s, self.dense0.bias)[:, None, :])

    def forward(self, x, n=None):
        s = super().forward(x, n)
        if self.split and n is None:
            return self.run_stack("dense", self.first_layer(x, s), first=1)
        return self.run_stack("dense", torch.cat([x, spread(s, x, n)], -1))


# ---- networks ---------------------------------------------------------------------------------------------

class WithHead(Network):
    """What both networks share: input standardisation, post layers, an optional linear summary, a linear head."""

    def add_ends(self, channels, width, post, summary, outputs):
        self.register_buffer("input_mean", torch.zeros(channels))
        self.register_buffer("input_scale", torch.ones(channels))
        self.add_stack("post", width, *post)
        if summary:
            self.summary = nn.Linear(post[0], summary)
        self.head = nn.Linear(summary or post[0], outputs)

    def standardise(self, x):
        return (x - self.input_mean) / self.input_scale

    def summarise(self, v):
        v = self.run_stack("post", v)
        return self.summary(v) if hasattr(self, "summary") else v

    def forward(self, x, n=None):
        return self.head(self.summarise(self.pooled(x, n)))


class SetNetwork(WithHead):
    """The deep invariant network; inv, equiv, post are (width, number of layers)."""

    def __init__(self, channels, inv, equiv, post, outputs, pooling, summary=0, split=False, **options):
        super().__init__()
        self.equivariant0 = Equivariant(channels, inv, equiv, pooling, split, **options)
        self.equivariant1 = Equivariant(equiv[0], inv, equiv, pooling, split, **options)
        self.invariant = Invariant(equiv[0], *inv, pooling, **options)
        self.add_ends(channels, inv[0], post, summary, outputs)

    def pooled(self, x, n=None):
        x = self.standardise(x)
        x = self.equivariant0(x, n)
        x = self.equivariant1(x, n)
        return self.invariant(x, n)


class SequenceNetwork(WithHead):
    """LSTM (hidden, 0: none) beside Conv1D layers ((filters, kernel, stride), …; empty: none) pooled over time."""

    def __init__(self, channels, hidden, convs, time_pooling, post, outputs, summary=0, log_n=False,
                 log_n_mean=0.0, log_n_scale=1.0, onednn_lstm=True):
        super().__init__()
        self.hidden, self.time_pooling, self.log_n = hidden, time_pooling, log_n
        self.onednn_lstm = onednn_lstm  # which of PyTorch's two implementations runs nn.LSTM
        self.log_n_mean, self.log_n_scale = log_n_mean, log_n_scale
        if hidden:
            self.lstm = nn.LSTM(channels, hidden, batch_first=True)
            nn.init.zeros_(self.lstm.bias_hh_l0)  # the engine has one bias
        width = channels
        for i, (filters, kernel, stride) in enumerate(convs):
            self.add_module(f"conv{i}", nn.Conv1d(width, filters, kernel, stride))
            width = filters
        self.convs = len(convs)
        self.add_ends(channels, hidden + (width if convs else 0) + (1 if log_n else 0), post, summary, outputs)

    def convolve(self, x):
        x = x.transpose(1, 2)
        for i in range(self.convs):
            x = F.elu(getattr(self, f"conv{i}")(x))
        return x.amax(2) if self.time_pooling == "max" else x.mean(2)

    def recur(self, x):
        if self.onednn_lstm:
            return self.lstm(x)[1][0][-1]
        with torch.backends.mkldnn.flags(enabled=False):
            return self.lstm(x)[1][0][-1]

    def branches(self, x):
        """x (B, N, D) -> (B, width)"""
        parts = []
        if self.hidden:
            parts.append(self.recur(x))
        if self.convs:
            parts.append(self.convolve(x))
        return torch.cat(parts, -1)

    def pooled(self, x, n=None):
        x = self.standardise(x)
        if n is None:
            v = self.branches(x)
        else:
            v = torch.cat([self.branches(series[None]) for series in x.split(n.tolist())])
        if self.log_n:
            v = append_log_n(v, x, n, self.log_n_mean, self.log_n_scale)
        return v


# ---- losses -----------------------------------------------------------------------------------------------

def log_loss_exp(f, labels):
    """Mean of -log(alpha_true / alpha_0) for alpha = 1 + exp(f), in log space."""
    return F.cross_entropy(F.softplus(f), labels)


# ---- the engine's names and shapes ------------------------------------------------------------------------

def engine_arrays(network, gradients=False):
    """Parameters (or their gradients) as numpy arrays: dense (in, out), conv (kernel, in, out), lstm wx, wh, b."""
    arrays = {}
    for name, p in network.named_parameters():
        value = p.grad if gradients else p.detach()
        path, leaf = name.rsplit(".", 1)
        if leaf == "bias_hh_l0":
            continue  # zero; its gradient equals that of bias_ih_l0
        leaf = {"weight_ih_l0": "wx", "weight_hh_l0": "wh", "bias_ih_l0": "b"}.get(leaf, leaf)
        value = value.permute(*reversed(range(value.dim())))  # (out, in) -> (in, out); (out, in, k) -> (k, in, out)
        arrays[f"{path}.{leaf}"] = value.contiguous().numpy()
    return arrays

"""Times the benchmark's training steps (or forward passes) in PyTorch, eager and compiled.

A step: forward, logarithmic loss of the Dirichlet mean with alpha = 1 + exp(f), backward, clipping to global norm 5, Adam.
Several equivalent formulations are timed, since which is fastest depends on the machine; compare with the best:
+split       set networks: the summary enters the equivariant layer once per set, not once per observation
+native      sequence network: PyTorch's own LSTM instead of oneDNN's
+one_thread  sequence network: one thread though more were granted, as the LSTM's products are small
"""
import os
import sys

from timing import measure, parse_arguments, report, use_cores

ARGUMENTS = parse_arguments(__doc__.splitlines()[0])
use_cores(ARGUMENTS.threads)
os.environ.setdefault("OMP_PROC_BIND", "true")  # two OpenMP threads on one core would wait for each other

import torch  # noqa: E402  (after cores and thread binding are chosen)
from torch import nn  # noqa: E402

from cases import CASES, CLIP_NORM, LEARNING_RATE, random_batch  # noqa: E402
from torch_networks import SequenceNetwork, SetNetwork, log_loss_exp  # noqa: E402


def variants(case):
    """(mode, options) to time; options are the suffixes explained above."""
    if case["kind"] == "set":
        options = [(), ("split",)]
    else:
        options = [(), ("native",)]
        if ARGUMENTS.threads > 1:
            options += [("one_thread",), ("native", "one_thread")]
    return [(mode, o) for mode in ("eager", "compile") for o in options]


def make_network(case, options):
    if case["kind"] == "set":
        return SetNetwork(case["D"], case["inv"], case["equiv"], case["post"], case["J"], ARGUMENTS.pooling,
                          split="split" in options)
    return SequenceNetwork(case["D"], case["hidden"], case["convs"], "max", case["post"], case["J"],
                           onednn_lstm="native" not in options)


def training_step(loss_of, network, x, labels):
    """A function that does one complete step."""
    parameters = list(network.parameters())
    optimiser = torch.optim.Adam(parameters, lr=LEARNING_RATE, fused=True)

    def step():
        optimiser.zero_grad(set_to_none=True)
        loss = loss_of(x, labels)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, CLIP_NORM)
        optimiser.step()
        return loss.detach()
    return step


def make_step(case, mode, options):
    x, labels = (torch.from_numpy(array) for array in random_batch(case))
    torch.manual_seed(0)
    torch._dynamo.reset()
    network = make_network(case, options)

    def loss_of(x, labels):
        return log_loss_exp(network(x), labels)

    forward = network
    if mode == "compile" and case["kind"] == "set":
        forward, loss_of = torch.compile(network), torch.compile(loss_of)
    elif mode == "compile":  # nn.LSTM cannot be compiled well: unrolled, or a graph break
        network.convolve = torch.compile(network.convolve)

    @torch.inference_mode()
    def infer():
        forward(x)
    return infer if ARGUMENTS.inference else training_step(loss_of, network, x, labels)


def main():
    for name in ARGUMENTS.only:
        for mode, options in variants(CASES[name]):
            torch.set_num_threads(1 if "one_thread" in options else ARGUMENTS.threads)
            variant = "+".join((mode, *options))
            try:
                measured = measure(make_step(CASES[name], mode, options), ARGUMENTS.seconds)
            except Exception as error:  # no C++ compiler, say: report it and go on
                print(f"torch {variant}, case {name}: {type(error).__name__}: {error}"[:2000], file=sys.stderr)
                continue
            report(ARGUMENTS, name, measured, peer="torch", variant=variant, version=torch.__version__)


if __name__ == "__main__":
    main()

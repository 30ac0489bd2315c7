"""Times the benchmark's training steps in PyTorch on a GPU, each as one CUDA graph.

A step: forward, logarithmic loss of the Dirichlet mean with alpha = 1 + exp(f), backward, clipping to global norm 5, Adam.
The data stay on the GPU. Several equivalent formulations are timed; compare with the best:
tf32 | bf16  products in TF32, or forward and backward in bfloat16 where autocast knows how
+split       set networks: the summary enters the equivariant layer once per set, not once per observation
+compile     torch.compile before the graph is taken; of sequence networks the convolutions only
"""
import sys

from timing import STEPS_IN_A_ROW, measure, parse_arguments, report

ARGUMENTS = parse_arguments(__doc__.splitlines()[0])
ARGUMENTS.device = "cuda"

import torch  # noqa: E402
from torch import nn  # noqa: E402

from cases import CASES, CLIP_NORM, LEARNING_RATE, random_batch  # noqa: E402
from torch_networks import SequenceNetwork, SetNetwork, log_loss_exp  # noqa: E402


def variants(case):
    splits = [(), ("split",)] if case["kind"] == "set" else [()]
    return [(precision, *split, *compiled) for precision in ("tf32", "bf16") for split in splits
            for compiled in ((), ("compile",))]


def make_network(case, options):
    if case["kind"] == "set":
        return SetNetwork(case["D"], case["inv"], case["equiv"], case["post"], case["J"], ARGUMENTS.pooling,
                          split="split" in options).cuda()
    return SequenceNetwork(case["D"], case["hidden"], case["convs"], "max", case["post"], case["J"],
                           onednn_lstm=True).cuda()


def training_step(case, options):
    x, labels = (torch.from_numpy(array).cuda() for array in random_batch(case))
    torch.manual_seed(0)
    torch._dynamo.reset()
    network = make_network(case, options)
    forward = network
    if "compile" in options and case["kind"] == "set":
        forward = torch.compile(network)
    elif "compile" in options:
        network.convolve = torch.compile(network.convolve)
    parameters = list(network.parameters())
    optimiser = torch.optim.Adam(parameters, lr=LEARNING_RATE, fused=True, capturable=True)

    def step():
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled="bf16" in options):
            outputs = forward(x)
        loss = log_loss_exp(outputs.float(), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, CLIP_NORM, foreach=True)
        optimiser.step()
        return loss
    return step


def as_graph(step):
    """A function that makes many steps by replaying the graph of one, and waits for the last."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(5):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()

    def steps():
        for _ in range(STEPS_IN_A_ROW):
            graph.replay()
        torch.cuda.synchronize()
    return steps


def main():
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.allow_tf32 = True
    for name in ARGUMENTS.only:
        for options in variants(CASES[name]):
            variant = "+".join(("graph", *options))
            try:
                steps = as_graph(training_step(CASES[name], options))
                measured = measure(steps, ARGUMENTS.seconds, steps=STEPS_IN_A_ROW)
            except Exception as error:  # an operation that graphs do not know, say: report it and go on
                print(f"torch {variant}, case {name}: {type(error).__name__}: {error}"[:500], file=sys.stderr)
                continue
            report(ARGUMENTS, name, measured, peer="torch", variant=variant, version=torch.__version__)


if __name__ == "__main__":
    main()

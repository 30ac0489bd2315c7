"""occam and BayesFlow on the same Python simulators of coins: how long until the answers are right?

    PYTHONPATH=... KERAS_BACKEND=torch python bench/bayesflow_peer.py [NATS [MINUTES]]

needs bayesflow (2.0) and one of its backends beside occam. One core, both in this process, one after the other. Each is
trained until the mean Kullback-Leibler divergence of its answers from the exact posterior, over 2,000 data sets that
neither has seen, is below NATS (.0027), or for MINUTES (10) of wall time at most. Times are those of training alone, wall
and CPU: tests of the answers, imports and making the networks do not count; compiling does.

BayesFlow has what its guides have: a summary network (DeepSet) and a classifier (MLP), simulators that make whole batches
of one size, batches of 64, and its own defaults for the rest. occam has its defaults.
"""

import math
import os
import sys
import time

os.environ.setdefault("KERAS_BACKEND", "torch")
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import numpy as np

import occam

NATS = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0027
MINUTES = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
LARGEST = 100
PRIORS = {"flat": 1, "fair": 30}


def log_beta(a, b):
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def exact(heads, n):
    """Posterior probability of the first model."""
    log = [log_beta(a + heads, a + n - heads) - log_beta(a, a) for a in PRIORS.values()]
    return 1 / (1 + math.exp(log[1] - log[0]))


def test_data(count=2000, seed=12345):
    rng = np.random.default_rng(seed)
    data = []
    for _ in range(count):
        a = list(PRIORS.values())[rng.integers(2)]
        data.append((rng.random(rng.integers(1, LARGEST + 1)) < rng.beta(a, a)).astype(float))
    return data, np.array([exact(one.sum(), len(one)) for one in data])


def divergence(p, q):
    """Mean KL from the exact p of the answers q, both of the first model."""
    q = np.clip(q, 1e-12, 1 - 1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.mean(np.nan_to_num(p * np.log(p / q)) + np.nan_to_num((1 - p) * np.log((1 - p) / (1 - q)))))


class Clock:
    """Wall and CPU time of what is done within."""

    def __init__(self):
        self.wall = self.cpu = 0.0

    def __enter__(self):
        self.start = time.perf_counter(), time.process_time()

    def __exit__(self, *_):
        self.wall += time.perf_counter() - self.start[0]
        self.cpu += time.process_time() - self.start[1]


def train_occam(data, p):
    """Runs of so many steps until one is near enough: its time is that of the whole run."""

    def coins(theta, n, rng):
        return rng.random((len(n), n.max())) < theta[:, None]

    models = {name: occam.Model(coins, vectorized=True, theta=occam.beta(a, a)) for name, a in PRIORS.items()}
    problem = occam.Problem(models, n=(1, LARGEST), columns=["x"])
    for steps in (250, 500, 1000, 2000, 4000, 8000, 16000):
        clock = Clock()
        with clock:
            net = occam.train(problem, iterations=steps, threads=1, scope_reference=0, progress=False)
        kl = divergence(p, net.predict_proba(data)[:, 0])
        print(f"occam      {steps:>7} steps  {clock.wall:8.1f} s  {clock.cpu:8.1f} s CPU  {kl:.5f} nats", flush=True)
        if kl <= NATS or clock.wall > 60 * MINUTES:
            return clock, kl <= NATS


def train_bayesflow(data, p):
    import bayesflow
    import keras

    def coins(a):
        def sample(batch_shape, n):
            theta = np.random.beta(a, a, size=batch_shape)
            return {"x": (np.random.random((*batch_shape, n)) < theta[:, None]).astype(np.float32)}

        return bayesflow.simulators.LambdaSimulator(sample, is_batched=True)

    simulator = bayesflow.simulators.ModelComparisonSimulator(
        [coins(a) for a in PRIORS.values()], shared_simulator=lambda batch_shape: {"n": np.random.randint(1, LARGEST + 1)})
    adapter = (bayesflow.Adapter().broadcast("n", to="x").sqrt("n").as_set("x")
               .rename("model_indices", "inference_variables").rename("n", "inference_conditions")
               .rename("x", "summary_variables"))
    approximator = bayesflow.approximators.ModelComparisonApproximator(
        num_models=2, classifier_network=bayesflow.networks.MLP(), summary_network=bayesflow.networks.DeepSet(),
        adapter=adapter)
    approximator.compile(optimizer=keras.optimizers.Adam(1e-3))
    clock, steps = Clock(), 0
    while True:
        with clock:
            approximator.fit(simulator=simulator, adapter=adapter, epochs=1, num_batches=500, batch_size=64, workers=1, verbose=0)
        steps += 500
        kl = divergence(p, bayesflow_answers(approximator, data))
        print(f"BayesFlow  {steps:>7} steps  {clock.wall:8.1f} s  {clock.cpu:8.1f} s CPU  {kl:.5f} nats", flush=True)
        if kl <= NATS or clock.wall > 60 * MINUTES:
            return clock, kl <= NATS


def bayesflow_answers(approximator, data):
    """Answers for data sets of all sizes, size by size."""
    answers = np.empty(len(data))
    sizes = np.array([len(one) for one in data])
    for n in np.unique(sizes):
        places = np.flatnonzero(sizes == n)
        x = np.stack([data[k] for k in places]).astype(np.float32)
        answers[places] = np.asarray(approximator.predict(conditions={"x": x, "n": int(n)}))[:, 0]
    return answers


def main():
    data, p = test_data()
    print(f"until {NATS} nats from exact, one core; NumPy {np.__version__}, occam {occam.__version__}", flush=True)
    ours, _ = train_occam(data, p)
    theirs, reached = train_bayesflow(data, p)
    import bayesflow

    print(f"BayesFlow {bayesflow.__version__} with {os.environ['KERAS_BACKEND']}: {'' if reached else 'more than '}{theirs.wall / ours.wall:.0f} times the wall "
          f"time, {theirs.cpu / ours.cpu:.0f} times the CPU time of occam")


main()

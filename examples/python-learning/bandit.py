"""Three models of learning in a two-armed bandit, many data sets at once.

Option 0 pays with probability .75 and option 1 with .25; every 30 trials the two are exchanged. A function gets the
parameters of B data sets as arrays (B), the numbers of trials n (B) and a NumPy generator, and returns an array
(B, longest n, 2) of choice and reward; occam takes the first n[b] rows of data set b.
"""

import numpy as np
from occam_simulator import serve

REVERSAL = 30
PAYS = np.array([[0.75, 0.25], [0.25, 0.75]])  # (phase, option)


def play(choose, learn, sets, trials, rng):
    """Runs all data sets trial by trial: choose() gives the probability of option 1, learn() sees what came of it."""
    rows = np.empty((sets, trials, 2), dtype=np.float32)
    for t in range(trials):
        choice = (rng.random(sets) < choose()).astype(int)
        reward = (rng.random(sets) < PAYS[t // REVERSAL % 2][choice]).astype(int)
        learn(choice, reward)
        rows[:, t, 0] = choice
        rows[:, t, 1] = reward
    return rows


def delta_rule(alpha_gain, alpha_loss, beta, n, rng):
    sets = len(n)
    value = np.full((sets, 2), 0.5)
    everyone = np.arange(sets)

    def choose():
        return 1 / (1 + np.exp(-beta * (value[:, 1] - value[:, 0])))

    def learn(choice, reward):
        error = reward - value[everyone, choice]
        value[everyone, choice] += np.where(error > 0, alpha_gain, alpha_loss) * error

    return play(choose, learn, sets, n.max(), rng)


def rescorla_wagner(alpha, beta, n, rng):
    return delta_rule(alpha, alpha, beta, n, rng)


def win_stay_lose_shift(stay_after_win, shift_after_loss, n, rng):
    sets = len(n)
    state = {"one": np.full(sets, 0.5)}  # probability of option 1

    def learn(choice, reward):
        again = np.where(reward == 1, stay_after_win, 1 - shift_after_loss)
        state["one"] = np.where(choice == 1, again, 1 - again)

    return play(lambda: state["one"], learn, sets, n.max(), rng)


serve(
    {"rescorla_wagner": rescorla_wagner, "dual_rates": delta_rule, "win_stay_lose_shift": win_stay_lose_shift},
    vectorized=True,
)

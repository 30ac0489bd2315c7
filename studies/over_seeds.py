#!/usr/bin/env python3
"""What a study shows whatever the seed: its figures over several runs, beside the published ones.

    for seed in 1 2 3 4 5; do occam reproduce neuron --scale full --seed $seed -o out/$seed; done
    studies/over_seeds.py out/* > over_seeds.md

Each folder is one run of the same study. Prints a table: published figure, ours as mean and standard deviation over the
runs, smallest and largest. Runs of different studies, scales or programs, or a seed that comes twice, are refused.
"""
import csv
import json
import pathlib
import statistics
import sys
import textwrap


def read(folder):
    metrics = json.loads((folder / "metrics.json").read_text())
    with (folder / "published.csv").open(newline="") as file:
        rows = {row["figure"]: row for row in csv.DictReader(file)}
    return metrics["provenance"], rows


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def shown(value):
    return "" if value is None else f"{value:.4g}"


def line(figure, runs):
    ours = [value for value in (number(rows[figure]["ours"]) for _, rows in runs) if value is not None]
    if not ours:
        return None
    spread = statistics.stdev(ours) if len(ours) > 1 else None
    cells = [figure, shown(number(runs[0][1][figure]["published"])), shown(statistics.mean(ours)), shown(spread),
             shown(min(ours)), shown(max(ours)), str(len(ours))]
    return "| " + " | ".join(cells) + " |"


def same(runs, key):
    values = {provenance[key] for provenance, _ in runs}
    if len(values) > 1:
        sys.exit(f"the runs differ in '{key}': {', '.join(sorted(values))}")
    return values.pop()


def main():
    folders = [pathlib.Path(name) for name in sys.argv[1:]]
    if not folders:
        sys.exit(__doc__)
    runs = [read(folder) for folder in folders]
    study, scale, program, machine = (same(runs, key) for key in ("study", "scale", "program", "machine"))
    seeds = [provenance["seed"] for provenance, _ in runs]
    if len(set(seeds)) < len(seeds):
        sys.exit(f"a seed comes twice: {', '.join(seeds)}")
    of = f"`occam reproduce {study} --scale {scale}`, seeds {', '.join(sorted(seeds, key=int))}; {program}; {machine}"
    print("\n".join(textwrap.wrap(of, 120)) + "\n")
    print("| figure | published | ours, mean | sd | least | most | runs |\n|---|---|---|---|---|---|---|")
    for figure in runs[0][1]:
        if all(figure in rows for _, rows in runs) and (text := line(figure, runs)):
            print(text)


if __name__ == "__main__":
    main()

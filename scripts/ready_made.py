#!/usr/bin/env python3
"""Records of ready-made networks, and the table of them: what scripts/ready-made.sh writes beside the networks.

    ready_made.py record --problem P --info FILE --metrics FILE ... --output NAME.json
    ready_made.py table FOLDER
"""

import argparse
import json
import pathlib

# What a record keeps of a check: (finding, metric) by the name it has in the record.
KEPT = {
    "accuracy": ("accuracy", "accuracy"),
    "log_loss": ("scores", "log_loss"),
    "calibration_error": ("calibration", "ece_top"),
    "calibration_error_by_chance": ("calibration", "ece_top_expected"),
    "kl_from_exact": ("exact", "kl"),
    "missed_at_least": ("missed", "missed_bound"),
    "missed_estimate": ("missed", "missed_estimate"),
}

INTRODUCTION = """\
# Ready-made networks

Trained before, so that nothing has to be trained to use them: `occam compare NAME DATA` asks the network for the
built-in problem NAME. [docs/ready-made.md](../docs/ready-made.md) says what they assume and when not to use them.
`NAME.json` is the record of how each was made, `NAME.txt` what `occam check` said of it on fresh simulations. All is
written by `scripts/ready-made.sh`; do not edit. Most of the 2 to 4 MB of a file are its scope reference, not weights:
what 15,000 simulated data sets look like, against which observed ones are held.

Accuracy, log-loss [nats] and calibration error (top label, in brackets what chance gives) are means over the problem's
own sizes of data sets; KL is the distance from the exact posterior, where it is known; "missed" is the evidence that a
second learner found and the network did not use (estimate, and at least) [nats].

"""


def metric(metrics, finding, name):
    value = metrics["findings"].get(finding, {}).get(name)
    return None if value is None else value["value"]


def verdict_of(text):
    """The verdict of a check, without the sentence on false alarms."""
    lines = [line for line in text.splitlines() if line.startswith("Verdict: ")]
    return lines[-1][len("Verdict: "):].split(" (Faultless")[0].rstrip(".")


def write_record(given):
    info = json.loads(pathlib.Path(given.info).read_text())
    metrics = json.loads(pathlib.Path(given.metrics).read_text())
    made = info["record"]
    record = {
        "problem": given.problem,
        "network": pathlib.Path(given.output).stem + ".occam",
        "fingerprint": info["fingerprint"],
        "command": given.command,
        "seed": made["seed"],
        "program": given.program,
        "machine": given.machine + (f", {given.gpu}" if given.gpu else ""),
        "steps": made["steps"],
        "data_sets": made["data_sets"],
        "seconds": int(given.seconds) if given.seconds else None,
        "validation_loss": made["validation_loss"],
        "check_command": given.check,
        "verdict": verdict_of(pathlib.Path(given.text).read_text()),
        "judgements": [one for one in metrics["judgements"] if one["severity"] != "fine"],
        "check": {name: metric(metrics, *where) for name, where in KEPT.items() if metric(metrics, *where) is not None},
    }
    text = json.dumps(record, indent=2, ensure_ascii=False)
    pathlib.Path(given.output).write_text(text + "\n")


def number(value, digits):
    return "" if value is None else f"{value:.{digits}f}"


def row(record):
    check = record["check"]
    calibration = f"{number(check.get('calibration_error'), 4)} ({number(check.get('calibration_error_by_chance'), 4)})"
    missed = f"{number(check.get('missed_estimate'), 4)}, {number(check.get('missed_at_least'), 4)}"
    cells = [f"`{record['problem']}`", f"{record['steps']:,}", number(record["validation_loss"], 4),
             number(check.get("accuracy"), 4), number(check.get("log_loss"), 4), calibration,
             number(check.get("kl_from_exact"), 5), missed, record["verdict"]]
    return "| " + " | ".join(cells) + " |\n"


def write_table(given):
    folder = pathlib.Path(given.folder)
    records = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    text = INTRODUCTION
    text += "| problem | steps | validation loss | accuracy | log-loss | calibration error | KL | missed | verdict |\n"
    text += "|---|---|---|---|---|---|---|---|---|\n"
    text += "".join(row(record) for record in records)
    text += "\nHow they were made:\n"
    for record in records:
        seconds = f", in {record['seconds']} s" if record.get("seconds") else ""
        text += f"\n    {record['command']}\n    {record['check_command']}\n"
        text += f"    # {record['program']}{seconds}; {record['machine']}\n"
    (folder / "README.md").write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    record = verbs.add_parser("record")
    for option in ["problem", "info", "metrics", "text", "seconds", "program", "machine", "gpu", "command",
                   "check", "output"]:
        record.add_argument("--" + option, required=True)
    record.set_defaults(run=write_record)
    table = verbs.add_parser("table")
    table.add_argument("folder")
    table.set_defaults(run=write_table)
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()

"""The command: attacks one after the other, a table, and exit code 1 on a violation."""

from __future__ import annotations

import argparse
import os
import re
import sys

from .driver import run_attack, run_trial
from .trials import VIOLATIONS, Attack, Report

#: Seconds that a sample may take.
_SAMPLE_SECONDS = 30.0
#: Sorts of violations of an attack that are shown.
_SHOWN = 20


def main() -> None:
    """Attack, print what was found, and leave with the exit code for that."""
    options = _options()
    os.environ["DRMBENCH_OFFLINE"] = "1"
    os.environ.pop("DRMBENCH_MIRROR", None)
    from .attacks import ATTACKS

    chosen = [a for a in ATTACKS if options.only in (None, a.name)]
    print(f"seed {options.seed}", flush=True)
    total = _SAMPLE_SECONDS if options.sample else 60.0 * options.minutes
    reports, spare = [], 0.0
    for attack in chosen:
        allowed = spare + total * (attack.share if len(chosen) > 1 else 1.0)
        if options.trial is not None:
            report = run_trial(attack, seed=options.seed, number=options.trial)
        else:
            report = _run(attack, options, allowed)
        spare = allowed - report.seconds
        reports.append(report)
        print(f"{attack.name}: {report.units} {attack.unit}", file=sys.stderr)
    for line in table(reports):
        print(line)
    for report in reports:
        for number, kind, text in _different(report)[:_SHOWN]:
            name = report.attack.name
            print(f"\n{kind}: --only {name} --trial {number} --seed {options.seed}")
            print(text.rstrip())
    sys.exit(any(report.violations for report in reports))


def _different(report: Report) -> list[tuple[int, str, str]]:
    """Return one violation of each sort: the beginnings of their last lines differ."""
    found = {}
    for number, kind, text in report.violations:
        sort = re.sub(r"[\d'].*", "", text.rstrip().rpartition("\n")[2])
        found.setdefault((kind, sort), (number, kind, text))
    return list(found.values())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.faults", description=__doc__)
    parser.add_argument("--sample", action="store_true", help="half a minute of it")
    parser.add_argument("--seed", type=int, default=20261118)
    parser.add_argument("--only", metavar="ATTACK", help="only this kind of attack")
    parser.add_argument("--trial", type=int, help="only this one, with --only")
    parser.add_argument("--minutes", type=float, default=15.0, help="at most")
    parser.add_argument("--shards", type=int, default=2, help="processes side by side")
    options = parser.parse_args()
    if options.trial is not None and options.only is None:
        parser.error("--trial needs --only")
    return options


def _run(attack: Attack, options: argparse.Namespace, seconds: float) -> Report:
    return run_attack(
        attack,
        seed=options.seed,
        asked=attack.sample if options.sample else attack.full,
        seconds=seconds,
        shards=options.shards,
    )


def table(reports: list[Report]) -> list[str]:
    """Return the lines of the table: an attack each, and what happened below."""
    heads = ("attack", "made", "asked", "trials", "seconds", *VIOLATIONS)
    rows = [heads]
    for report in reports:
        found = [kind for _, kind, _ in report.violations]
        rows.append(
            (
                *(report.attack.name, f"{report.units:,} {report.attack.unit}"),
                *(f"{report.asked:,}", f"{report.trials:,}", f"{report.seconds:.0f}"),
                *(str(found.count(kind)) for kind in VIOLATIONS),
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            text.ljust(width) if place == 0 else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    for report in reports:
        said = ", ".join(f"{n:,} {what}" for what, n in sorted(report.outcomes.items()))
        lines.append(f"{report.attack.name}: {said}")
    return lines


if __name__ == "__main__":
    main()

"""Fit the paper's scaled models again and score them without the leak.

Usage: python tools/refit_test_scaling.py
       python tools/refit_test_scaling.py gene uci --reference results/reference

The paper's protocol divides the test part by the test part's own maxima. For every
stored row of that kind the selected model is fitted again, as the run did, and scored
on the test part scaled by its own maxima and by the training part's. Both figures go to
``test_scaling.csv`` beside the rows, from which ``drmbench tables`` shows what the leak
is worth. Rows that are in the file already are not computed again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from drmbench.errors import DrmbenchError, InputError
from drmbench.running.refit import refit_experiment
from drmbench.running.results import Results, load_results


def paper_experiments(reference: Path, names: Sequence[str]) -> dict[str, Results]:
    """Return the experiments that were run under the paper's protocol.

    Raises
    ------
    InputError
        If a name is not one of them, or there is none at all.
    """
    found = load_results(reference, names)
    kept = {name: r for name, r in found.items() if "paper" in r.modes}
    without = [name for name in names if name not in kept]
    if without or not kept:
        what = " and ".join(without) or "no experiment"
        verb = "were not" if len(without) > 1 else "was not" if without else "was"
        raise InputError(
            f"{reference}: {what} {verb} run in the scaling mode 'paper', so there is"
            " nothing to fit again"
        )
    return kept


def tell(line: str) -> None:
    """Print a line of progress."""
    print(line, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line and work on one experiment after the other."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT")
    parser.add_argument("--reference", type=Path, default=Path("results/reference"))
    options = parser.parse_args(arguments)
    try:
        experiments = paper_experiments(options.reference, options.experiments)
        for name, results in experiments.items():
            folder = options.reference / name
            print(f"{name}: {refit_experiment(results, folder, tell=tell)}", flush=True)
    except (DrmbenchError, OSError) as error:
        message = " ".join(str(error).split())
        print(f"refit_test_scaling: {message}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

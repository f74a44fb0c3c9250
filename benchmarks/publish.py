"""``mustlink.publish`` beside Mondrian and MDAV: time and information lost on the census table adult.

All three get the same columns; MDAV the same scaled features as ours. Asked: under 30 s, and less information lost than
both, by both measures: the part of the variance of the scaled quasi-identifiers that is within groups, and the mean
width of the published ranges (the normalized certainty penalty). Every table of ours is checked by our checker and,
from the file, by the package pycanon in an environment of its own.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks._apart import run_apart
from benchmarks._measure import run_main
from benchmarks._show import new_table, show

K, L = 10, 3
MAX_SECONDS = 30
TIME_LIMIT = 600
NUMERIC = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
CATEGORICAL = (["sex", "race"], ["marital-status", "workclass"])
SENSITIVE = "occupation"


def load_adult() -> Any:
    """Return the census table with the types of its columns."""
    import pandas as pd

    from mustlink.datasets import load

    adult = load("adult")
    frame = pd.DataFrame(adult.data, columns=adult.feature_names)
    return frame.astype({name: float for name in adult.feature_names if name not in adult.text_features})


def main() -> None:
    from mustlink.errors import DataNotFoundError

    try:
        frame = load_adult()
    except DataNotFoundError as error:
        print(f"Not run: {error}")
        return
    warm_up()
    for categorical in CATEGORICAL:
        compare(frame, [*NUMERIC, *categorical])


def warm_up() -> None:
    """Compile on a few rows, which is not measured."""
    import pandas as pd

    import mustlink

    few = pd.DataFrame({"x": range(60), "s": [0, 1, 2] * 20})
    mustlink.publish(few, quasi_identifiers=["x"], sensitive="s", k=3, l=2)


def compare(frame: Any, names: list[str]) -> None:
    """Print time and loss of the three, and what the two checkers find in our tables."""
    import pandas as pd

    import mustlink
    from benchmarks._anonymizers import mdav, mondrian
    from mustlink.sizes._publish._columns import make_column

    columns = [make_column(name, frame[name], ordered=False, decimal=".") for name in names]
    X = scaled_features(columns)
    codes = {name: frame[name] if name in NUMERIC else pd.factorize(frame[name], sort=True)[0] for name in names}
    ours = partial(mustlink.publish, frame, quasi_identifiers=names, sensitive=SENSITIVE, k=K)
    published: dict[str, Any] = {}
    contenders: dict[str, Callable[[], Any]] = {
        "mustlink.publish": lambda: _keep(published, "k", ours()),
        f"mustlink.publish, l = {L}": lambda: _keep(published, "k, l", ours(l=L)),
        "MDAV": lambda: mdav(X, K),
        "Mondrian": lambda: mondrian(codes, K),
    }
    title = (
        f"adult, {len(frame):,} rows, {', '.join(names)}; k = {K}; asked: under {MAX_SECONDS} s, less lost than both"
    )
    headings = ("seconds", "of the processor", "groups", "smallest", "variance lost", "mean width")
    table = new_table(title, "publisher", *headings)
    for name, work in contenders.items():
        clock, cores = time.perf_counter(), time.process_time()
        labels = work()
        clock, cores = time.perf_counter() - clock, time.process_time() - cores
        table.add_row(name, f"{clock:.1f}", f"{cores:.1f}", *(measured(labels, X, columns)))
    show(table, verified(published, names))


def _keep(published: dict[str, Any], name: str, result: Any) -> Any:
    """Keep a publication to check it later, and return the group of each row."""
    published[name] = result
    return result.groups


def scaled_features(columns: list[Any]) -> Any:
    """Return the features that ours groups by."""
    import numpy as np

    return np.hstack([column.features for column in columns])


def measured(labels: Any, X: Any, columns: list[Any]) -> list[str]:
    """Return the number of groups, the smallest, and the two measures of loss."""
    import numpy as np

    sizes = np.bincount(labels)
    sums = np.zeros((len(sizes), X.shape[1]))
    np.add.at(sums, labels, X)
    lost = ((X - (sums / sizes[:, None])[labels]) ** 2).sum() / (X**2).sum()
    width = np.mean([sizes @ column.widths(labels) / sizes.sum() for column in columns])
    return [f"{len(sizes):,}", str(sizes.min()), f"{lost:.4f}", f"{width:.4f}"]


def verified(published: dict[str, Any], names: list[str]) -> Any:
    """Return what our checker and pycanon find in the published files."""
    from mustlink.workflow import VerificationJob, run_verification

    table = new_table("The published files, read again", "table", "checker", "k", "l", n_names=2)
    with tempfile.TemporaryDirectory() as folder:
        for name, result in published.items():
            path = Path(folder, "published.csv")
            result.frame.to_csv(path, index=False)
            found = run_verification(VerificationJob(path, quasi_identifiers=names, sensitive=SENSITIVE, k=K, l=1))
            table.add_row(f"mustlink.publish ({name})", "ours", str(found.smallest), f"{found.least_diversity:g}")
            theirs = run_apart("pycanon", "publish", str(path), *names, time_limit=TIME_LIMIT)
            cells = (theirs["failed"], "") if "failed" in theirs else (str(theirs["k"]), str(theirs["l"]))
            table.add_row("", "pycanon", *cells)
    return table


def check_by_pycanon(path: str, *names: str) -> dict[str, Any]:
    """Return the k and the l that pycanon finds; runs in the environment of pycanon."""
    import pandas as pd
    from pycanon import anonymity

    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return {
        "k": int(anonymity.k_anonymity(frame, list(names))),
        "l": int(anonymity.l_diversity(frame, list(names), [SENSITIVE])),
    }


if __name__ == "__main__":
    run_main(main, check_by_pycanon)

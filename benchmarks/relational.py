"""Entity resolution of references: time and F1, growth with their number, and beside other packages.

Asked: the 2,892 references of CiteSeer under 5 s end to end, and 100,000 synthetic references under 5 minutes. Ours
runs with its defaults, and has the papers of the references, which the others do not take. The others have no defaults
for this: their blocking and comparisons are one plain choice of ours, not tuned, so that their F1 is no measure of what
they can reach. The names were parsed by ours, whose parsing was developed on CiteSeer. F1 is that of pairs.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks._apart import ONE_THREAD, run_apart
from benchmarks._measure import run_main
from benchmarks._show import new_table, show

GROWTH = (10_000, 30_000, 100_000)
PEERS = ("splink", "recordlinkage", "dedupe")
TIME_LIMIT = 180
MAX_SECONDS = {"CiteSeer": 5, "synthetic": 300}


def load_references(name: str) -> Any:
    """Return names, groups and entities of CiteSeer, or of so many synthetic references."""
    from sklearn.utils import Bunch

    from mustlink.datasets import load
    from mustlink.relational import make_references

    if name != "CiteSeer":
        return make_references(int(name), ambiguity=0.1, random_state=1)
    data = load("citeseer_refs")
    return Bunch(names=[row[2] for row in data.data], groups=[row[4] for row in data.data], target=data.target)


def resolve(name: str, method: str) -> dict[str, Any]:
    """Resolve references in this process, compiled before."""
    from benchmarks._measure import measure
    from mustlink.metrics import pairwise_f1
    from mustlink.relational import CollectiveRelationalClustering

    data = load_references(name)
    few = ["W. Wang", "A. Ansari", "W. W. Wang"]
    CollectiveRelationalClustering(method=method).fit(few, groups=[1, 1, 2])
    model = CollectiveRelationalClustering(method=method)
    seconds, megabytes, _ = measure(lambda: model.fit(data.names, groups=data.groups))
    n_pairs = model.candidates_ if isinstance(model.candidates_, int) else len(model.candidates_)
    return {
        "seconds": seconds,
        "megabytes": megabytes,
        "f1": pairwise_f1(data.target, model.labels_),
        "n_references": len(data.names),
        "n_pairs": n_pairs,
        "n_evaluations": model.n_similarity_evaluations_,
    }


def main() -> None:
    from mustlink.errors import DataNotFoundError

    try:
        load_references("CiteSeer")
        compare("CiteSeer")
    except DataNotFoundError as error:
        print(f"CiteSeer is not run: {error}")
    compare("10000")
    grow()


def compare(name: str) -> None:
    """Print time and F1 of ours and of the peers on the same references."""
    from mustlink.metrics import pairwise_f1

    data = load_references(name)
    limit = MAX_SECONDS.get(name, MAX_SECONDS["synthetic"])
    title = f"{name}, {len(data.names):,} references; asked: under {limit} s"
    table = new_table(title, "resolver", "seconds", "times ours", "F1 of pairs")
    ours = run_apart("ours", "relational", name, "cr", time_limit=TIME_LIMIT, variables=ONE_THREAD)
    table.add_row("mustlink, cr", f"{ours['seconds']:.2f}", "1.0", f"{ours['f1']:.4f}")
    names_only = run_apart("ours", "relational", name, "a*", time_limit=TIME_LIMIT, variables=ONE_THREAD)
    ratio = names_only["seconds"] / ours["seconds"]
    table.add_row(
        "mustlink, names only (a*)", f"{names_only['seconds']:.2f}", f"{ratio:.1f}", f"{names_only['f1']:.4f}"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "references.csv"
        write_parsed(data, file)
        for peer in PEERS:
            found = run_apart("resolution", "_resolvers", peer, str(file), time_limit=TIME_LIMIT, variables=ONE_THREAD)
            if "failed" in found:
                table.add_row(peer, found["failed"], "", "")
            else:
                f1, ratio = pairwise_f1(data.target, found["labels"]), found["seconds"] / ours["seconds"]
                table.add_row(peer, f"{found['seconds']:.2f}", f"{ratio:.1f}", f"{f1:.4f}")
    show(table)


def write_parsed(data: Any, file: Path) -> None:
    """Write last name, first names and first initial of each reference, parsed as ours are, with the entity."""
    import pandas as pd

    from mustlink.relational._records import normalize, split_name

    parts = [split_name(normalize(name)) for name in data.names]
    frame = pd.DataFrame(parts, columns=["last", "first"])
    frame["initial"] = frame["first"].str[:1]
    frame.insert(0, "row", range(len(frame)))
    frame["target"] = data.target
    frame.to_csv(file, index=False)


def grow() -> None:
    """Print time and memory for growing numbers of synthetic references."""
    title = f"synthetic references; asked: 100,000 under {MAX_SECONDS['synthetic']} s"
    headings = ("seconds", "s per 10,000", "MB", "candidate pairs", "similarities", "F1 of pairs")
    table = new_table(title, "references", *headings)
    for n_references in GROWTH:
        found = run_apart("ours", "relational", str(n_references), "cr", time_limit=TIME_LIMIT, variables=ONE_THREAD)
        if "failed" in found:
            table.add_row(f"{n_references:,}", found["failed"], *[""] * 5)
            continue
        per = found["seconds"] / found["n_references"] * 10_000
        counts = (f"{found['n_pairs']:,}", f"{found['n_evaluations']:,}")
        cells = (f"{found['seconds']:.1f}", f"{per:.2f}", f"{found['megabytes']:.0f}", *counts, f"{found['f1']:.4f}")
        table.add_row(f"{found['n_references']:,}", *cells)
    show(table)


if __name__ == "__main__":
    run_main(main, resolve)

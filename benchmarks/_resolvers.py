"""Entity resolution by splink, recordlinkage and dedupe; runs in their environment, without mustlink.

Each gets the last name and the first names of every reference, as parsed by ours, and no groups, which none of them
takes. splink and recordlinkage learn without labels; dedupe is trained on 300 pairs with the truth.
"""

from __future__ import annotations

import json
import logging
import random
import sys
import time
import warnings
from typing import Any

N_TRAINED = 300


def link_records(frame: Any) -> Any:
    """Resolve by recordlinkage: blocks of last names, expectation maximization, connected components."""
    import recordlinkage

    table = frame[["last", "first", "initial"]]
    index = recordlinkage.Index()
    index.block(["last"])
    index.add(recordlinkage.index.SortedNeighbourhood("last", window=5, block_on="initial"))
    pairs = index.index(table)
    compare = recordlinkage.Compare()
    compare.string("last", "last", method="jarowinkler", threshold=0.9)
    compare.string("first", "first", method="jarowinkler", threshold=0.85)
    compare.exact("initial", "initial")
    found = recordlinkage.ECMClassifier().fit_predict(compare.compute(pairs, table))
    return components(len(frame), list(found))


def splink_records(frame: Any) -> Any:
    """Resolve by splink, with its comparison of names, in DuckDB."""
    import splink.comparison_library as library
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    table = frame[["row", "last", "first", "initial"]].rename(columns={"row": "unique_id"})
    settings = SettingsCreator(
        link_type="dedupe_only",
        blocking_rules_to_generate_predictions=[block_on("last"), block_on("substr(last, 1, 3)", "initial")],
        comparisons=[library.JaroWinklerAtThresholds("last"), library.JaroWinklerAtThresholds("first")],
    )
    linker = make_linker(Linker, table, settings, DuckDBAPI)
    linker.training.estimate_probability_two_random_records_match([block_on("last", "first")], recall=0.6)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6)
    linker.training.estimate_parameters_using_expectation_maximisation(block_on("last"))
    linker.training.estimate_parameters_using_expectation_maximisation(block_on("first"))
    predictions = linker.inference.predict(threshold_match_probability=0.5)
    clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(predictions, 0.9)
    of_row = dict(clusters.as_pandas_dataframe()[["unique_id", "cluster_id"]].itertuples(index=False))
    return [str(of_row[row]) for row in frame["row"]]


def make_linker(linker: Any, table: Any, settings: Any, api: Any) -> Any:
    """Return a linker; version 5 wants the table registered first."""
    try:
        return linker(table, settings, api())
    except Exception:  # whatever the other version raises
        database = api()
        return linker(database.register(table), settings)


def dedupe_records(frame: Any) -> Any:
    """Resolve by dedupe, trained on pairs with the truth, half of them matches."""
    import dedupe

    data = {row: {"last": last, "first": first or None} for row, last, first in frame[["row", "last", "first"]].values}
    fields = [dedupe.variables.String("last"), dedupe.variables.String("first", has_missing=True)]
    model = dedupe.Dedupe(fields, num_cores=1)
    model.prepare_training(data, sample_size=3000)
    rng = random.Random(0)
    by_entity = frame.groupby("target")["row"].apply(list)
    several = [rows for rows in by_entity if len(rows) > 1]
    same = [tuple(rng.sample(rng.choice(several), 2)) for _ in range(N_TRAINED // 2)]
    target = dict(frame[["row", "target"]].values)
    near = sorted(data, key=lambda row: data[row]["last"])
    other: list[tuple[int, int]] = []
    while len(other) < N_TRAINED // 2:
        place = rng.randrange(len(near) - 10)
        one, two = near[place], near[place + rng.randrange(1, 10)]
        if target[one] != target[two]:
            other.append((one, two))
    model.mark_pairs(
        {"match": [(data[a], data[b]) for a, b in same], "distinct": [(data[a], data[b]) for a, b in other]}
    )
    model.train()
    labels = [0] * len(data)
    for number, (rows, _) in enumerate(model.partition(data, 0.5)):
        for row in rows:
            labels[row] = number
    return labels


def components(n_rows: int, pairs: list[tuple[int, int]]) -> list[int]:
    """Return the connected components of pairs."""
    parent = list(range(n_rows))

    def root(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    for one, other in pairs:
        parent[root(one)] = root(other)
    return [root(row) for row in range(n_rows)]


RESOLVERS = {"recordlinkage": link_records, "splink": splink_records, "dedupe": dedupe_records}


def main(name: str, file: str) -> None:
    """Resolve the references of a file, and print the labels and the seconds as JSON."""
    import pandas as pd

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    frame = pd.read_csv(file, keep_default_na=False)
    started = time.perf_counter()
    labels = RESOLVERS[name](frame)
    print(json.dumps({"seconds": time.perf_counter() - started, "labels": [str(label) for label in labels]}))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""A protocol of two data sets and three methods that takes no time."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

from mustlink.constraints import Constraints
from mustlink.reproduce._cell import Cell
from mustlink.reproduce._methods import Method, Outcome
from mustlink.reproduce._pictures import Look, curve_panels
from mustlink.reproduce._problem import DataSet, Problem
from mustlink.reproduce._protocol import Claim, Part, Picture, Protocol, Sizes, Verdict
from mustlink.reproduce._tables import score_table

matplotlib.use("Agg")

TITLES = {"iris": "Iris", "wine": "Wine"}


def truth(problem: Problem) -> Outcome:
    """Labels that are right."""
    return Outcome(problem.y, {"objective": [3.0, 2.0, 1.0]})


def chance(problem: Problem) -> Outcome:
    """Labels drawn at random from the seed of the cell."""
    return Outcome(np.random.RandomState(problem.seed).randint(problem.n_clusters, size=len(problem.y)))


def refusal(problem: Problem) -> Outcome:
    """A method that fails with many links."""
    if len(problem.links) > 10:
        raise RuntimeError("too many links")
    return Outcome(problem.y)


METHODS = (
    Method("truth", truth),
    Method("chance", chance),
    Method("refusal", refusal),
    Method("future", chance, "mustlink.boosting:NoSuchThing"),
)


def draw(y: np.ndarray, cell: Cell) -> Constraints:
    return Constraints.sample(y, n_pairs=int(cell.amount), random_state=cell.problem_seed)


def cells(sizes: Sizes) -> list[Cell]:
    return [
        Cell("toy", dataset, method.name, amount, trial)
        for dataset in sizes.datasets
        for trial in range(sizes.trials)
        for method in METHODS
        for amount in sizes.amounts
    ]


@pytest.fixture
def toy() -> Protocol:
    return Protocol(
        name="toy",
        title="A toy",
        source="Nobody, Nowhere.",
        intro="Three methods.",
        datasets=tuple(DataSet(name, title) for name, title in TITLES.items()),
        methods=METHODS,
        draw=draw,
        parts=(
            Part(
                "1",
                "Figure 1",
                cells,
                lambda results: [
                    score_table(
                        results,
                        "Toy scores",
                        "nmi",
                        datasets=TITLES,
                        methods=[method.name for method in METHODS],
                        missing=["future"],
                    )
                ],
                lambda results: [
                    Picture(
                        "figure1",
                        "Figure 1: a toy.",
                        lambda: curve_panels(
                            results,
                            "nmi",
                            TITLES,
                            {"truth": Look(0), "chance": Look(1, "--")},
                            axis_titles=("links", "NMI"),
                        ),
                    )
                ],
                (
                    Claim(
                        "T1",
                        "Truth is better than chance.",
                        lambda results: Verdict(
                            results.mean("nmi", method="truth") > results.mean("nmi", method="chance"), "It is."
                        ),
                    ),
                ),
            ),
            Part("2", "Figure 2", lambda sizes: cells(sizes)[:1]),
        ),
        quick=Sizes(("iris", "wine"), (5, 20), trials=2),
        full=Sizes(("iris", "wine"), (5, 20), trials=4),
    )

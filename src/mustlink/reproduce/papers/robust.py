"""The experiments of RobustBoostCluster, the default method of this library, with links of which some are wrong."""

from __future__ import annotations

from dataclasses import replace

from mustlink.reproduce.engine._problem import draw_pairs
from mustlink.reproduce.engine._protocol import Part, Protocol, RunPlan
from mustlink.reproduce.papers._robust_bases import (
    BASES_CLAIMS,
    FIXED_CLAIMS,
    base_runs,
    base_tables,
    fixed_runs,
    fixed_tables,
)
from mustlink.reproduce.papers._robust_columns import COLUMN_CLAIMS, column_figures, column_runs, column_tables
from mustlink.reproduce.papers._robust_error import ERROR_CLAIMS, error_figures, error_runs, error_tables
from mustlink.reproduce.papers._robust_few import CLAIMS_OF_FEW, few_runs, few_tables
from mustlink.reproduce.papers._robust_kmeans import KMEANS_CLAIMS, kmeans_figures, kmeans_runs, kmeans_tables
from mustlink.reproduce.papers._robust_methods import (
    AMOUNTS,
    KMEANS,
    METHODS,
    NAMES,
    NPU_ANSWERS,
    OTHER_BASES,
    PAPER,
    ROBUST,
    ROBUST_KMEANS,
    ROWS,
    SETS,
)

PLAN = RunPlan(NAMES, AMOUNTS, trials=5, rows=ROWS)
# A default fit takes a second or more: fewer trials.
QUICK_TRIALS = {KMEANS: 2, "columns": 2, "few": 3, "error": 2, NPU_ANSWERS: 1}
PROTOCOL = Protocol(
    name=PAPER,
    title="RobustBoostCluster: boosting with links of which some are wrong",
    source="Our own method; the reference figures are those of its prototype, on other draws of rows and links.",
    intro=(
        "Half of the links are must-links, half cannot-links; a fraction of all is flipped to the other kind. "
        "RobustBoostCluster is the default, which mixes several bases; RobustBoostCluster + k-means has k-means as its "
        "only base, as the default had before. Plain is k-means or another base alone, ridged is BoostCluster in the "
        "best fixed representation. Of every set at most 800 rows, drawn for each trial, in the parts columns, few and "
        "error at most 400; features standardized, usps in 50 principal components. Bases: k-means with three "
        "starts; spectral clustering of the graph of ten neighbors; average link; a Gaussian mixture of full "
        "covariances. The difference representation is computed on at most 1,000 rows, as its reference was. Columns "
        "of noise are standard normal, and the same for all methods of a trial. Answers are those to 200 questions of "
        "MinMax or NPU, a fraction of them wrong. The method was chosen on these sets, but on other draws of rows and "
        "links, with seeds of another kind: none of the draws of this page was used to choose anything. The five "
        "further sets of the reference are not named there, and left out."
    ),
    datasets=SETS,
    methods=METHODS,
    draw=draw_pairs,
    parts=(
        Part("kmeans", kmeans_runs, kmeans_tables, kmeans_figures, KMEANS_CLAIMS),
        Part("columns", column_runs, column_tables, column_figures, COLUMN_CLAIMS),
        Part("few", few_runs, few_tables, claims=CLAIMS_OF_FEW),
        Part("error", error_runs, error_tables, error_figures, ERROR_CLAIMS),
        Part("bases", base_runs, base_tables, claims=BASES_CLAIMS),
        Part("fixed", fixed_runs, fixed_tables, claims=FIXED_CLAIMS),
    ),
    quick=replace(
        PLAN,
        special_trials=QUICK_TRIALS | dict.fromkeys(OTHER_BASES, 1),
        note=(
            "Quick run: 2 trials in the parts kmeans, columns and error (1 with NPU, 20 on iris with right answers), 3 "
            "with few links, 1 with the other bases, 5 with the difference representation and with 2,000 columns."
        ),
    ),
    full=replace(
        PLAN,
        special_trials=dict.fromkeys(OTHER_BASES, 2) | {"few": 20},
        note=(
            "5 trials, as the reference has, 2 with the other bases, 20 with few links and on iris with right answers "
            "to NPU."
        ),
    ),
    seed_names={PAPER: "doubt", ROBUST_KMEANS: "auto"}
    | {f"{ROBUST} + {base}": f"auto + {base}" for base in OTHER_BASES},
)

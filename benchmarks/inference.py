"""Inference on linked rows: Gibbs sampling beside a plain Python sampler, mean field on a grid, exact marginals.

All run in one process, after a small run of each that excludes compilation. The plain sampler is that of the tests,
with lists and the functions of the standard library; it makes fewer sweeps.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks._measure import shortest
from benchmarks._show import new_table, show

N_ROWS, N_LINKS, N_CLUSTERS, PENALTY = 10_000, 10_000, 5, 2.0
N_SWEEPS, N_PLAIN_SWEEPS = 100, 2
SIDE = 101
# The fewer rows there are, the larger and the more cyclic are the connected parts.
N_EXACT_LINKS, N_LINKED_AMONG = 5_000, (100_000, 10_000, 8_000, 5_000)


def main() -> None:
    show(compare_samplers(), time_grid(), time_plans())


def compare_samplers() -> Any:
    """Time a sweep of both samplers on the same model."""
    from mustlink.inference import GibbsSampler

    title = (
        f"Gibbs sampling: {N_ROWS:,} rows, {N_LINKS:,} links, {N_CLUSTERS} clusters; target: 50 times a plain sampler"
    )
    table = new_table(title, "sampler", "milliseconds for a sweep", "times as fast")
    model = random_model(N_ROWS, N_LINKS)
    plain = shortest(plain_sampler(model))[0] / N_PLAIN_SWEEPS
    sampler = GibbsSampler(n_chains=1, n_sweeps=N_SWEEPS, n_burn_in=0, random_state=0)
    sampler.marginals(model)
    ours = shortest(partial(sampler.marginals, model))[0] / N_SWEEPS
    table.add_row("plain Python", f"{1e3 * plain:.2f}", "1")
    table.add_row("GibbsSampler", f"{1e3 * ours:.2f}", f"{plain / ours:.0f}")
    return table


def plain_sampler(model: Any) -> Callable[[], Any]:
    """Return the sampler of the tests, ready to sweep over the rows of a model."""
    reference = importlib.import_module("tests.reference.gibbs")
    graph = model.graph
    linked = reference.neighbors_of(N_ROWS, graph.pairs.tolist(), (graph.sign > 0).tolist(), model.penalty.tolist())
    uniforms = np.random.default_rng(0).uniform(size=(N_PLAIN_SWEEPS, N_ROWS)).tolist()
    return partial(reference.sample, [0] * N_ROWS, model.log_potentials.tolist(), linked, uniforms)


def time_grid() -> Any:
    """Time mean field on a grid of sites that are linked with their neighbors."""
    from mustlink.inference import mean_field

    title = f"Mean field: {SIDE} x {SIDE} sites, {N_CLUSTERS} clusters, must-links between neighbors; target: below 1 s"
    table = new_table(title, "evidence", "penalty", "order", "seconds", "bound", "accuracy", n_names=3)
    mean_field(random_model(100, 100))
    for scale in (0.3, 1.0):
        for penalty in (0.5, 1.0, 2.0, 6.0):
            model, classes = grid_model(scale, penalty)
            for by_colors in (True, False):
                seconds, found = shortest(partial(mean_field, model, by_colors=by_colors))
                accuracy = (found.rows.argmax(axis=1) == classes).mean()
                order = "colors" if by_colors else "rows"
                cells = (f"{seconds:.3f}", f"{found.log_normalizer:.1f}", f"{accuracy:.3f}")
                table.add_row("weak" if scale < 1 else "strong", f"{penalty:g}", order, *cells)
    return table


def time_plans() -> Any:
    """Time the plan and the exact marginals of links of rows that are drawn at random."""
    from mustlink.inference import LinkInference

    table = new_table(
        f"LinkInference: {N_EXACT_LINKS:,} links, {N_CLUSTERS} clusters",
        "rows",
        "milliseconds to plan",
        "milliseconds for marginals",
        "how",
    )
    for n_rows in N_LINKED_AMONG:
        model = random_model(n_rows, N_EXACT_LINKS)
        plan = partial(LinkInference.plan, model.graph, model.penalty, N_CLUSTERS)
        to_plan, inference = shortest(plan)
        seconds, _ = shortest(partial(inference.marginals, model.log_potentials))
        table.add_row(
            f"{n_rows:,}",
            f"{1e3 * to_plan:.1f}",
            f"{1e3 * seconds:.1f}",
            inference.report.describe(),
        )
    return table


def random_model(n_rows: int, n_links: int) -> Any:
    """Rows of random classes with weak evidence, and links between pairs of them drawn at random."""
    from mustlink import Constraints
    from mustlink.inference import LinkModel

    rng = np.random.default_rng(0)
    classes = rng.integers(N_CLUSTERS, size=n_rows)
    graph = Constraints.sample(classes, n_links, random_state=0).adjacency(n_rows)
    evidence = rng.normal(size=(n_rows, N_CLUSTERS)) + np.eye(N_CLUSTERS)[classes]
    return LinkModel(evidence, graph, np.full(n_links, PENALTY))


def grid_model(scale: float, penalty: float) -> tuple[Any, Any]:
    """Sites in regions of different classes, with noisy evidence, and links between neighbors."""
    from mustlink import Constraints
    from mustlink.inference import LinkModel

    site = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    across, down = (site[:, :-1].ravel(), site[:, 1:].ravel()), (site[:-1].ravel(), site[1:].ravel())
    pairs = np.vstack([np.column_stack(across), np.column_stack(down)])
    classes = ((site // SIDE // 40 * 2 + site % SIDE // 60) % N_CLUSTERS).ravel()
    noise = np.random.default_rng(0).normal(size=(SIDE * SIDE, N_CLUSTERS))
    graph = Constraints(must_link=pairs).adjacency(SIDE * SIDE)
    return LinkModel(scale * (noise + np.eye(N_CLUSTERS)[classes]), graph, np.full(len(pairs), penalty)), classes


if __name__ == "__main__":
    main()

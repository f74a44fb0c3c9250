"""Fast passes over links, codes and columns give what the obvious computation gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from mustlink.boosting._bases import BaseClusterer
from mustlink.boosting._boostcluster._coordinates import mean_and_variance
from mustlink.boosting._boostcluster._links import order_by_columns, places_among
from mustlink.boosting._coassociation import label_names
from mustlink.boosting._coassociation_kernels import find_columns, vote_by_similarity

SEEDS = st.integers(0, 10_000)


@given(SEEDS, st.integers(0, 40), st.integers(0, 4), st.integers(1, 5))
def test_rows_are_ordered_by_their_columns_in_turn(seed: int, n_rows: int, n_columns: int, n_values: int) -> None:
    table = np.random.RandomState(seed).randint(0, n_values, (n_rows, n_columns)).astype(np.float64)
    expected = np.lexsort(table.T[::-1]) if n_columns else np.arange(n_rows)
    assert np.array_equal(order_by_columns(table), expected)


@given(SEEDS, st.integers(1, 30))
def test_places_are_those_in_the_array(seed: int, n_rows: int) -> None:
    rng = np.random.RandomState(seed)
    rows = rng.permutation(50)[:n_rows]
    wanted = rng.choice(rows, size=(7, 2))
    assert np.array_equal(rows[places_among(rows, wanted)], wanted)


@given(SEEDS, st.integers(1, 40), st.booleans())
def test_columns_of_a_code_leave_noise_out(seed: int, n_rounds: int, has_noise: bool) -> None:
    rng = np.random.RandomState(seed)
    code = rng.randint(-1 if has_noise else 0, 5, n_rounds).astype(np.int8)
    offsets, columns = np.arange(n_rounds + 1) * 5, np.empty(n_rounds, dtype=np.int64)
    n_seen = find_columns(code, offsets, columns)
    assert columns[:n_seen].tolist() == [5 * t + label for t, label in enumerate(code.tolist()) if label >= 0]


@given(SEEDS, st.integers(1, 40), st.sampled_from([np.int8, np.int16]))
def test_examples_vote_by_their_co_association(seed: int, n_runs: int, dtype: type) -> None:
    rng = np.random.RandomState(seed)
    # Rows that differ from an example in few runs, and some noise.
    examples = rng.randint(-1, 4, (12, n_runs)).astype(dtype)
    codes = examples[rng.randint(0, 12, 20)]
    changed = rng.uniform(size=codes.shape) < rng.choice([0.02, 0.1, 0.5])
    codes[changed] = rng.randint(-1, 4, int(changed.sum()))
    weights = -np.sort(-rng.uniform(size=n_runs))
    weights /= weights.sum()
    marginals = rng.dirichlet(np.ones(3), 12)
    votes = np.zeros((20, 3))
    vote_by_similarity(codes, examples, weights, marginals, 32, 0.15, votes)
    for i, code in enumerate(codes):
        expected = np.zeros(3)
        for a, example in enumerate(examples):
            apart = 0.0
            for t in np.flatnonzero((code != example) | (code < 0)):
                apart += weights[t]
            if apart <= 0.15:
                expected += (1.0 - apart) ** 32 * marginals[a]
        np.testing.assert_allclose(votes[i], expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 3), (7, 2), (5_000, 16)])
def test_moments_are_those_of_numpy(dtype: type, shape: tuple[int, int]) -> None:
    table = (3 * np.random.RandomState(0).standard_normal(shape) + 1).astype(dtype)
    mean, variance = mean_and_variance(table)
    assert np.array_equal(mean, table.mean(axis=0, dtype=np.float64))
    assert np.array_equal(variance, table.var(axis=0, dtype=np.float64))


@given(SEEDS, st.integers(1, 30), st.sampled_from([np.int8, np.int64]))
def test_names_are_the_labels_without_noise(seed: int, n_rows: int, dtype: type) -> None:
    column = np.random.RandomState(seed).randint(-1, 8, n_rows).astype(dtype)
    assert label_names(column).tolist() == sorted(set(column.tolist()) - {-1})


@pytest.mark.parametrize("n_clustered", [60, 200, 380, 400])
def test_rows_that_were_not_clustered_are_predicted(n_clustered: int) -> None:
    rng = np.random.RandomState(0)
    table = rng.standard_normal((400, 3))
    rows = np.sort(rng.permutation(400)[:n_clustered])
    run = BaseClusterer(KMeans(4, n_init=1), 4).run(table[rows], 0)
    found = run.on_all_rows(table[rows], table, rows)
    assert np.array_equal(found.labels, run.model.predict(table))
    assert found.rows is None

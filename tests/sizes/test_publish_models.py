"""The privacy models and the groups that are made for them, beside definitions and exhaustive search."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink.sizes._publish._gathering import gather_groups
from mustlink.sizes._publish._models import PrivacyModel
from mustlink.sizes._publish._refinement import refine_groups, sum_of_squares
from reference.publishing import dispersion, is_valid, valid_partitions

FORMS = [("distinct", 2, 1.0), ("distinct", 3, 1.0), ("entropy", 1.7, 1.0), ("entropy", 2, 1.0), ("recursive", 2, 1.5)]


def models(k):
    """A model of each form."""
    return [PrivacyModel(k), *(PrivacyModel(k, needed, form, m) for form, needed, m in FORMS)]


def valid(model, codes):
    """Whether a group satisfies a model, by its definition."""
    return is_valid(list(codes), model.k, model.min_diversity, model.diversity, model.m)


def random_table(seed, max_rows=40, n_values=4):
    """Rows, some of them equal, and skewed sensitive values."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(4, max_rows))
    X = np.round(rng.normal(size=(n_rows, 2)), int(rng.integers(0, 3)))
    return X, rng.choice(n_values, size=n_rows, p=rng.dirichlet(np.full(n_values, 2.0))).astype(np.int64)


@pytest.mark.parametrize("model", models(3), ids=str)
@settings(deadline=None, max_examples=30)
@given(counts=st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any))
def test_a_model_is_its_definition(model, counts):
    values = np.repeat(np.arange(len(counts)), counts)
    assert model.is_valid(np.array(counts)) == valid(model, values)


@pytest.mark.parametrize(
    ("needed", "form", "m", "counts", "expected"),
    [
        (3, "entropy", 1.0, [3, 3, 3], True),
        (3, "entropy", 1.0, [4, 3, 3], False),
        (2, "recursive", 1.0, [2, 1, 1], False),
        (2, "recursive", 1.5, [2, 1, 1], True),
        # The sum begins at the second most frequent value; only the two least frequent ones would give 3 < 2.
        (2, "recursive", 1.0, [3, 2, 1, 1], True),
        (3, "recursive", 2.0, [3, 3], False),
    ],
)
def test_bounds_of_diversity(needed, form, m, counts, expected):
    assert PrivacyModel(1, needed, form, m).is_valid(np.array(counts)) is expected


@pytest.mark.parametrize("model", models(1), ids=str)
@settings(deadline=None, max_examples=40)
@given(
    counts=st.lists(st.integers(0, 6), min_size=3, max_size=4), more=st.lists(st.integers(0, 6), min_size=4, max_size=4)
)
def test_the_union_of_valid_groups_is_valid(model, counts, more):
    one, other = np.array(counts), np.array(more)[: len(counts)]
    if model.is_valid(one) and model.is_valid(other):
        assert model.is_valid(one + other)


@pytest.mark.parametrize("model", models(1), ids=str)
def test_the_least_size_is_reached_and_not_undercut(model):
    sizes = [sum(counts) for counts in product(range(4), repeat=4) if any(counts) and model.is_valid(np.array(counts))]
    assert min(sizes) == model.min_size


@pytest.mark.parametrize("model", models(10)[3:], ids=str)
def test_capped_counts_are_diverse(model):
    for size in range(model.min_size, 40):
        most = model.max_count(size)
        counts = [most] * (size // most) + ([size % most] if size % most else [])
        assert model.is_diverse(counts)


@settings(deadline=None, max_examples=30)
@given(
    counts=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    k=st.integers(1, 3),
    needed=st.integers(1, 3),
)
def test_the_most_groups_with_distinct_values_are_those_of_an_exhaustive_search(counts, k, needed):
    values = np.repeat(np.arange(len(counts)), counts).tolist()
    if len(values) > 8:
        return
    found = valid_partitions(values, k, needed, "distinct", 1.0)
    most = max(map(len, found), default=0)
    assert PrivacyModel(k, needed).max_groups(np.array(counts)) == most


@pytest.mark.parametrize("place", range(6))
@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 5), keep_number=st.booleans())
def test_groups_are_valid_at_every_stage_and_the_sum_never_rises(place, seed, k, keep_number):
    model = models(k)[place]
    X, codes = random_table(seed)
    if not model.is_valid(np.bincount(codes)):
        return
    first = gather_groups(X, codes, model.max_groups(np.bincount(codes)), model)
    refined = refine_groups(X, codes, first, model, keep_number=keep_number, random_state=np.random.RandomState(seed))
    for labels in (first, refined):
        assert set(labels) == set(range(labels.max() + 1))
        assert all(valid(model, codes[labels == group]) for group in range(labels.max() + 1))
    assert sum_of_squares(X, refined) <= sum_of_squares(X, first) + 1e-9
    if keep_number:
        assert refined.max() == first.max()


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 5), needed=st.integers(1, 4))
def test_the_most_groups_with_distinct_values_are_found(seed, k, needed):
    X, codes = random_table(seed)
    model = PrivacyModel(k, needed)
    most = model.max_groups(np.bincount(codes))
    for n_groups in {1, most // 2, most} - {0}:
        if most:
            assert gather_groups(X, codes, n_groups, model).max() + 1 == n_groups


def test_blocks_are_gathered_apart(monkeypatch):
    from mustlink.sizes._publish import _gathering

    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(600, 3)), rng.integers(4, size=600)
    whole = gather_groups(X, codes, 120, PrivacyModel(5))
    monkeypatch.setattr(_gathering, "MAX_BLOCK_ROWS", 64)
    for model in models(5):
        labels = gather_groups(X, codes, model.max_groups(np.bincount(codes)), model)
        assert all(valid(model, codes[labels == group]) for group in range(labels.max() + 1))
    blocks = gather_groups(X, codes, 120, PrivacyModel(5))
    assert blocks.max() + 1 == 120
    assert not np.array_equal(blocks, whole)


@pytest.mark.parametrize("place", range(6))
def test_the_loss_on_tiny_tables_is_close_to_the_least(place):
    """Over many tables, since a local search need not find the best groups of each."""
    ratios = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, codes = rng.normal(size=(8, 2)), rng.integers(3, size=8)
        model = models(2)[place]
        partitions = valid_partitions(codes.tolist(), 2, model.min_diversity, model.diversity, model.m)
        if not partitions:
            assert not model.is_valid(np.bincount(codes))
            continue
        least = min(dispersion(X, groups) for groups in partitions)
        labels = gather_groups(X, codes, model.max_groups(np.bincount(codes)), model)
        labels = refine_groups(X, codes, labels, model, random_state=np.random.RandomState(0))
        ratios.append(sum_of_squares(X, labels) / least)
    assert min(ratios) >= 1 - 1e-9
    assert np.mean(np.array(ratios) < 1 + 1e-9) >= 0.5
    assert np.mean(ratios) < 1.25

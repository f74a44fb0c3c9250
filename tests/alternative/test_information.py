"""Information of partitions: identities of chapter 11, and the metrics beside sums over classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import homogeneity_score

from alternative.problems import counts_with_two_splits
from mustlink.alternative._known import KnownNumbers
from mustlink.alternative._multinomial_mixture import MultinomialMixture
from mustlink.metrics import conditional_entropy, homogeneity, purity, variation_of_information
from reference import alternative as slow

partitions = st.integers(2, 25).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n).map(np.array)] * 3)
)


@settings(max_examples=60, deadline=None)
@given(partitions)
def test_the_variation_of_information_is_a_metric(three: Any) -> None:
    """Check 3."""
    a, b, c = three
    between = variation_of_information(a, b)
    joint = np.unique(np.column_stack([a, b]), axis=0, return_inverse=True)[1].ravel()
    assert between == pytest.approx(2 * slow.entropy(joint) - slow.entropy(a) - slow.entropy(b), abs=1e-9)
    assert between == pytest.approx(variation_of_information(b, a), abs=1e-12)
    assert between == pytest.approx(conditional_entropy(a, b) + conditional_entropy(b, a), abs=1e-9)
    assert between <= slow.entropy(a) + slow.entropy(b) + 1e-9
    assert between + variation_of_information(b, c) >= variation_of_information(a, c) - 1e-9
    assert (between < 1e-9) == (len(np.unique(joint)) == len(np.unique(a)) == len(np.unique(b)))


@settings(max_examples=60, deadline=None)
@given(partitions)
def test_information_beyond_a_known_split(three: Any) -> None:
    """Lemma 11.2, for clusters that are functions of the rows: I(C2;X|C1) = I(C2;X) - I(C1;C2)."""
    a, b, _ = three
    rows = np.eye(len(a)) / len(a)
    joint = np.zeros((b.max() + 1, len(a), a.max() + 1))
    for row in range(len(a)):
        joint[b[row], :, a[row]] += rows[row]
    given_known = slow.conditional_mutual_information(joint)
    alone = slow.conditional_mutual_information(joint.sum(axis=2, keepdims=True))
    shared = slow.entropy(b) - conditional_entropy(b, a)
    assert given_known == pytest.approx(alone - shared, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(partitions)
def test_purity_and_homogeneity(three: Any) -> None:
    classes, clusters, _ = three
    counted = sum(np.bincount(classes[clusters == c]).max() for c in np.unique(clusters))
    assert purity(classes, clusters) == pytest.approx(counted / len(classes))
    if len(np.unique(classes)) > 1:
        assert homogeneity(classes, clusters) == pytest.approx(homogeneity_score(classes, clusters), abs=1e-9)
    else:
        assert homogeneity(classes, clusters) == 0.0


def test_the_confusion_tables_of_the_chapter() -> None:
    """Table 11.1: precision is purity."""
    for table, published in (([[140, 144], [45, 40]], 0.5122), ([[105, 1], [80, 183]], 0.7805)):
        gender = np.concatenate([np.repeat([0, 1], row) for row in table])
        clusters = np.repeat([0, 1], [sum(row) for row in table])
        assert purity(gender, clusters) == pytest.approx(published, abs=5e-5)


def test_the_variance_of_numbers_between_clusters() -> None:
    values, labels = np.array([1.0, 3.0, 5.0, 7.0]), np.array([0, 0, 1, 1])
    assert KnownNumbers(values).describes(labels)[0] == pytest.approx(1 - 4 / 20)
    assert KnownNumbers(np.ones(4)).describes(labels)[0] == 0.0


def test_a_mixture_of_multinomials() -> None:
    X, a, b = counts_with_two_splits(2, 200, 0)
    classes = 2 * a + b
    model = MultinomialMixture(4, n_init=3, random_state=0).fit(X)
    assert purity(classes, model.labels_) > 0.99
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    assert np.array_equal(
        MultinomialMixture(4, n_init=3, random_state=0).fit(sparse.csr_array(X)).labels_, model.labels_
    )

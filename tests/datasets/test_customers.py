"""The shipped sample: it equals the output of the generator, and its links lead to groups that k-means misses."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mustlink import Constraints
from mustlink.datasets import Customers, make_customers, sample_paths
from mustlink.metrics import adjusted_rand


@pytest.fixture(scope="module")
def customers() -> Customers:
    return make_customers()


def as_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table the way the shipped files are written."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def as_numbers(customers: Customers) -> NDArray[np.float64]:
    """Standardize the numbers and encode the departments as 0/1 columns."""
    numbers = np.array([row[1:5] for row in customers.rows], dtype=np.float64)
    departments = np.array([[row[5]] for row in customers.rows])
    encoded = OneHotEncoder(sparse_output=False).fit_transform(departments)
    return np.hstack([StandardScaler().fit_transform(numbers), encoded])


def test_the_shipped_table_is_what_the_generator_gives(customers: Customers) -> None:
    assert sample_paths().table.read_text(encoding="utf-8") == as_csv(customers.header, customers.rows)


def test_the_shipped_links_are_what_the_generator_gives(customers: Customers) -> None:
    assert sample_paths().links.read_text(encoding="utf-8") == as_csv(("a", "b", "link"), customers.links)


def test_the_table_does_not_give_the_truth_away(customers: Customers) -> None:
    text = sample_paths().table.read_text(encoding="utf-8")
    assert not [group for group in set(customers.truth) if f",{group}" in text]


def test_the_cells_make_sense(customers: Customers) -> None:
    assert [row[0] for row in customers.rows] == [f"C{number:03d}" for number in range(1, 241)]
    visits, basket, share_online, years = np.array([row[1:5] for row in customers.rows], dtype=np.float64).T
    assert visits.min() > 0
    assert basket.min() >= 5
    assert share_online.min() >= 0
    assert share_online.max() <= 1
    assert years.min() > 0
    assert Counter(customers.truth) == {"regular": 80, "occasional": 80, "online": 80}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_each_link_agrees_with_the_truth_and_is_given_once(seed: int) -> None:
    customers = make_customers(seed)
    group = {row[0]: label for row, label in zip(customers.rows, customers.truth, strict=True)}
    assert all((group[a] == group[b]) == (link == "must") for a, b, link in customers.links)
    assert Counter(link for _, _, link in customers.links) == {"must": 24, "cannot": 16}
    assert len({frozenset((a, b)) for a, b, _ in customers.links}) == 40
    assert len({end for a, b, _ in customers.links for end in (a, b)}) == 27


def test_the_shipped_links_are_free_of_conflicts(customers: Customers) -> None:
    ids = [str(row[0]) for row in customers.rows]
    links = Constraints.read(sample_paths().links, ids=ids)
    assert (len(links.must_link), len(links.cannot_link)) == (24, 16)
    assert not links.conflicts()
    assert links.feasible(3, len(ids))
    assert links.violation_rate(np.unique(customers.truth, return_inverse=True)[1]) == 0.0


def test_other_seeds_give_other_customers(customers: Customers) -> None:
    assert make_customers(1).rows != customers.rows
    assert make_customers(np.random.RandomState(0)) == customers


def test_plain_k_means_misses_the_groups_and_the_linked_customers_lead_to_them(customers: Customers) -> None:
    X = as_numbers(customers)
    plain = KMeans(n_clusters=3, n_init=20, random_state=0).fit(X)
    plain_score = adjusted_rand(customers.truth, plain.labels_)

    row_of = {row[0]: number for number, row in enumerate(customers.rows)}
    known = {row_of[str(end)] for a, b, _ in customers.links for end in (a, b)}
    groups = sorted(set(customers.truth))
    starts = [X[[row for row in known if customers.truth[row] == group]].mean(axis=0) for group in groups]
    led = KMeans(n_clusters=3, init=np.array(starts), n_init=1).fit(X)

    assert plain_score < 0.5
    assert adjusted_rand(customers.truth, led.labels_) > plain_score + 0.4

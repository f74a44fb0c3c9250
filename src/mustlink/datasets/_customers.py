"""The sample that ships with the package: customers of a shop, and links between some of them."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

_HEADER = ("customer", "visits_per_month", "basket_eur", "share_online", "years_customer", "favorite_department")
_N_CUSTOMERS = 240

# The groups that a person has in mind: how a customer buys.
_GROUPS = ("regular", "occasional", "online")
_VISITS = (10.0, 3.0, 3.0)
_SHARE_ONLINE = (0.15, 0.15, 0.85)

# The stronger structure of the table: when the account was opened, and the department that goes with it.
_YEARS = (1.5, 6.0, 10.5)
_DEPARTMENTS = ("electronics", "household", "garden")
_SHARE_IN_DEPARTMENT = 0.9

_N_KNOWN_PER_GROUP = 9
_N_CANNOT = 16


class Customers(NamedTuple):
    """A table of customers with their true groups and some links.

    Attributes
    ----------
    header : tuple of str
        Names of the columns.
    rows : list of tuple
        One customer each: id, four numbers, department.
    truth : list of str
        The group of each customer: ``regular``, ``occasional`` or ``online``.
    links : list of (str, str, str)
        Two ids, and ``must`` or ``cannot``.

    Examples
    --------
    >>> from mustlink.datasets import make_customers
    >>> make_customers().header[:3]
    ('customer', 'visits_per_month', 'basket_eur')
    """

    header: tuple[str, ...]
    rows: list[tuple[str | float, ...]]
    truth: list[str]
    links: list[tuple[str, str, str]]


class SamplePaths(NamedTuple):
    """Paths of the two sample files.

    Attributes
    ----------
    table : Path
        ``customers.csv``: one customer per line.
    links : Path
        ``links.csv``: columns ``a``, ``b`` and ``link``, naming customers by their id.

    Examples
    --------
    >>> from mustlink.datasets import sample_paths
    >>> sample_paths().links.name
    'links.csv'
    """

    table: Path
    links: Path


def sample_paths() -> SamplePaths:
    """Return the paths of the sample table and the sample links that ship with the package.

    Returns
    -------
    SamplePaths
        ``table`` and ``links``, two CSV files.

    Examples
    --------
    >>> from mustlink.datasets import sample_paths
    >>> table, links = sample_paths()
    >>> with open(links) as file:
    ...     file.readline().strip()
    'a,b,link'
    """
    folder = Path(str(resources.files("mustlink.datasets"))) / "sample"
    return SamplePaths(folder / "customers.csv", folder / "links.csv")


def make_customers(random_state: int | np.random.RandomState | None = 0) -> Customers:
    """Make 240 customers whose groups k-means does not find, and 40 links that lead to them.

    The groups are ways of buying: regulars who often come to the shop, occasional visitors, and people who order
    online. The years since the account was opened vary more, because the favorite department goes with them. k-means
    on the standardized table therefore finds most regulars, but splits all others by the age of their account and
    mixes the occasional with the online. The links state what a person knows about 27 of the customers.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=0
        Seed; 0 gives the files of :func:`sample_paths`.

    Returns
    -------
    Customers
        ``header``, ``rows``, ``truth`` and ``links``.

    Examples
    --------
    >>> from mustlink.datasets import make_customers
    >>> customers = make_customers()
    >>> len(customers.rows), len(customers.links), sorted(set(customers.truth))
    (240, 40, ['occasional', 'online', 'regular'])
    """
    # A RandomState on purpose: NumPy keeps its stream of numbers from release to release, and the files depend on it.
    rng = check_random_state(random_state)
    group = rng.permutation(np.arange(_N_CUSTOMERS) % len(_GROUPS))
    age = rng.permutation(np.arange(_N_CUSTOMERS) % len(_YEARS))
    ids = [f"C{number:03d}" for number in range(1, _N_CUSTOMERS + 1)]
    rows = _rows(rng, ids, group, age)
    return Customers(_HEADER, rows, [_GROUPS[g] for g in group], _links(rng, ids, group))


def _rows(
    rng: np.random.RandomState, ids: list[str], group: NDArray[np.intp], age: NDArray[np.intp]
) -> list[tuple[str | float, ...]]:
    """Draw the values of each customer from the way of buying and the age of the account."""
    visits = np.take(_VISITS, group) + rng.normal(scale=1.4, size=_N_CUSTOMERS)
    basket = rng.normal(loc=40.0, scale=15.0, size=_N_CUSTOMERS)
    share_online = np.take(_SHARE_ONLINE, group) + rng.normal(scale=0.13, size=_N_CUSTOMERS)
    years = np.take(_YEARS, age) + rng.normal(scale=0.7, size=_N_CUSTOMERS)
    any_department = rng.randint(len(_DEPARTMENTS), size=_N_CUSTOMERS)
    department = np.where(rng.uniform(size=_N_CUSTOMERS) < _SHARE_IN_DEPARTMENT, age, any_department)
    return [
        (
            ids[row],
            round(max(float(visits[row]), 0.2), 1),
            round(max(float(basket[row]), 5.0), 2),
            round(min(max(float(share_online[row]), 0.0), 1.0), 2),
            round(max(float(years[row]), 0.1), 1),
            _DEPARTMENTS[department[row]],
        )
        for row in range(_N_CUSTOMERS)
    ]


def _links(rng: np.random.RandomState, ids: list[str], group: NDArray[np.intp]) -> list[tuple[str, str, str]]:
    """Link the known customers of each group as a tree, and add cannot-links between groups."""
    known = [rng.choice(np.flatnonzero(group == g), _N_KNOWN_PER_GROUP, replace=False) for g in range(len(_GROUPS))]
    must = [
        (int(members[rng.randint(position)]), int(members[position]))
        for members in known
        for position in range(1, _N_KNOWN_PER_GROUP)
    ]
    apart = [(int(a), int(b)) for g, h in ((0, 1), (0, 2), (1, 2)) for a in known[g] for b in known[h]]
    cannot = [apart[chosen] for chosen in rng.choice(len(apart), _N_CANNOT, replace=False)]
    links = [(a, b, "must") for a, b in must] + [(a, b, "cannot") for a, b in cannot]
    return [(ids[links[i][0]], ids[links[i][1]], links[i][2]) for i in rng.permutation(len(links))]

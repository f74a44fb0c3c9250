"""The immutable value that holds must-links and cannot-links."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from mustlink._spelling import count
from mustlink._warnings import warn_caller
from mustlink.constraints._aligned import AlignedConstraints, NoShape
from mustlink.constraints._closure import Closure
from mustlink.constraints._coherence import coherence
from mustlink.constraints._conflicts import Conflicts, find_conflicts
from mustlink.constraints._display import constraints_html
from mustlink.constraints._equality import same_weights
from mustlink.constraints._feasibility import DEFAULT_BUDGET, Feasibility, decide_for_table
from mustlink.constraints._graph import LinkGraph, connected_nodes, symmetric_csr
from mustlink.constraints._groups import (
    CannotLinkGroups,
    chains_of_column,
    count_pairs,
    groups_of_column,
    in_any,
    merge_equal,
    name_size,
    pairs_across_column,
    split_alone,
)
from mustlink.constraints._pairs import (
    as_count,
    as_pairs,
    as_weights,
    check_total_weight,
    each_once,
    in_both,
    name_pair,
    name_pairs,
    name_rows,
    to_tuples,
)
from mustlink.constraints._sampling import draw_links, links_of_labels
from mustlink.constraints._tabular import link_columns, name_places
from mustlink.errors import ConstraintError, SkippedLinksWarning, TooLargeError

if TYPE_CHECKING:
    from mustlink.tables import LinkList, UnknownIds

__all__ = ["Constraints"]

Contradictions: TypeAlias = Literal["raise", "majority", "keep"]

TIE = 1e-12
# The most rows for which an entry per row is made.
MAX_TABLE_ROWS = 500_000_000
# The most cannot-links of groups that are listed.
MAX_LISTED_PAIRS = 5_000_000
NOISE_LABEL = -1


class Constraints:
    """Must-link and cannot-link constraints between pairs of rows.

    An immutable value. A pair given twice is one pair with the weights added.

    Parameters
    ----------
    must_link : array-like of shape (m, 2), default=None
        Pairs of row numbers that belong to one cluster.
    cannot_link : array-like of shape (m, 2), default=None
        Pairs of row numbers that belong to different clusters.
    must_link_weight : array-like of shape (m,) or float, default=None
        Weight of each must-link, positive and finite; 1 if None.
    cannot_link_weight : array-like of shape (m,) or float, default=None
        Weight of each cannot-link.
    contradictions : {"raise", "majority", "keep"}, default="raise"
        How to treat a pair given both ways. With "majority" the heavier side wins and keeps the difference
        of the weights, as when several people answered; at equal weights the pair is dropped. With "keep" it stays
        both a must-link and a cannot-link, one of :meth:`conflicts`.

    Attributes
    ----------
    must_link, cannot_link : ndarray of shape (m, 2)
        Each pair once, smaller index first, sorted; read-only.
    must_link_weight, cannot_link_weight : ndarray of shape (m,)
        Their weights; read-only.
    cannot_link_groups : tuple of CannotLinkGroups
        The groups of :meth:`from_groups`. Their pairs are among `cannot_link`, which lists them when it is first read.

    Raises
    ------
    ConstraintError
        If a pair joins a row with itself or is given both ways, if a row number is negative or not an integer,
        or if a weight is not positive and finite.

    See Also
    --------
    mustlink.constraints.AlignedConstraints : The row-aligned form for cross-validation.

    Notes
    -----
    Links that contradict each other through a chain are not refused: :meth:`conflicts` lists them. Soft clusterers
    break some of them, and hard clusterers raise an error.

    The cannot-links of groups (:meth:`from_groups`) are kept without a list of pairs. What needs the list makes it,
    see :meth:`expand`, up to 5 million pairs.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> links = Constraints(must_link=[(0, 1), (7, 4)], cannot_link=[(0, 9)])
    >>> links
    Constraints(2 must-links, 1 cannot-link)
    >>> links.must_link
    array([[0, 1],
           [4, 7]])
    """

    __slots__ = ("_groups", "_listed", "_n_cannot", "_n_must", "_n_rows", "_pairs", "_sign", "_weight")

    def __init__(
        self,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
        *,
        must_link_weight: ArrayLike | float | None = None,
        cannot_link_weight: ArrayLike | float | None = None,
        contradictions: Contradictions = "raise",
    ) -> None:
        if contradictions not in ("raise", "majority", "keep"):
            raise ConstraintError(f'contradictions must be "raise", "majority" or "keep"; got {contradictions!r}.')
        must = as_pairs(must_link, "must-link")
        cannot = as_pairs(cannot_link, "cannot-link")
        must, must_weight, _ = each_once(must, as_weights(must_link_weight, must, "must-link"))
        cannot, cannot_weight, _ = each_once(cannot, as_weights(cannot_link_weight, cannot, "cannot-link"))
        in_must, in_cannot = in_both(must, cannot)
        if in_must.size and contradictions != "keep":
            if contradictions == "raise":
                _refuse_contradictions(must[in_must])
            balance = must_weight[in_must] - cannot_weight[in_cannot]
            # 0.1 + 0.2 against 0.3 is a tie in spite of rounding.
            balance[np.isclose(must_weight[in_must], cannot_weight[in_cannot], rtol=TIE, atol=0)] = 0
            must_weight[in_must], cannot_weight[in_cannot] = balance, -balance
            must, must_weight = must[must_weight > 0], must_weight[must_weight > 0]
            cannot, cannot_weight = cannot[cannot_weight > 0], cannot_weight[cannot_weight > 0]
        pairs, weight = np.concatenate([must, cannot]), np.concatenate([must_weight, cannot_weight])
        check_total_weight(pairs, weight)
        self._store(pairs, weight, len(must))

    def _store(
        self,
        pairs: NDArray[np.int64],
        weight: NDArray[np.float64],
        n_must: int,
        groups: Sequence[CannotLinkGroups] = (),
        n_rows: int | None = None,
    ) -> None:
        """Keep the given pairs, must-links first, in arrays that cannot be written to, and the groups."""
        self._pairs, self._weight, self._n_must = pairs, weight, n_must
        # The number of rows of the table, if the links come from a column of it.
        self._n_rows = n_rows
        self._groups = merge_equal(groups)
        # The links with those of the groups in the list, once they are needed.
        self._listed: Constraints | None = None
        # The number of cannot-links, once it is counted.
        self._n_cannot: int | None = None
        self._sign = np.repeat(np.array([1, -1], dtype=np.int8), [n_must, len(pairs) - n_must])
        for array in (self._pairs, self._weight, self._sign):
            array.flags.writeable = False

    # ---- construction ------------------------------------------------------------------------------------------------

    @classmethod
    def from_pairs(
        cls,
        pairs: ArrayLike,
        sign: ArrayLike,
        weight: ArrayLike | float | None = None,
        *,
        contradictions: Contradictions = "raise",
    ) -> Constraints:
        """Build constraints from one list of signed pairs.

        Parameters
        ----------
        pairs : array-like of shape (n_links, 2)
            Pairs of row numbers.
        sign : array-like of shape (n_links,)
            Positive for a must-link, negative for a cannot-link.
        weight : array-like of shape (n_links,) or float, default=None
            Weight of each link, positive and finite; 1 if None.
        contradictions : {"raise", "majority", "keep"}, default="raise"
            As for the class.

        Returns
        -------
        Constraints

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints.from_pairs([(0, 1), (1, 2)], [1, -1])
        Constraints(1 must-link, 1 cannot-link)
        """
        ends = as_pairs(pairs, "pair")
        signs = np.asarray(sign)
        if signs.shape != (len(ends),) or (signs.size and not (signs.dtype.kind in "if" and (abs(signs) > 0).all())):
            raise ConstraintError(
                f"sign must hold one positive or negative number per pair, {len(ends):,} in all; got {sign!r}."
            )
        weights = as_weights(weight, ends, "pair")
        must = signs > 0
        return cls(
            ends[must],
            ends[~must],
            must_link_weight=weights[must],
            cannot_link_weight=weights[~must],
            contradictions=contradictions,
        )

    @classmethod
    def from_labels(
        cls,
        y: ArrayLike,
        *,
        missing: object = -1,
        pairs: Literal["compact", "all"] = "compact",
        order: ArrayLike | None = None,
    ) -> Constraints:
        """Derive links from partial labels.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            The class of each row, where it is known.
        missing : object, default=-1
            A further marker of an unknown class, or a list of them. -1 (as in ``sklearn.semi_supervised``), None, NaN,
            masked entries and empty text always are unknown, see :func:`~mustlink.constraints.known_rows`.
        pairs : {"compact", "all"}, default="compact"
            "compact" gives a chain of must-links through each class and one cannot-link for every two classes,
            with the same closure as "all", which lists every pair of labeled rows.
        order : array-like of shape (n_samples,), default=None
            Numbers by which the rows of a class are chained; its cannot-links are those of the first row. None is the
            order of the rows. A clusterer that is given partial labels orders the rows by their content.

        Returns
        -------
        Constraints

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints.from_labels(["a", "b", "a", "?"], missing="?")
        Constraints(1 must-link, 1 cannot-link)
        >>> Constraints.from_labels(["a", "a", "a"], order=[3, 1, 2]).must_link
        array([[0, 2],
               [1, 2]])
        """
        return cls(*links_of_labels(y, missing, pairs, order))

    @classmethod
    def from_groups(
        cls,
        groups: ArrayLike,
        link: Literal["cannot", "must", "across"] = "cannot",
        *,
        missing: object = -1,
        weight: float = 1.0,
        n_pairs: int | None = None,
        random_state: Any = None,
    ) -> Constraints:
        """Derive links from a column: rows of one group, or of different groups, are never or always in one cluster.

        Parameters
        ----------
        groups : array-like of shape (n_samples,)
            The group of each row, as text or numbers. The links are refused for a table of any other number of rows.
        link : {"cannot", "must", "across"}, default="cannot"
            With "cannot", no two rows of a group may be in one cluster, as the records of one source without
            duplicates, or the speakers of one moment. With "must", all rows of a group belong to one cluster. With
            "across", no two rows of different groups may be in one cluster, as records under different names.
        missing : object, default=-1
            A further marker of a row in no group, or a list of them. -1, None, NaN, masked entries and empty text
            always are, as for :meth:`from_labels`.
        weight : float, default=1.0
            The weight of each link.
        n_pairs : int, default=None
            With "across", draw so many of the pairs at random. None takes all, up to 5 million.
        random_state : int, RandomState or None, default=None
            For the pairs that are drawn.

        Returns
        -------
        Constraints
            With "cannot", the groups themselves (`cannot_link_groups`), without a list of their pairs: a million rows
            in groups of 1,000 are 499.5 million cannot-links, and take the memory of two numbers per row. With "must",
            a chain of must-links through each group, which has the same closure as all pairs. With "across", a list of
            cannot-links.

        See Also
        --------
        expand : The same links with all pairs listed.

        Notes
        -----
        A group of m rows needs at least m clusters for a hard clusterer. The clusterers that know no groups get the
        list of pairs, up to 5 million. COPKMeans and PCKMeans take the groups themselves where their rows are in
        no other link, and the list of the others.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> links = Constraints.from_groups(["film 1", "film 1", "film 2", "film 1", None])
        >>> links
        Constraints(0 must-links, 3 cannot-links in 1 group)
        >>> links.cannot_link
        array([[0, 1],
               [0, 3],
               [1, 3]])
        >>> Constraints.from_groups([5, 5, 8, 5], "must").must_link
        array([[0, 1],
               [1, 3]])
        >>> Constraints.from_groups(["J. Smith", "D. Johnson", "J. Smith"], "across").cannot_link
        array([[0, 1],
               [1, 2]])
        """
        if link not in ("cannot", "must", "across"):
            raise ConstraintError(f'link must be "cannot", "must" or "across"; got {link!r}.')
        if n_pairs is not None and link != "across":
            raise ConstraintError(f'n_pairs is the number of pairs drawn with link="across"; got link={link!r}.')
        if link == "across":
            pairs = pairs_across_column(groups, missing, n_pairs, MAX_LISTED_PAIRS, random_state)
            links = cls(cannot_link=pairs, cannot_link_weight=weight)
            links._n_rows = np.shape(groups)[0]
            return links
        if link == "must":
            links = cls(chains_of_column(groups, missing), must_link_weight=weight)
            links._n_rows = np.shape(groups)[0]
            return links
        checked = as_weights(weight, np.array([[0, 1]]), "cannot-link")
        if np.ndim(weight):
            raise ConstraintError("The links of groups have one weight for all of them; add groups with other weights.")
        made = groups_of_column(groups, missing, float(checked[0]))
        links = cls().with_groups([] if made is None else [made])
        links._n_rows = np.shape(groups)[0]
        return links

    def with_groups(self, groups: Sequence[CannotLinkGroups]) -> Constraints:
        """Return the links that were given as pairs, with other groups.

        Parameters
        ----------
        groups : sequence of CannotLinkGroups
            Instead of `cannot_link_groups`.

        Returns
        -------
        Constraints

        Examples
        --------
        >>> from mustlink import Constraints
        >>> groups = Constraints.from_groups([1, 1, 1, 2]).cannot_link_groups
        >>> Constraints(must_link=[(0, 3)]).with_groups(groups)
        Constraints(1 must-link, 3 cannot-links in 1 group)
        """
        links = object.__new__(Constraints)
        links._store(self._pairs, self._weight, self._n_must, groups, self._n_rows)
        return links

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        ids: Sequence[Any] | None = None,
        contradictions: Contradictions = "raise",
        unknown_ids: UnknownIds = "raise",
    ) -> Constraints:
        """Build constraints from a data frame.

        Parameters
        ----------
        frame : pandas or polars DataFrame, or mapping of columns
            With the columns a, b, link (must/cannot or 1/-1) and optionally weight (1 where it is missing).
        ids : sequence, default=None
            The id of every row of the table, if the links refer to ids; row numbers if None. Whole numbers match
            whether they are written as 1 or as 1.0.
        contradictions : {"raise", "majority", "keep"}, default="raise"
            As for the class.
        unknown_ids : {"raise", "skip"}, default="raise"
            How to treat a link with an id that is not among `ids`. With "skip" it is left out, and a
            SkippedLinksWarning says how many were.

        Returns
        -------
        Constraints

        See Also
        --------
        to_frame : The links as such a frame.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> answers = {"a": ["u1", "u1"], "b": ["u2", "u3"], "link": ["must", "cannot"]}
        >>> Constraints.from_frame(answers, ids=["u1", "u2", "u3"]).cannot_link
        array([[0, 2]])
        """
        from mustlink.tables import read_links

        if isinstance(frame, str | os.PathLike):
            raise TypeError(f"{frame} is a path; read a file of links with Constraints.read.")
        return cls._from_links(_warn_of_skipped(read_links(frame, ids, unknown_ids=unknown_ids)), contradictions, ids)

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        ids: Sequence[Any] | None = None,
        contradictions: Contradictions = "raise",
        unknown_ids: UnknownIds = "raise",
    ) -> Constraints:
        """Read links from a file.

        Parameters
        ----------
        path : path-like
            CSV or TSV in UTF-8, plain or gzip, ``.xlsx`` or ``.parquet``, with a header and the columns a, b, link
            (must/cannot or 1/-1) and optionally weight (1 where it is empty). Commas, semicolons or tabs separate the
            cells of text; weights may have a decimal comma where commas do not separate.
        ids : sequence, default=None
            The id of every row of the table, if the links refer to ids; if None they are row numbers from 0.
        contradictions : {"raise", "majority", "keep"}, default="raise"
            As for the class.
        unknown_ids : {"raise", "skip"}, default="raise"
            How to treat a link with an id that is not among `ids`, as for :meth:`from_frame`.

        Returns
        -------
        Constraints

        Raises
        ------
        FileFormatError, ConstraintError
            With the file and the line.

        See Also
        --------
        write : Write such a file.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> from mustlink.datasets import make_customers, sample_paths
        >>> ids = [row[0] for row in make_customers().rows]
        >>> Constraints.read(sample_paths().links, ids=ids)
        Constraints(24 must-links, 16 cannot-links)
        """
        from mustlink.tables import read_links

        return cls._from_links(_warn_of_skipped(read_links(path, ids, unknown_ids=unknown_ids)), contradictions, ids)

    @classmethod
    def _from_links(cls, links: LinkList, contradictions: Contradictions, ids: Sequence[Any] | None) -> Constraints:
        """Make constraints of the links of a file or frame, with their places in the messages."""
        try:
            return cls.from_pairs(
                np.array([(link.a, link.b) for link in links], dtype=np.int64),
                [1 if link.is_must else -1 for link in links],
                [link.weight for link in links],
                contradictions=contradictions,
            )
        except ConstraintError as error:
            if not error.pairs:
                raise
            raise name_places(error, links, ids) from None

    @classmethod
    def sample(
        cls,
        y: ArrayLike,
        n_pairs: int | None = None,
        *,
        balanced: bool = True,
        labeled_fraction: float | None = None,
        noise: float = 0.0,
        missing: object = -1,
        random_state: Any = None,
    ) -> Constraints:
        """Sample links from known classes, by the protocols of the papers.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            The classes.
        n_pairs : int, default=None
            Number of distinct pairs to draw.
        balanced : bool, default=True
            Half must-links and half cannot-links (one more must-link if the number is odd); otherwise random pairs,
            each linked according to the classes, most of them cannot-links where there are many classes.
        labeled_fraction : float, default=None
            Instead of `n_pairs`: draw this fraction of the rows and use every pair of them.
        noise : float, default=0
            Fraction of the links, of both kinds alike, that is flipped to the other kind.
        missing : object, default=-1
            A further marker of an unknown class, as of :meth:`from_labels`. Rows of unknown class are never drawn.
        random_state : int, RandomState or None, default=None
            Pass an int for reproducible results.

        Returns
        -------
        Constraints

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints.sample([0, 0, 0, 1, 1, 1], n_pairs=4, random_state=0)
        Constraints(2 must-links, 2 cannot-links)
        """
        return cls(*draw_links(y, n_pairs, balanced, labeled_fraction, noise, missing, random_state))

    def to_frame(self, ids: Sequence[Any] | None = None) -> Any:
        """Return the links as a data frame.

        Parameters
        ----------
        ids : sequence, default=None
            The id of every row of the table, to name rows by; their numbers if None.

        Returns
        -------
        pandas.DataFrame
            With the columns a, b, link (must or cannot) and weight.

        See Also
        --------
        from_frame : Constraints from such a frame.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints(must_link=[(0, 2)], cannot_link=[(1, 2)]).to_frame(ids=["u1", "u2", "u3"])
            a   b    link  weight
        0  u1  u3    must     1.0
        1  u2  u3  cannot     1.0
        """
        import pandas as pd

        return pd.DataFrame(link_columns(self, ids))

    def write(self, path: str | os.PathLike[str], *, ids: Sequence[Any] | None = None) -> None:
        """Write the links to a CSV file, atomically.

        Parameters
        ----------
        path : path-like
            The file, .csv, .tsv (with tabs) or .txt; compressed if its name ends in .gz as well. For Excel and Parquet
            write :meth:`to_frame`.
        ids : sequence, default=None
            The id of every row of the table, to name rows by; their numbers if None.

        Raises
        ------
        FileFormatError
            For any other suffix.

        See Also
        --------
        read : Read such a file.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from mustlink import Constraints
        >>> links, ids = Constraints(must_link=[(0, 1)]), ["ann", "bob"]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "links.csv"
        ...     links.write(path, ids=ids)
        ...     print(path.read_text())
        ...     Constraints.read(path, ids=ids) == links
        a,b,link,weight
        ann,bob,must,1.0
        <BLANKLINE>
        True
        """
        from mustlink.tables import write_links

        write_links(path, zip(*link_columns(self, ids).values(), strict=True))

    # ---- the value ---------------------------------------------------------------------------------------------

    @property
    def must_link(self) -> NDArray[np.int64]:
        """The pairs that belong to one cluster."""
        return self._pairs[: self._n_must]

    @property
    def cannot_link(self) -> NDArray[np.int64]:
        """The pairs that belong to different clusters."""
        return self.pairs[self._n_must :]

    @property
    def must_link_weight(self) -> NDArray[np.float64]:
        """The weights of the must-links."""
        return self._weight[: self._n_must]

    @property
    def cannot_link_weight(self) -> NDArray[np.float64]:
        """The weights of the cannot-links."""
        return self.weight[self._n_must :]

    @property
    def cannot_link_groups(self) -> tuple[CannotLinkGroups, ...]:
        """Groups of rows that all have cannot-links between them."""
        return self._groups

    @property
    def pairs(self) -> NDArray[np.int64]:
        """All pairs, must-links first."""
        return self._with_list()._pairs

    @property
    def sign(self) -> NDArray[np.int8]:
        """The kind of each of `pairs`: 1 for a must-link, -1 for a cannot-link."""
        return self._with_list()._sign

    @property
    def weight(self) -> NDArray[np.float64]:
        """The weight of each of `pairs`."""
        return self._with_list()._weight

    @property
    def n_must_links(self) -> int:
        """The number of must-links."""
        return self._n_must

    @property
    def n_cannot_links(self) -> int:
        """The number of cannot-links, counted without a list of those of groups."""
        if self._n_cannot is None:
            listed = self._pairs[self._n_must :]
            self._n_cannot = len(listed) - int(in_any(self._groups, listed).sum()) + count_pairs(self._groups)
        return self._n_cannot

    @property
    def _n_listed(self) -> int:
        """The number of pairs of groups in a list of them, a pair in several groups counted several times."""
        return sum(one.n_pairs for one in self._groups)

    def expand(self, max_pairs: int = MAX_LISTED_PAIRS) -> Constraints:
        """Return the links with the pairs of groups listed.

        Parameters
        ----------
        max_pairs : int, default=5_000_000
            The most cannot-links that are listed.

        Returns
        -------
        Constraints
            The same links without groups. A pair that is also linked by itself has the weights added.

        Raises
        ------
        TooLargeError
            If the groups have more pairs, with their number.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints.from_groups([1, 1, 1, 2]).expand()
        Constraints(0 must-links, 3 cannot-links)
        """
        if not self._groups:
            return self
        n_pairs = self._n_listed
        if n_pairs > max_pairs:
            raise TooLargeError(
                f"{name_size(self._groups)} are {count(n_pairs, 'cannot-link')}, and at most {max_pairs:,} are listed",
                remedy="groups_method",
            )
        inside = [one.pairs() for one in self._groups]
        weights = [np.full(one.n_pairs, one.weight) for one in self._groups]
        return Constraints(
            self.must_link,
            np.concatenate([self._pairs[self._n_must :], *inside]),
            must_link_weight=self.must_link_weight,
            cannot_link_weight=np.concatenate([self._weight[self._n_must :], *weights]),
            contradictions="keep",
        )

    def excerpt(self, max_pairs: int = MAX_LISTED_PAIRS) -> Constraints:
        """Return the links with the pairs of groups listed, or only some of these pairs if there are too many.

        Parameters
        ----------
        max_pairs : int, default=5_000_000
            The most cannot-links of groups that are listed.

        Returns
        -------
        Constraints
            Without groups: something to show, not to cluster by.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints.from_groups([1] * 100_000).excerpt(max_pairs=10)
        Constraints(0 must-links, 10 cannot-links)
        """
        if self._n_listed <= max_pairs:
            return self._with_list()
        fewer = [one.first_pairs(max_pairs // len(self._groups)) for one in self._groups]
        return self.with_groups([one for one in fewer if one is not None]).expand(max_pairs)

    def split_groups(self) -> tuple[Constraints, Constraints]:
        """Split off the groups whose rows are in no other link.

        Returns
        -------
        alone : Constraints
            These groups. The rows of one can be placed without regard to any other link.
        others : Constraints
            The other links, those of other groups among them.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> links = Constraints(must_link=[(0, 4)]) + Constraints.from_groups([1, 1, 2, 2, 2, 1])
        >>> alone, others = links.split_groups()
        >>> alone, others
        (Constraints(0 must-links, 0 cannot-links), Constraints(1 must-link, 6 cannot-links in 2 groups))
        """
        alone, others = split_alone(self)
        return Constraints().with_groups(alone), others

    def without_groups(self) -> Constraints:
        """Return the links that were given as pairs, without those of groups.

        Returns
        -------
        Constraints

        Examples
        --------
        >>> from mustlink import Constraints
        >>> links = Constraints(must_link=[(0, 3)]) + Constraints.from_groups([1, 1, 1, 2])
        >>> links.without_groups()
        Constraints(1 must-link, 0 cannot-links)
        """
        return self.with_groups(()) if self._groups else self

    def _with_list(self) -> Constraints:
        """Return the links with the pairs of groups listed; computed once."""
        if not self._groups:
            return self
        if self._listed is None:
            self._listed = self.expand()
        return self._listed

    @property
    def is_empty(self) -> bool:
        """Whether there is no pair at all."""
        return not (len(self._pairs) or self._groups)

    @property
    def shape(self) -> NoShape:
        """Not available: pairs are not aligned with rows, and cross-validation that asks is told so."""
        return NoShape()

    def __len__(self) -> int:
        return self.n_must_links + self.n_cannot_links

    def __repr__(self) -> str:
        n_groups = sum(len(one.names) for one in self._groups)
        some = ", some" if len(self._pairs) > self._n_must else ""
        inside = f"{some} in {count(n_groups, 'group')}" if n_groups else ""
        return (
            f"Constraints({count(self.n_must_links, 'must-link')}, {count(self.n_cannot_links, 'cannot-link')}{inside})"
        )

    def _repr_html_(self) -> str:
        return constraints_html(self)

    def _state(self) -> tuple[NDArray[Any], ...]:
        """Return the links as they are kept; the names of groups are not part of the value."""
        groups = [array for one in self._groups for array in (one.rows, one.code, np.array([one.weight]))]
        return self._pairs, self._weight, self._sign, *groups

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constraints):
            return NotImplemented
        mine, yours = self._state(), other._state()
        if len(mine) == len(yours) and all(map(np.array_equal, mine, yours)):
            return True
        # Groups and the list of their pairs are the same links.
        if not (self._groups or other._groups) or len(self) != len(other):
            return False
        if max(self._n_listed, other._n_listed) <= MAX_LISTED_PAIRS:
            return self.expand() == other.expand()
        musts = ((self.must_link, other.must_link), (self.must_link_weight, other.must_link_weight))
        cannots = [(one._pairs[one._n_must :], one._weight[one._n_must :], one._groups) for one in (self, other)]
        return all(np.array_equal(*one) for one in musts) and same_weights(*zip(*cannots, strict=True))

    def __hash__(self) -> int:
        # The same for groups and for the list of their pairs.
        return hash((self.must_link.tobytes(), self.must_link_weight.tobytes(), self.n_cannot_links))

    def __reduce__(self) -> tuple[Any, ...]:
        n_must = self._n_must
        pairs, weight = self._pairs, self._weight
        return _rebuild, (pairs[:n_must], weight[:n_must], pairs[n_must:], weight[n_must:], self._groups, self._n_rows)

    def __add__(self, other: object) -> Constraints:
        return self.add(other) if isinstance(other, Constraints) else NotImplemented

    def add(self, other: Constraints, *, contradictions: Contradictions = "raise") -> Constraints:
        """Return these links and others together, as ``+`` does.

        Parameters
        ----------
        other : Constraints
            The other links.
        contradictions : {"raise", "majority", "keep"}, default="raise"
            As for the class. A pair that one of the two already has both ways is not refused.

        Returns
        -------
        Constraints

        Examples
        --------
        >>> from mustlink import Constraints
        >>> links, labels = Constraints(cannot_link=[(0, 1)]), Constraints.from_labels([7, 7, -1])
        >>> links.add(labels, contradictions="keep").conflicts()[0].chain
        (0, 1)
        """
        together = Constraints.from_pairs(
            np.concatenate([self._pairs, other._pairs]),
            np.concatenate([self._sign, other._sign]),
            np.concatenate([self._weight, other._weight]),
            contradictions="keep" if contradictions == "raise" else contradictions,
        ).with_groups([*self._groups, *other._groups])
        lengths = {self._n_rows, other._n_rows} - {None}
        if len(lengths) > 1:
            raise ConstraintError(
                f"The columns of groups have {self._n_rows:,} and {other._n_rows:,} entries; both need one group per "
                "row of the table."
            )
        together._n_rows = lengths.pop() if lengths else None
        if contradictions == "majority" and together._linked_both_ways():
            # One pair fewer, and a group is no longer one.
            return self.expand().add(other.expand(), contradictions=contradictions)
        if contradictions == "raise":
            accepted = {*self._linked_both_ways(), *other._linked_both_ways()}
            new = [pair for pair in together._linked_both_ways() if pair not in accepted]
            if new:
                _refuse_contradictions(np.array(new), "majority_of_sum")
        return together

    def _linked_both_ways(self) -> list[tuple[int, int]]:
        """Return the pairs that have both links."""
        must, listed = self.must_link, self._pairs[self._n_must :]
        is_both = in_any(self._groups, must)
        is_both[in_both(must, listed)[0]] = True
        return to_tuples(must[is_both])

    # ---- rows --------------------------------------------------------------------------------------------------

    def check_rows(self, n_samples: int) -> None:
        """Raise ConstraintError if a pair refers to a row outside a table of n_samples rows.

        Parameters
        ----------
        n_samples : int
            The number of rows.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints(must_link=[(0, 5)]).check_rows(5)
        Traceback (most recent call last):
            ...
        mustlink.errors.ConstraintError: A must-link names the rows 0 and 5, but the table has 5 rows, numbered 0 to 4.
        """
        n_samples = as_count(n_samples, "n_samples")
        if self._n_rows is not None and self._n_rows != n_samples:
            raise ConstraintError(
                f"The column of groups has {count(self._n_rows, 'entry', 'entries')}, but the table has "
                f"{count(n_samples, 'row')}; give one group per row of the table."
            )
        for kind, pairs in (("must-link", self.must_link), ("cannot-link", self._pairs[self._n_must :])):
            outside = np.flatnonzero(pairs[:, 1] >= n_samples)
            if outside.size:
                raise ConstraintError(
                    f"A {kind} names the rows {name_pair(pairs[outside[0]])}, but the table has "
                    f"{name_rows(n_samples)}.",
                    to_tuples(pairs[outside]),
                )
        for one in self._groups:
            if one.rows[-1] >= n_samples:
                raise ConstraintError(
                    f"The group {one.names[one.code[-1]]!s} has the row {one.rows[-1]}, but the table has "
                    f"{name_rows(n_samples)}; give one group per row of the table."
                )

    def _check_table(self, n_samples: int) -> None:
        """Check the rows, and refuse a table for which an entry per row takes too much memory."""
        self.check_rows(n_samples)
        if n_samples > MAX_TABLE_ROWS:
            raise TooLargeError(
                f"One entry for each of {n_samples:,} rows is needed, and at most {MAX_TABLE_ROWS:,} rows are allowed; "
                "number the linked rows without gaps with links.compact()."
            )

    def on(self, n_samples: int) -> AlignedConstraints:
        """Return the links aligned with the rows of a table, for cross-validation.

        Parameters
        ----------
        n_samples : int
            The number of rows of the table.

        Returns
        -------
        AlignedConstraints

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints(must_link=[(0, 1)]).on(4)[[1, 0]]
        Constraints(1 must-link, 0 cannot-links) on 2 rows
        """
        return AlignedConstraints(self, n_samples)

    def constrained_rows(self) -> NDArray[np.int64]:
        """Return the rows that occur in a link, in ascending order.

        Returns
        -------
        ndarray of shape (n_constrained,)

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints(must_link=[(7, 2)], cannot_link=[(2, 4)]).constrained_rows()
        array([2, 4, 7])
        """
        return np.unique(np.concatenate([self._pairs.ravel(), *(one.rows for one in self._groups)]))

    def take(self, chosen: ArrayLike) -> Constraints:
        """Return some of the links, with their weights.

        Parameters
        ----------
        chosen : array-like of bool, shape (n_links,), or of int
            A mask over `pairs`, or positions in it; the order of positions and repeated ones do not matter.

        Returns
        -------
        Constraints

        Examples
        --------
        >>> from mustlink import Constraints
        >>> links = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 3)])
        >>> links.take([True, False, True])
        Constraints(1 must-link, 1 cannot-link)
        """
        mask = np.asarray(chosen)
        if mask.dtype != bool:
            positions, mask = mask, np.zeros(len(self), dtype=bool)
            mask[positions if positions.size else np.empty(0, dtype=np.intp)] = True
        if mask.shape != (len(self),):
            raise ValueError(f"The mask must have one entry per link, {len(self):,} in all; got {mask.shape}.")
        taken = object.__new__(Constraints)
        # The order is kept, so the pairs stay sorted and need no second check.
        taken._store(self.pairs[mask], self.weight[mask], int(mask[: self._n_must].sum()))
        return taken

    def compact(self) -> tuple[NDArray[np.intp], Constraints]:
        """Return the linked rows, and the links numbered by the positions of their rows among them.

        Returns
        -------
        rows : ndarray of shape (n_constrained,)
            The rows that occur in a link, in ascending order.
        links : Constraints
            The same links in the same order, between positions in `rows`.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> rows, links = Constraints(must_link=[(7, 2)], cannot_link=[(2, 4)]).compact()
        >>> rows, links.must_link
        (array([2, 4, 7]), array([[0, 2]]))
        """
        rows = self.constrained_rows().astype(np.intp)
        local = object.__new__(Constraints)
        # The order of rows is kept, so the pairs stay sorted and need no second check.
        local._store(
            np.searchsorted(rows, self._pairs).astype(np.int64),
            self._weight,
            self._n_must,
            [replace(one, rows=np.searchsorted(rows, one.rows).astype(np.int64)) for one in self._groups],
        )
        return rows, local

    # ---- the links as a graph ----------------------------------------------------------------------------------

    def adjacency(self, n_samples: int) -> LinkGraph:
        """Return the links of every row, with the number of each link.

        Parameters
        ----------
        n_samples : int
            The number of rows.

        Returns
        -------
        LinkGraph
            In compressed sparse row form; every link appears from both ends.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints(must_link=[(0, 1)], cannot_link=[(1, 2)]).adjacency(3).neighbors
        array([1, 0, 2, 1])
        """
        self._check_table(n_samples)
        return LinkGraph.of(self, n_samples)

    def signed(self, n_samples: int) -> csr_array:
        """Return the links as a symmetric matrix: the weight of a must-link, minus the weight of a cannot-link.

        Parameters
        ----------
        n_samples : int
            The number of rows.

        Returns
        -------
        csr_array of shape (n_samples, n_samples)

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints(must_link=[(0, 1)], cannot_link=[(1, 2)]).signed(3).toarray()
        array([[ 0.,  1.,  0.],
               [ 1.,  0., -1.],
               [ 0., -1.,  0.]])
        """
        self._check_table(n_samples)
        return symmetric_csr(self.pairs, self.sign * self.weight, n_samples)

    # ---- what follows from the pairs ---------------------------------------------------------------------------

    def components(self, n_samples: int) -> NDArray[np.intp]:
        """Number the must-link components.

        Parameters
        ----------
        n_samples : int
            The number of rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The component of every row, numbered in the order of their first rows.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints(must_link=[(0, 2)]).components(4)
        array([0, 1, 0, 2])
        """
        self._check_table(n_samples)
        return connected_nodes(self.must_link, n_samples)

    def closure(self, n_samples: int) -> Closure:
        """Compute the entailed constraints in implicit form.

        Parameters
        ----------
        n_samples : int
            The number of rows.

        Returns
        -------
        Closure

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints(must_link=[(0, 1)], cannot_link=[(1, 3)]).closure(4).n_components
        3
        """
        self._check_table(n_samples)
        return Closure.of(self, n_samples)

    def conflicts(self) -> Conflicts:
        """List the cannot-links whose two rows must-links join.

        Returns
        -------
        sequence of Conflict
            Each with the shortest chain of must-links that causes it.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> links = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2), (0, 3)])
        >>> [conflict.cannot_link for conflict in links.conflicts()]
        [(0, 2)]
        """
        return find_conflicts(self)

    def feasible(self, n_clusters: int, n_samples: int, *, budget: int = DEFAULT_BUDGET) -> Feasibility:
        """Decide whether some clustering into n_clusters non-empty clusters satisfies all links.

        Parameters
        ----------
        n_clusters : int
            The number of clusters.
        n_samples : int
            The number of rows.
        budget : int, default=20_000_000
            Maximum number of search steps, where no quicker test decides.

        Returns
        -------
        Feasibility
            With the answer True, False, or None if the budget ran out, and a reason.

        Notes
        -----
        With cannot-links and three or more clusters the question is graph coloring, which is NP-complete.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> print(Constraints(cannot_link=[(0, 1), (1, 2), (2, 0)]).feasible(2, 3).reason)
        Two clusters cannot satisfy a cycle of 3 cannot-links, an odd number: 0 - 2 - 1 - 0.
        """
        n_clusters = as_count(n_clusters, "n_clusters", least=1)
        self.check_rows(n_samples)
        return decide_for_table(self, n_clusters, n_samples, budget)

    # ---- agreement with a clustering --------------------------------------------------------------------------------

    def satisfied(self, labels: ArrayLike) -> NDArray[np.bool_]:
        """Return which pairs a clustering satisfies.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            Cluster labels. The label -1 is noise, and a noise row is in one cluster with no other row.

        Returns
        -------
        ndarray of shape (n_pairs,)
            In the order of `pairs`.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints(must_link=[(0, 1)], cannot_link=[(0, 2)]).satisfied([5, 5, 5])
        array([ True, False])
        """
        array, is_noise = self._check_labels(labels)
        together = [
            (array[pairs[:, 0]] == array[pairs[:, 1]]) & ~is_noise[pairs[:, 0]]
            for pairs in (self.must_link, self.cannot_link)
        ]
        return np.concatenate([together[0], ~together[1]])

    def _check_labels(self, labels: ArrayLike) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return labels of all rows that links name, and which of them are noise."""
        array = np.asarray(labels)
        if array.ndim != 1:
            raise ValueError(f"Labels must be one per row, an array of one dimension; got {array.ndim}.")
        self.check_rows(len(array))
        is_noise = array == NOISE_LABEL if array.dtype.kind in "ifO" else np.zeros(len(array), dtype=bool)
        return array, is_noise

    def violations(self, labels: ArrayLike) -> Constraints:
        """Return the pairs that a clustering violates.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            Cluster labels.

        Returns
        -------
        Constraints
            Of a group, the rows that share a cluster, as groups.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints(must_link=[(0, 1)], cannot_link=[(0, 2)]).violations([5, 5, 5]).cannot_link
        array([[0, 2]])
        """
        pairs = self.without_groups()
        broken = pairs.take(~pairs.satisfied(labels))
        if not self._groups:
            return broken
        array, is_noise = self._check_labels(labels)
        cluster = np.where(is_noise, -1, np.unique(array, return_inverse=True)[1])
        split = [one.cross(cluster[one.rows]) for one in self._groups]
        return broken.with_groups([one for one in split if one is not None])

    def violation_rate(self, labels: ArrayLike) -> float:
        """Return the fraction of the pairs that a clustering violates, 0 without pairs.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            Cluster labels.

        Returns
        -------
        float

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints(must_link=[(0, 1)], cannot_link=[(0, 2)]).violation_rate([5, 5, 5])
        0.5
        """
        n_links = len(self)
        return len(self.violations(labels)) / n_links if n_links else 0.0

    def informativeness(self, labels: ArrayLike) -> float:
        """Return the fraction of the pairs that an unconstrained clustering violates.

        Pairs that the plain clusterer satisfies by itself carry no new information (Davidson, Wagstaff and Basu 2006).

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            Labels found without constraints.

        Returns
        -------
        float
            Between 0 and 1; NaN without pairs.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> Constraints(must_link=[(0, 1)], cannot_link=[(0, 2)]).informativeness([0, 1, 2])
        0.5
        """
        return self.violation_rate(labels) if len(self) else float("nan")

    def coherence(self, X: Any, *, max_links: int = 5_000, random_state: Any = 0) -> float:
        """Return the fraction of (must-link, cannot-link) combinations that are coherent in space.

        A must-link and a cannot-link are incoherent if, as segments between their points, the projection of one onto
        the line of the other overlaps it (Davidson, Wagstaff and Basu 2006).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The points.
        max_links : int, default=5000
            Maximum number of links of each kind that are compared, drawn at random.
        random_state : int, RandomState or None, default=0
            Seed of that draw.

        Returns
        -------
        float
            Between 0 and 1; NaN if one kind is absent.

        Notes
        -----
        The paper finds that sets with high informativeness and high coherence tend to help. On the tables that we
        measured, correct links and links of which half are wrong have the same coherence, often close to 0, and it
        depends on the table more than on the links. Compare it with that of random links between the same rows.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> X = [[0.0, 0.0], [1.0, 0.0], [5.0, 5.0], [5.0, 6.0]]
        >>> Constraints(must_link=[(0, 1)], cannot_link=[(2, 3)]).coherence(X)
        1.0
        """
        from sklearn.utils import check_array

        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
        self.check_rows(X.shape[0])
        return coherence(X, self, max_links, random_state)


def _warn_of_skipped(links: LinkList) -> LinkList:
    """Say how many links were skipped, if any."""
    if links.n_skipped:
        warn_caller(links.skipped_notice, SkippedLinksWarning)
    return links


def _refuse_contradictions(pairs: NDArray[np.int64], remedy: str = "majority") -> NoReturn:
    rows = f"Rows {name_pair(pairs[0])} are" if len(pairs) == 1 else f"The pairs {name_pairs(pairs)} are"
    raise ConstraintError(
        f"{rows} given both as must-link and as cannot-link",
        to_tuples(pairs),
        remedy=("drop_side", remedy),
    )


def _rebuild(
    must_link: NDArray[np.int64],
    must_link_weight: NDArray[np.float64],
    cannot_link: NDArray[np.int64],
    cannot_link_weight: NDArray[np.float64],
    groups: Sequence[CannotLinkGroups] = (),
    n_rows: int | None = None,
) -> Constraints:
    """Rebuild the value from its pickled parts."""
    links = Constraints(
        must_link,
        cannot_link,
        must_link_weight=must_link_weight,
        cannot_link_weight=cannot_link_weight,
        contradictions="keep",
    ).with_groups(groups)
    links._n_rows = n_rows
    return links

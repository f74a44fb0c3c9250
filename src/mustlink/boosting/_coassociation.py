"""The weighted co-association of several clusterings, stored as the table of their labels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator

from mustlink._codes_kernels import group_rows
from mustlink._eigen import leading_eigenpairs
from mustlink._numbering import number_by_first
from mustlink._types import Array, Floats, Ints
from mustlink.base import check_fits
from mustlink.boosting._coassociation_kernels import (
    add_to_columns,
    cluster_masses,
    connect_codes,
    count_together,
    mark_labels,
    sum_table_rows,
)
from mustlink.boosting._code_kmeans import best_of_starts

__all__ = ["CoAssociation"]

NOISE_LABEL = -1
MAX_DENSE_ROWS = 5_000
MAX_DENSE_COLUMNS = 3_000


class CoAssociation:
    """Weighted co-association matrix of several clusterings, in implicit form.

    The matrix K_ij = sum_t weight_t [i and j have the same label in round t] is never built. The table of labels, one
    column per round, is stored in the smallest integers that hold them; a row of it is called a code.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_rounds)
        The labels of every row in every round: integers, in any numbering. The label -1 is noise: such a row is
        apart from all others in that round.
    weights : array-like of shape (n_rounds,), default=None
        The weight of each round, finite and not negative; ones if None.

    Attributes
    ----------
    codes : ndarray of shape (n_samples, n_rounds)
        The labels renumbered from 0 in every round, in the order of the labels given; -1 stays.
    weights : ndarray of shape (n_rounds,)
        The weights.
    names : list of ndarray
        For every round, the label given for each number in `codes`.

    See Also
    --------
    BoostCluster : Builds one, and clusters it.

    Notes
    -----
    Let B have one column per label of every round, with sqrt(weight) where the row has that label. Then K = B B'
    (plus, for noise, a diagonal). Its eigenvectors come from the small matrix B'B, and kernel k-means on K is
    k-means on the rows of B. Rows with equal codes are one row with a weight.

    Examples
    --------
    >>> from mustlink.boosting import CoAssociation
    >>> kernel = CoAssociation([[0, 1], [0, 0], [1, 0]], weights=[2.0, 0.5])
    >>> kernel.at([(0, 1), (1, 2), (0, 2)])
    array([2. , 0.5, 0. ])
    >>> kernel.toarray()
    array([[2.5, 2. , 0. ],
           [2. , 2.5, 0.5],
           [0. , 0.5, 2.5]])
    """

    def __init__(self, codes: ArrayLike, weights: ArrayLike | None = None) -> None:
        table = np.asarray(codes)
        if table.ndim != 2 or table.dtype.kind not in "iub":
            raise ValueError(
                "codes must be a table of integers, one row per row and one column per round; got an array of "
                f"shape {table.shape} and type {table.dtype}."
            )
        self._build([table[:, t] for t in range(table.shape[1])], len(table), weights)

    @classmethod
    def from_labels(cls, labels: Sequence[ArrayLike], weights: ArrayLike | None = None) -> CoAssociation:
        """Build the co-association from one label array per round.

        Parameters
        ----------
        labels : sequence of array-like of shape (n_samples,)
            Integer labels, one array per round, at least one.
        weights : array-like of shape (n_rounds,), default=None
            The weight of each round; ones if None.

        Returns
        -------
        CoAssociation

        Examples
        --------
        >>> from mustlink.boosting import CoAssociation
        >>> CoAssociation.from_labels([[7, 7, 9], [0, 1, 1]]).codes
        array([[0, 0],
               [0, 1],
               [1, 1]], dtype=int8)
        """
        columns = [np.asarray(column) for column in labels]
        if not columns:
            raise ValueError("At least one label array is needed.")
        for t, column in enumerate(columns):
            if column.shape != (len(columns[0]),) or column.dtype.kind not in "iub":
                raise ValueError(
                    f"The labels of every round must be {len(columns[0])} integers, as many as in the first; round "
                    f"{t} has an array of shape {column.shape} and type {column.dtype}."
                )
        kernel = cls.__new__(cls)
        kernel._build(columns, len(columns[0]), weights)
        return kernel

    def _build(self, columns: list[Array], n_samples: int, weights: ArrayLike | None) -> None:
        """Renumber the labels of every round and keep them in the smallest type."""
        per_round = np.ones(len(columns)) if weights is None else np.array(weights, dtype=np.float64)
        if per_round.shape != (len(columns),) or not (np.isfinite(per_round).all() and (per_round >= 0).all()):
            raise ValueError(
                f"weights must be {len(columns)} finite numbers, one per round, none of them negative; got "
                f"{per_round!r}."
            )
        self.names = [label_names(column) for column in columns]
        most = max((len(names) for names in self.names), default=0)
        self.codes = np.empty((n_samples, len(columns)), dtype=np.min_scalar_type(-max(most, 1)))
        for t, column in enumerate(columns):
            self.codes[:, t] = renumber(column, self.names[t])
        self.weights = per_round
        self.row_weight = np.ones(n_samples)
        self.offsets = np.concatenate([[0], np.cumsum([len(names) for names in self.names])]).astype(np.int64)

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return len(self.codes)

    @property
    def n_rounds(self) -> int:
        """The number of clusterings."""
        return len(self.weights)

    @cached_property
    def column_weight(self) -> Floats:
        """The weight of the round that each (round, label) column belongs to."""
        return np.repeat(self.weights, np.diff(self.offsets))

    @cached_property
    def noise_weight(self) -> Floats:
        """The summed weight of the rounds in which each row is noise."""
        is_noise = self.codes < 0
        return is_noise @ self.weights if is_noise.any() else np.zeros(self.n_samples)

    def with_codes(self, codes: Array, row_weight: Floats | None = None) -> CoAssociation:
        """Return the co-association of other rows in the same rounds.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_rounds)
            Rows of `codes`, or those that :meth:`encode` returns for new rows.
        row_weight : ndarray of shape (n_rows,), default=None
            How many points each row represents in k-means; one if None.

        Returns
        -------
        CoAssociation
        """
        other = CoAssociation.__new__(CoAssociation)
        other.codes, other.weights, other.names, other.offsets = codes, self.weights, self.names, self.offsets
        other.row_weight = np.ones(len(codes)) if row_weight is None else row_weight
        return other

    def without_rows(self) -> CoAssociation:
        """Return the co-association of no rows, in the same rounds: enough to encode new ones.

        Returns
        -------
        CoAssociation
        """
        return self.with_codes(self.codes[:0])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CoAssociation):
            return NotImplemented
        return (
            np.array_equal(self.codes, other.codes)
            and np.array_equal(self.weights, other.weights)
            and all(np.array_equal(mine, yours) for mine, yours in zip(self.names, other.names, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"CoAssociation({self.n_samples} rows, {self.n_rounds} rounds, {self.offsets[-1]} labels)"

    def at(self, pairs: ArrayLike) -> Floats:
        """Return K at some pairs of rows.

        Parameters
        ----------
        pairs : array-like of shape (m, 2)
            Pairs of row numbers.

        Returns
        -------
        ndarray of shape (m,)
        """
        i, j = np.asarray(pairs, dtype=np.intp).reshape(-1, 2).T
        together = (self.codes[i] == self.codes[j]) & ((self.codes[i] >= 0) | (i == j)[:, None])
        return together @ self.weights

    def mean_similarity(self, groups: Sequence[Sequence[int]], codes: Array) -> Floats:
        """Return the mean co-association of some rows with the rows of each group.

        Noise is similar to no row, itself included.

        Parameters
        ----------
        groups : sequence of sequences of int
            The rows of each group; none is empty.
        codes : ndarray of shape (n_rows, n_rounds)
            The codes of the rows, as in `codes`.

        Returns
        -------
        ndarray of shape (n_rows, n_groups)
            The means.

        Examples
        --------
        >>> from mustlink.boosting import CoAssociation
        >>> kernel = CoAssociation([[0, 0], [0, 1], [1, 1]])
        >>> kernel.mean_similarity([[0, 1], [2]], kernel.codes[:1])
        array([[1.5, 0. ]])
        """
        sizes = np.array([len(group) for group in groups])
        rows = np.concatenate([np.asarray(group, dtype=np.intp) for group in groups])
        group_of = np.repeat(np.arange(len(groups)), sizes)
        counts = cluster_masses(self.codes[rows], self.offsets, group_of, np.ones(len(rows)), len(groups))
        return np.asarray(sum_table_rows(codes, self.offsets, counts * self.column_weight[:, None]) / sizes)

    def toarray(self) -> Floats:
        """Return K as an array, for pictures and small data.

        Returns
        -------
        ndarray of shape (n_samples, n_samples)

        Raises
        ------
        TooLargeError
            Above 5,000 rows.
        """
        shape, instead = (self.n_samples, self.n_samples), "use at, matvec or eigenvectors instead"
        check_fits("The co-association as an array", shape, MAX_DENSE_ROWS**2, instead)
        dense = np.diag(self.noise_weight)
        for t, weight in enumerate(self.weights):
            code = self.codes[:, t]
            dense += weight * ((code[:, None] == code) & (code >= 0))
        return dense

    def matvec(self, vectors: ArrayLike) -> Floats:
        """Multiply K with a vector or with several.

        Parameters
        ----------
        vectors : array-like of shape (n_samples,) or (n_samples, c)
            The factors.

        Returns
        -------
        ndarray of the same shape
        """
        given = np.asarray(vectors, dtype=np.float64)
        columns = np.ascontiguousarray(given.reshape(self.n_samples, -1))
        per_label = add_to_columns(self.codes, self.offsets, columns) * self.column_weight[:, None]
        product = sum_table_rows(self.codes, self.offsets, per_label) + self.noise_weight[:, None] * columns
        return product.reshape(given.shape)

    def distinct(self) -> tuple[Array, Ints, Ints]:
        """Return the distinct codes, in the order of their first rows.

        Returns
        -------
        codes : ndarray of shape (n_distinct, n_rounds)
            Each code once.
        inverse : ndarray of shape (n_samples,)
            The number of the code of every row.
        counts : ndarray of shape (n_distinct,)
            The number of rows with each code. Rows that share a code with noise are apart in the noise rounds.

        Examples
        --------
        >>> from mustlink.boosting import CoAssociation
        >>> codes, inverse, counts = CoAssociation([[0, 1], [1, 1], [0, 1]]).distinct()
        >>> counts
        array([2, 1])
        """
        first, inverse = group_rows(self.codes)
        return self.codes[first], inverse, np.bincount(inverse, minlength=len(first))

    def eigenvectors(self, n_components: int) -> tuple[Floats, Floats]:
        """Return the largest eigenvalues of K and their eigenvectors.

        Parameters
        ----------
        n_components : int
            The number of eigenvectors. There are fewer if K has a lower rank.

        Returns
        -------
        values : ndarray of shape (s,)
            In descending order, all positive.
        vectors : ndarray of shape (n_samples, s)
            The eigenvectors, of length one.

        Examples
        --------
        >>> from mustlink.boosting import CoAssociation
        >>> values, vectors = CoAssociation([[0], [0], [1]]).eigenvectors(2)
        >>> values.round(12)
        array([2., 1.])
        """
        values, table, vectors = self._spectrum(n_components)
        if vectors is None:
            vectors = sum_table_rows(self.codes, self.offsets, self._weighted(table)) / np.sqrt(values)
        return values, vectors

    def embed(self, n_components: int | None = None) -> Floats:
        """Return an embedding whose inner products are K, or its best approximation of a given rank.

        Parameters
        ----------
        n_components : int, default=None
            The number of coordinates; None takes as many as K has positive eigenvalues.

        Returns
        -------
        ndarray of shape (n_samples, s)
            The eigenvectors, each times the square root of its eigenvalue.
        """
        values, vectors = self.eigenvectors(self.n_samples if n_components is None else n_components)
        return vectors * np.sqrt(values)

    def principal_components(self, n_components: int = 2) -> tuple[Floats, Floats]:
        """Return the rows in the directions in which the clusterings differ most, as for a picture.

        Parameters
        ----------
        n_components : int, default=2
            The number of directions. There are fewer if the rows differ in fewer.

        Returns
        -------
        points : ndarray of shape (n_samples, s)
            The principal components of the rows in the space of K. Rows with the same code are at the same place; in a
            round in which a row is noise, it is at the origin of that round.
        explained : ndarray of shape (s,)
            The fraction of the variance along each of them.

        Examples
        --------
        >>> from mustlink.boosting import CoAssociation
        >>> points, explained = CoAssociation([[0, 0], [0, 0], [1, 0], [1, 0]], [1.0, 3.0]).principal_components()
        >>> points.round(2).ravel().tolist(), explained
        ([0.71, 0.71, -0.71, -0.71], array([1.]))
        """
        if n_components < 1:
            raise ValueError(f"n_components must be at least 1; got {n_components}.")
        n_columns = int(self.offsets[-1])
        root = np.sqrt(self.column_weight)
        counts = add_to_columns(self.codes, self.offsets, np.ones((self.n_samples, 1)))[:, 0]
        mean = counts * root / max(self.n_samples, 1)
        total = counts @ root**2 - self.n_samples * (mean @ mean)
        if not total > 1e-12 * (counts @ root**2):
            return np.zeros((self.n_samples, 0)), np.zeros(0)

        def multiply(vector: Floats) -> Floats:
            per_row = sum_table_rows(self.codes, self.offsets, (root * vector.ravel())[:, None])
            back = add_to_columns(self.codes, self.offsets, np.ascontiguousarray(per_row))[:, 0]
            return root * back - self.n_samples * (mean @ vector.ravel()) * mean

        if n_columns <= MAX_DENSE_COLUMNS:
            together = count_together(self.codes, self.offsets, np.ones(self.n_samples)) * root * root[:, None]
            matrix = together - self.n_samples * np.outer(mean, mean)
        else:
            matrix = LinearOperator((n_columns, n_columns), matvec=multiply, dtype=np.float64)
        values, vectors = leading_eigenpairs(matrix, min(n_components, n_columns), positive=True)
        points = sum_table_rows(self.codes, self.offsets, self._weighted(vectors)) - mean @ vectors
        return points, values / total

    def transform(self, labels: ArrayLike, n_components: int | None = None) -> Floats:
        """Embed new rows by their labels in the rounds.

        Parameters
        ----------
        labels : array-like of shape (n_new, n_rounds)
            Labels in the numbering that the co-association was made with. One that a round has not seen is noise.
        n_components : int, default=None
            As for :meth:`embed`.

        Returns
        -------
        ndarray of shape (n_new, s)
            For the rows of the co-association the same as :meth:`embed`, if no round has noise.
        """
        _, table, _ = self._spectrum(self.n_samples if n_components is None else n_components)
        return sum_table_rows(self.encode(labels), self.offsets, self._weighted(table))

    def encode(self, labels: ArrayLike) -> Array:
        """Renumber the labels of new rows as in `codes`; one that a round has not seen becomes noise.

        Parameters
        ----------
        labels : array-like of shape (n_new, n_rounds)
            Labels in the numbering that the co-association was made with.

        Returns
        -------
        ndarray of shape (n_new, n_rounds)
        """
        given = np.asarray(labels)
        if given.ndim != 2 or given.shape[1] != self.n_rounds:
            raise ValueError(f"labels must have {self.n_rounds} columns, one per round; got shape {given.shape}.")
        encoded = np.empty(given.shape, dtype=self.codes.dtype)
        for t, names in enumerate(self.names):
            encoded[:, t] = renumber(given[:, t], names)
        return encoded

    def _weighted(self, table: Floats) -> Floats:
        return np.ascontiguousarray(table * np.sqrt(self.column_weight)[:, None])

    def _spectrum(self, n_components: int) -> tuple[Floats, Floats, Floats | None]:
        """Return eigenvalues, the embedding of every (round, label) column, and the eigenvectors if computed.

        Without noise and with fewer labels than rows, everything comes from the small matrix B'B. Otherwise K is
        built if it is small, else Lanczos needs products with it only.
        """
        if n_components < 1:
            raise ValueError(f"n_components must be at least 1; got {n_components}.")
        n_columns = int(self.offsets[-1])
        if not self.noise_weight.any() and n_columns <= min(self.n_samples, MAX_DENSE_COLUMNS):
            root = np.sqrt(self.column_weight)
            small = count_together(self.codes, self.offsets, np.ones(self.n_samples)) * root * root[:, None]
            values, columns = leading_eigenpairs(small, n_components, positive=True)
            return values, columns, None
        is_small = self.n_samples <= MAX_DENSE_ROWS // 2 or n_components >= self.n_samples
        matrix = (
            self.toarray() if is_small else LinearOperator((self.n_samples,) * 2, matvec=self.matvec, dtype=np.float64)
        )
        values, vectors = leading_eigenpairs(matrix, n_components, positive=True)
        per_label = add_to_columns(self.codes, self.offsets, np.ascontiguousarray(vectors))
        return values, per_label * np.sqrt(self.column_weight)[:, None] / np.sqrt(values), vectors

    def kmeans(
        self,
        n_clusters: int,
        init_labels: ArrayLike | Sequence[ArrayLike],
        *,
        sample_weight: ArrayLike | None = None,
        max_iter: int = 300,
    ) -> tuple[Ints, float]:
        """Run kernel k-means on K, exactly, as k-means on the codes.

        Parameters
        ----------
        n_clusters : int
            The number of clusters.
        init_labels : array-like of shape (n_samples,), or a sequence of them
            Labels to start from; with several, the run with the lowest objective wins. Of a start with too many
            clusters the heaviest are taken; one with too few gets the rows that fit worst as new clusters.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of every row.
        max_iter : int, default=300
            The maximum number of iterations of a run.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The cluster of every row. Some numbers are missing if there are fewer distinct codes than clusters.
        objective : float
            The weighted sum of squared distances to the centers, in the space of K.

        Examples
        --------
        >>> from mustlink.boosting import CoAssociation
        >>> kernel = CoAssociation([[0, 0], [0, 0], [1, 0], [1, 1]])
        >>> labels, objective = kernel.kmeans(2, [0, 1, 1, 1])
        >>> labels, round(objective, 12)
        (array([0, 0, 1, 1]), 1.0)
        """
        if not 1 <= n_clusters <= self.n_samples:
            raise ValueError(f"n_clusters must be between 1 and the {self.n_samples} rows; got {n_clusters}.")
        rows = self
        if sample_weight is not None:
            weight = np.asarray(sample_weight, dtype=np.float64)
            if weight.shape != (self.n_samples,) or (weight < 0).any():
                raise ValueError(f"sample_weight must be {self.n_samples} numbers that are not negative.")
            rows = self.with_codes(self.codes, weight)
        first = np.asarray(init_labels[0]) if len(init_labels) else np.empty(0)  # type: ignore[arg-type, index]
        starts = [init_labels] if first.ndim == 0 else list(init_labels)  # type: ignore[arg-type]
        return best_of_starts(rows, n_clusters, starts, max_iter)

    def components(self, threshold: float) -> Ints:
        """Return the connected components of the graph in which K_ij > threshold joins two rows.

        Distinct codes are compared with each other, at worst all pairs of them, in linear memory.

        Parameters
        ----------
        threshold : float
            Rows with a larger entry are connected.

        Returns
        -------
        ndarray of shape (n_samples,)
            The component of every row, numbered in the order of their first rows.

        Examples
        --------
        >>> from mustlink.boosting import CoAssociation
        >>> CoAssociation([[0, 0], [0, 1], [1, 1], [2, 2]]).components(0.5)
        array([0, 0, 0, 1])
        """
        codes, inverse, _ = self.distinct()
        order = np.argsort(-self.weights, kind="stable")
        component = connect_codes(np.ascontiguousarray(codes[:, order]), self.weights[order], float(threshold))
        # Rows that share a code with noise may be too far apart to be joined directly. If another code joins theirs,
        # it joins all of them; otherwise each is a component of its own.
        loose = ((codes >= 0) @ self.weights <= threshold) & (np.bincount(component)[component] == 1)
        label = component[inverse]
        alone = np.flatnonzero(loose[inverse])
        label[alone] = len(codes) + np.arange(len(alone))
        return number_by_first(label, len(codes) + len(alone))[0].astype(np.int64)


def label_names(column: Array) -> Array:
    """Return the labels of one round in ascending order, without noise."""
    if column.size == 0:
        return column[:0]
    low, high = int(column.min()), int(column.max())
    if low >= NOISE_LABEL and high <= 4 * len(column) + 1024:
        present = np.zeros(high + 2, dtype=np.bool_)
        mark_labels(column, present)
        names = np.flatnonzero(present[: high + 1])
    else:
        names = np.unique(column)
    return names[names != NOISE_LABEL]


def renumber(column: Array, names: Array) -> Ints:
    """Replace every label by its place among the names, and by -1 if it is none of them."""
    if len(names) == 0:
        return np.full(len(column), NOISE_LABEL, dtype=np.int64)
    if names[0] == 0 and names[-1] == len(names) - 1:
        within = (column >= 0) & (column < len(names))
        return np.asarray(column if within.all() else np.where(within, column, NOISE_LABEL))
    place = np.minimum(np.searchsorted(names, column), len(names) - 1)
    return np.where(names[place] == column, place, NOISE_LABEL)

"""Supervised clustering of texts (TClus): categories that start from given ones and fit the words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mustlink._counts import as_counts, refuse_negative
from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink._spelling import count
from mustlink._types import Array, Floats, Indices, Ints, Mask
from mustlink._warnings import warn_caller
from mustlink.base import TableClusterMixin, check_table
from mustlink.blocks import blockwise
from mustlink.errors import OptionError
from mustlink.text._categories import (
    Category,
    GivenCategory,
    describe_categories,
    describe_given,
    heaviest_terms,
)
from mustlink.text._domination import Ranking, domination_blocks, rank_candidates
from mustlink.text._gini import choose_terms, normalized_gini
from mustlink.text._passes import Outcome, PassOptions, assign, run_passes
from mustlink.text._seeds import Damping, damp, normalize_rows, project, sum_rows, with_values
from mustlink.text._similarity import Queries
from mustlink.text._validation import read_given, refuse_texts, warn_of_empty, warn_of_small

__all__ = ["TaxonomyClusterer"]


class TaxonomyClusterer(TableClusterMixin, BaseEstimator):
    """Supervised text clustering (TClus).

    Given categories choose the terms and start one seed each. Documents, those without a category too, move to the
    most similar seed, and seeds become the sums of their documents, with fewer and fewer terms. Seeds that become alike
    are merged, and those with few documents are removed. What is left are the new categories: each is defined by its
    terms, and new documents are assigned by the same similarity.

    Parameters
    ----------
    min_df : int, default=2
        Terms in fewer documents are not used. The chapter has 7, for 167,193 documents.
    gini_drop : int or float, default=0.11
        How many of the other terms are dropped as noise, a number or a share: those whose normalized Gini index is the
        largest, which occur in all given categories alike.
    gini_max : float or None, default=None
        Terms with a larger index are dropped too. The index is 0 for a term of one category, and 1 - 1 / sqrt(k) for a
        term that is as frequent in all of k categories.
    words_init : int, default=500
        The number of terms of a seed after the first pass.
    words_final : int, default=200
        The number of terms of a seed at the end.
    theta : float, default=0.7
        By what factor the number of terms falls from pass to pass.
    merge_threshold : float, default=0.95
        Seeds with a larger cosine are merged; 1 or more is never.
    min_cluster_size : int, default=8
        Seeds with fewer documents are removed; their documents stay.
    outlier_threshold : float, default=0.0
        A document whose cosine to all seeds is smaller is an outlier from then on, as is one without a term in common
        with any seed.
    damping : {"log1p", "sqrt", "binary", "identity"}, default="log1p"
        What is applied to the counts of every document, so that one that repeats a term does not dominate a category.
    damp_queries : bool, default=True
        Whether documents are damped too where they are compared with seeds.
    use_idf : bool, default=False
        Whether the weight of a term is divided by the number of documents with it: the inverse itself, and not
        its logarithm.
    n_candidates : int, default=5
        The number of most similar categories that ``predict`` and ``rank`` compare with each other; 1 is the most
        similar alone.
    domination_threshold : float, default=0.025
        Candidates whose cosines differ by less are compared by the terms that the other has not.
    n_report : int, default=3
        The number of categories that ``rank`` returns for each document, at most `n_candidates`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The category of every document, that with the most similar seed; -1 for outliers.
    categories_ : list of Category
        The categories: names, terms with weights, documents, and how these were categorized.
    given_ : list of GivenCategory
        What became of each given category: kept, split, merged or killed.
    n_clusters_ : int
        The number of categories.
    classes_ : ndarray of shape (n_given,)
        The given categories.
    class_composition_ : ndarray of shape (n_clusters, n_given)
        The number of documents of every category and given category.
    seeds_ : csr_array of shape (n_clusters, n_features)
        The seeds, of norm 1, with at most `words_final` terms each.
    domination_ : csr_array of shape (n_clusters, n_clusters)
        For how many documents of the fit both categories are candidates with a term in common, and that of the row
        dominates that of the column. Categories with large entries in both directions are closely related.
    n_reranked_ : int
        For how many documents of the fit ``rank`` has another order than that of the cosines.
    feature_mask_ : ndarray of shape (n_features,)
        Whether a term is used.
    gini_ : ndarray of shape (n_features,)
        The normalized Gini index of every term; NaN if no document with a category has it.
    history_ : list of dict
        For every pass the number of terms of a seed (`words`), of categories (`n_clusters`), and of new outliers
        (`n_outliers`), merged (`n_merged`) and removed seeds (`n_killed`).
    n_iter_ : int
        The number of passes.
    n_features_in_ : int
        The number of terms.
    feature_names_in_ : ndarray of shape (n_features,)
        The terms, if X was a DataFrame.

    Raises
    ------
    OptionError
        If there are no two given categories, no term is left, or all seeds were removed.

    See Also
    --------
    truncate_taxonomy : Given categories from a hierarchy with many small ones.
    mustlink.FeedbackMixture : Clusters of texts that are corrected step by step.
    mustlink.SeededKMeans : K-means from some labels.

    Notes
    -----
    The method is TClus of chapter 7 [1]_. A pass assigns all documents by the cosine, takes the sums of their damped
    counts as seeds, keeps the heaviest terms of each, merges (single linkage), and removes small ones. Documents of
    removed seeds are assigned in the next pass; outliers stay out. With the defaults, which are those of the chapter
    except for `min_df`, there are four passes with 500, 350, 245 and 200 terms.

    ``predict`` compares the candidates two by two: the larger cosine dominates, unless the two differ by less than
    `domination_threshold`; then each seed is compared without the terms that the other has too. Categories are ranked
    by how many others they dominate, so that ``predict`` may differ from `labels_`, which are the most similar seeds.

    Left open by the chapter, and chosen here: the damping, that documents are damped like seeds, the threshold of
    outliers, and the number of candidates. The last number of terms is exactly `words_final`, to which merged seeds are
    reduced once more before a last assignment. Equal cosines go to the first seed, and a tie of two candidates without
    their common terms to the larger cosine. Documents without a category are clustered with the others, but neither
    choose terms nor start seeds; the chapter has none.

    References
    ----------
    .. [1] C. C. Aggarwal, S. C. Gates and P. S. Yu, "On supervised clustering for creating categorization
       segmentations", in S. Basu, I. Davidson and K. L. Wagstaff (eds.), Constrained Clustering, CRC Press 2009,
       chapter 7.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from mustlink import TaxonomyClusterer
    >>> texts = ["guitar song band", "song guitar guitar", "ball goal team", "team goal goal", "band song goal"]
    >>> counter = CountVectorizer()
    >>> X = counter.fit_transform(texts)
    >>> model = TaxonomyClusterer(min_df=1, words_init=4, words_final=3, min_cluster_size=2)
    >>> model.fit(X, ["music", "music", "sport", "sport", ""]).labels_
    array([0, 0, 1, 1, 0])
    >>> model.category_terms(counter.get_feature_names_out(), n_terms=2)
    [['song', 'guitar'], ['goal', 'team']]
    >>> [model.categories_[label].name for label in model.predict(counter.transform(["a song of a team band"]))]
    ['music']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_df": [Interval(Integral, 1, None, closed="left")],
        "gini_drop": [Interval(Integral, 0, None, closed="left"), Interval(Real, 0, 1, closed="left")],
        "gini_max": [Interval(Real, 0, 1, closed="both"), None],
        "words_init": [Interval(Integral, 1, None, closed="left")],
        "words_final": [Interval(Integral, 1, None, closed="left")],
        "theta": [Interval(Real, 0, 1, closed="neither")],
        "merge_threshold": [Interval(Real, 0, None, closed="left")],
        "min_cluster_size": [Interval(Integral, 1, None, closed="left")],
        "outlier_threshold": [Interval(Real, 0, 1, closed="left")],
        "damping": [StrOptions({"log1p", "sqrt", "binary", "identity"})],
        "damp_queries": ["boolean"],
        "use_idf": ["boolean"],
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
        "domination_threshold": [Interval(Real, 0, None, closed="left")],
        "n_report": [Interval(Integral, 1, None, closed="left")],
    }
    _read_by_predict: ClassVar[tuple[str, ...]] = ("seeds_", "feature_mask_", "_term_weights")

    categories_: list[Category]
    given_: list[GivenCategory]
    classes_: Array
    class_composition_: Ints
    seeds_: csr_array
    domination_: csr_array
    feature_mask_: Mask
    gini_: Floats
    history_: list[dict[str, int]]

    def __init__(
        self,
        *,
        min_df: int = 2,
        gini_drop: float = 0.11,
        gini_max: float | None = None,
        words_init: int = 500,
        words_final: int = 200,
        theta: float = 0.7,
        merge_threshold: float = 0.95,
        min_cluster_size: int = 8,
        outlier_threshold: float = 0.0,
        damping: Damping = "log1p",
        damp_queries: bool = True,
        use_idf: bool = False,
        n_candidates: int = 5,
        domination_threshold: float = 0.025,
        n_report: int = 3,
    ) -> None:
        self.min_df = min_df
        self.gini_drop = gini_drop
        self.gini_max = gini_max
        self.words_init = words_init
        self.words_final = words_final
        self.theta = theta
        self.merge_threshold = merge_threshold
        self.min_cluster_size = min_cluster_size
        self.outlier_threshold = outlier_threshold
        self.damping = damping
        self.damp_queries = damp_queries
        self.use_idf = use_idf
        self.n_candidates = n_candidates
        self.domination_threshold = domination_threshold
        self.n_report = n_report

    # ---- the fit ---------------------------------------------------------------------------------------------------

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Find categories of documents around the given ones.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
            The counts of terms in documents, such as those of
            :class:`~sklearn.feature_extraction.text.CountVectorizer`.
        y : array-like of shape (n_samples,)
            The given category of each document, text or numbers; -1, None, NaN and empty text are unknown.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        counts = self._check_fit_rows(X, y)
        code, given = read_given(y, counts.shape[0], type(self).__name__)
        if self.words_init < self.words_final:
            raise OptionError(
                f"words_init={self.words_init} is less than words_final={self.words_final}; seeds start with more "
                "terms than they end with.",
            )
        self._fit(counts, code, given)
        return self

    def fit_predict(self, X: Any, y: ArrayLike | None = None, **fit_params: Any) -> Ints:
        """Fit the clusterer and return the category of every document.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
            The counts.
        y : array-like of shape (n_samples,)
            The given categories.
        **fit_params : dict
            Passed on to ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            `labels_`.
        """
        return self.fit(X, y, **fit_params).labels_

    def _fit(self, counts: csr_array, code: Indices, given: Array) -> None:
        n_given = len(given)
        n_documents = np.bincount(code[code >= 0], minlength=n_given)
        warn_of_small(n_documents, given, self.min_cluster_size)
        self.gini_ = normalized_gini(counts, code, n_given)
        self._choose_terms(counts)

        damped = self._weigh(damp(counts[:, self.feature_mask_], self.damping))
        queries = self._queries(counts)
        warn_of_empty(np.diff(sum_rows(damped, code, n_given).indptr), given)
        outcome = run_passes(damped, queries, code, n_given, self._pass_options())
        self._refuse_no_seeds(outcome)

        # A merged seed has more terms than the others until it is projected once more.
        seeds = normalize_rows(project(outcome.seeds, self.words_final))
        labels = assign(queries, seeds, outcome.in_pool, self.outlier_threshold)
        self.labels_ = labels.astype(np.int64)
        self.n_clusters_ = seeds.shape[0]
        self.classes_ = given
        self.seeds_ = self._in_all_terms(seeds)
        self.history_ = [asdict(one) for one in outcome.passes]
        self.n_iter_ = len(outcome.passes)
        self._describe(code, n_documents, outcome)
        self._count_dominations(queries, seeds)

    def _choose_terms(self, counts: csr_array) -> None:
        """Choose the vocabulary; refuse an empty one."""
        is_frequent, self.feature_mask_ = choose_terms(
            counts, self.gini_, min_df=self.min_df, gini_drop=self.gini_drop, gini_max=self.gini_max
        )
        n_frequent, n_terms = np.count_nonzero(is_frequent), int(np.count_nonzero(self.feature_mask_))
        if n_frequent == 0:
            raise OptionError(
                f"No term occurs in {count(self.min_df, 'document')} or more, and in one with a category",
                remedy="lower_min_df",
            )
        if n_terms == 0:
            raise OptionError(
                f"All {count(int(n_frequent), 'term')} were dropped by the normalized Gini index",
                remedy="keep_more_terms",
            )
        if n_terms < self.words_final:
            warn_caller(
                f"words_final={self.words_final} is more than the {count(n_terms, 'term')} that are used, so that "
                "categories keep all of theirs",
                UserWarning,
                remedy="lower_words_final",
                topic="few terms",
            )
        self._term_weights = np.ones(n_terms)
        if self.use_idf:
            self._term_weights /= np.bincount(counts.indices, minlength=counts.shape[1])[self.feature_mask_]

    def _pass_options(self) -> PassOptions:
        return PassOptions(
            int(self.words_init),
            int(self.words_final),
            float(self.theta),
            float(self.merge_threshold),
            int(self.min_cluster_size),
            float(self.outlier_threshold),
        )

    def _weigh(self, rows: csr_array) -> csr_array:
        """Multiply the chosen terms by their inverse document frequencies, if these are used."""
        return with_values(rows, rows.data * self._term_weights[rows.indices]) if self.use_idf else rows

    def _queries(self, counts: csr_array) -> Queries:
        """Return documents as they are compared with seeds."""
        return Queries.of(
            self._weigh(damp(counts[:, self.feature_mask_], self.damping if self.damp_queries else "identity"))
        )

    def _in_all_terms(self, rows: csr_array) -> csr_array:
        """Return weights of the chosen terms as weights of all terms."""
        columns = np.flatnonzero(self.feature_mask_)
        shape = rows.shape[0], len(self.feature_mask_)
        return csr_array((rows.data, columns[rows.indices], rows.indptr), shape=shape)

    def _refuse_no_seeds(self, outcome: Outcome) -> None:
        """Raise if no seed is left."""
        if outcome.seeds.shape[0] == 0:
            last = outcome.passes[-1]
            remedies = ["lower_min_cluster_size"] + ["lower_outlier_threshold"] * (self.outlier_threshold > 0)
            raise OptionError(
                f"All categories were removed in pass {len(outcome.passes)}, as none of the last "
                f"{last.n_killed} had {count(self.min_cluster_size, 'document')}",
                remedy=remedies,
            )

    def _describe(self, code: Indices, n_documents: Ints, outcome: Outcome) -> None:
        """Compare the categories with the given ones."""
        is_known = (code >= 0) & (self.labels_ >= 0)
        composition = np.zeros((self.n_clusters_, len(self.classes_)), dtype=np.int64)
        np.add.at(composition, (self.labels_[is_known], code[is_known]), 1)
        self.class_composition_ = composition
        terms = getattr(self, "feature_names_in_", None)
        self.categories_ = describe_categories(
            self.seeds_, self.labels_, composition, outcome.history, self.classes_, terms
        )
        self.given_ = describe_given(composition, n_documents, outcome.history, self.categories_, self.classes_)

    def _count_dominations(self, queries: Queries, seeds: csr_array) -> None:
        """Count which categories dominate which for the documents of the fit, without outliers."""
        inside = np.flatnonzero(self.labels_ >= 0)
        queries = Queries(queries.rows[inside], queries.norms[inside])
        self.domination_ = csr_array((self.n_clusters_, self.n_clusters_), dtype=np.int64)
        self.n_reranked_ = 0
        for candidates, wins in domination_blocks(queries, seeds, self.n_candidates, self.domination_threshold):
            is_similar = candidates.similarity > 0
            row, first, second = np.nonzero(wins & is_similar[:, :, None] & is_similar[:, None, :])
            pairs = candidates.seeds[row, first], candidates.seeds[row, second]
            self.domination_ += csr_array((np.ones(len(row), dtype=np.int64), pairs), shape=self.domination_.shape)
            self.n_reranked_ += int(np.count_nonzero(rank_candidates(candidates, wins, self.n_report).is_reranked))

    # ---- new documents ---------------------------------------------------------------------------------------------

    @blockwise
    def predict(self, X: Any) -> Ints:
        """Return the best category of every document, after comparison of closely related ones.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
            The counts of terms.

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers of categories; -1 for outliers.
        """
        ranking, nearest = self._rank(X, 1)
        is_outlier = (nearest <= 0) | (nearest < self.outlier_threshold)
        return np.where(is_outlier, -1, ranking.categories[:, 0]).astype(np.int64)

    def rank(self, X: Any) -> Ranking:
        """Return the best categories of every document, with how many other candidates each dominates.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
            The counts of terms.

        Returns
        -------
        Ranking
            The `n_report` best categories, or fewer: at most `n_candidates`, and all there are. Outliers are ranked
            too, if they have a term in common with a category.
        """
        return self._rank(X, self.n_report)[0]

    def _rank(self, X: Any, n_report: int) -> tuple[Ranking, Floats]:
        """Return the ranking of documents, and their largest cosines."""
        check_is_fitted(self)
        queries = self._queries(self._check_rows(X, reset=False))
        seeds = self.seeds_[:, self.feature_mask_]
        blocks = domination_blocks(queries, seeds, self.n_candidates, self.domination_threshold)
        parts = [(rank_candidates(*block, n_report), block[0].similarity[:, 0]) for block in blocks]
        ranking = Ranking(*(np.concatenate(columns) for columns in zip(*(part for part, _ in parts), strict=True)))
        return ranking, np.concatenate([nearest for _, nearest in parts])

    def weigh_documents(self, X: Any) -> csr_array:
        """Return the weights of the terms of documents, as they are compared with seeds.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
            The counts of terms.

        Returns
        -------
        csr_array of shape (n_samples, n_features)
            The counts, damped and divided as `damping`, `damp_queries` and `use_idf` say; 0 for terms that are not
            used. The cosines with `seeds_` are those of ``fit``, ``predict`` and ``rank``.
        """
        check_is_fitted(self)
        return self._in_all_terms(self._queries(self._check_rows(X, reset=False)).rows)

    def category_terms(
        self, feature_names: Sequence[Any] | Array | None = None, *, n_terms: int | None = 10
    ) -> list[list[Any]]:
        """Return the heaviest terms of every category.

        Parameters
        ----------
        feature_names : array-like of shape (n_features,), default=None
            The terms of the columns, such as ``CountVectorizer.get_feature_names_out()``; those of the DataFrame of the
            fit if None, or column numbers.
        n_terms : int or None, default=10
            The most terms of a category; None is all.

        Returns
        -------
        list of list
            The terms of each category, the heaviest first.
        """
        check_is_fitted(self)
        if feature_names is None:
            return [[term for term, _ in category.terms[:n_terms]] for category in self.categories_]
        if len(feature_names) != self.n_features_in_:
            raise ValueError(
                f"feature_names must have one name per term: the fit had {count(self.n_features_in_, 'term')}, and "
                f"there are {count(len(feature_names), 'name')}."
            )
        return [
            [feature_names[column] for column in heaviest_terms(self.seeds_, number)[0][:n_terms]]
            for number in range(self.n_clusters_)
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = True
        return tags

    def _check_rows(self, X: Any, *, reset: bool = True) -> csr_array:
        refuse_texts(X, type(self).__name__)
        # One document cannot be of two categories.
        X = check_table(self, X, reset=reset, accept_sparse="csr", ensure_min_samples=2 if reset else 1)
        refuse_negative(X, type(self).__name__)
        return as_counts(csr_array(X))

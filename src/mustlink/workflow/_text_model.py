"""Categories of texts that stay: a fitted clusterer and its words, which put new texts into the same categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mustlink._types import Ints
from mustlink.text import Ranking, TaxonomyClusterer
from mustlink.workflow._texts import word_counter

__all__ = ["TextModel"]


@dataclass(frozen=True)
class TextModel:
    """Categories of texts, and the words that they know.

    Parameters
    ----------
    clusterer : TaxonomyClusterer
        The fitted clusterer.
    categories : tuple of str
        What its categories are called.
    terms : tuple of str
        The words of its columns.
    n_texts : int
        The number of texts that were categorized.
    text_column, id_column : str or None
        The columns of the texts and of their names, where they were named.
    versions : mapping of str to str
        The versions of mustlink and of what it stands on with which the model was made.
    notices : tuple of str, default=()
        What a person should know of the model, as sentences.

    See Also
    --------
    run_taxonomy : Makes one, with ``save_model``.
    load_model : Reads it from its file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mustlink.workflow import TaxonomyJob, load_model, run_taxonomy
    >>> lines = ["guitar song,music", "song band,music", "goal team,sport", "team ball,sport"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table, model = pathlib.Path(folder, "notes.csv"), pathlib.Path(folder, "notes.model")
    ...     _ = table.write_text("\\n".join(["text,topic", *lines]))
    ...     job = TaxonomyJob(table, category_column="topic", min_df=1, min_cluster_size=2, save_model=model)
    ...     _ = run_taxonomy(job)
    ...     print(load_model(model).predict(["a band and its song", "a zebra"]))
    ['music', None]
    """

    clusterer: TaxonomyClusterer
    categories: tuple[str, ...]
    terms: tuple[str, ...]
    n_texts: int
    text_column: str | None
    id_column: str | None
    versions: Mapping[str, str]
    notices: tuple[str, ...] = ()

    @classmethod
    def from_about(cls, clusterer: TaxonomyClusterer, about: Mapping[str, Any]) -> TextModel:
        """Put a model together again.

        Parameters
        ----------
        clusterer : TaxonomyClusterer
            The clusterer.
        about : mapping
            What `about` was.

        Returns
        -------
        TextModel
        """
        texts = about["texts"]
        text_column, id_column = (
            None if texts[name] is None else str(texts[name]) for name in ("text_column", "id_column")
        )
        return cls(
            clusterer,
            tuple(map(str, texts["categories"])),
            tuple(map(str, texts["terms"])),
            int(texts["n_texts"]),
            text_column,
            id_column,
            {str(name): str(number) for name, number in about["versions"].items()},
        )

    @property
    def about(self) -> dict[str, Any]:
        """What is written beside the clusterer."""
        names = ("categories", "terms", "n_texts", "text_column", "id_column")
        return {"texts": {name: getattr(self, name) for name in names}}

    @property
    def is_whole(self) -> bool:
        """Whether the parts belong together."""
        shape = (len(self.categories), len(self.terms))
        return type(self.clusterer) is TaxonomyClusterer and self.clusterer.seeds_.shape == shape

    def predict(self, texts: Sequence[str]) -> list[str | None]:
        """Return the category of each text.

        Parameters
        ----------
        texts : sequence of str
            New texts.

        Returns
        -------
        list of str or None
            Categories; None for a text that has no word in common with any of them, or a cosine to each that is below
            the `outlier_threshold` of the clusterer.
        """
        labels, _ = self.rank(texts)
        return [None if label < 0 else self.categories[label] for label in labels.tolist()]

    def rank(self, texts: Sequence[str]) -> tuple[Ints, Ranking]:
        """Return the best category of each text by number, and the ranking of several.

        Parameters
        ----------
        texts : sequence of str
            New texts.

        Returns
        -------
        labels : ndarray of int, shape (n_texts,)
            The categories; -1 for none.
        ranking : Ranking
            As :meth:`mustlink.TaxonomyClusterer.rank` returns it.
        """
        counts = word_counter(vocabulary=list(self.terms)).transform(texts)
        return np.asarray(self.clusterer.predict(counts)), self.clusterer.rank(counts)

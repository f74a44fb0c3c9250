"""The views of one session: which there are, and where the rows are in each, computed when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mustlink._types import Array
from mustlink.errors import OptionError
from mustlink.studio._views import has_umap, learned_view, pca_view, spring_view, umap_view

if TYPE_CHECKING:
    from mustlink.studio._session import Session

__all__ = ["Map"]


class View(NamedTuple):
    """One view that the page offers, or does not, and why not."""

    name: str
    title: str
    why: str | None = None


class Map:
    """Where the rows of a session are drawn.

    Nobody waits while a view is computed: two threads that ask for one at the same time both compute it.

    Parameters
    ----------
    session : Session
        The session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        no_umap = None if has_umap() else "UMAP is not installed; install it with: pip install umap-learn"
        no_edges = None if session.edges is not None else "It needs edges; start the studio with a file of edges."
        self.views = (
            View("pca", "Principal components"),
            View("learned", "The view your links make"),
            View("umap", "UMAP", no_umap),
            View("spring", "Spring layout of the edges", no_edges),
        )
        self.first = "pca" if session.edges is None else "spring"
        self._positions: dict[str, Array] = {"pca": pca_view(session.table.X)}
        # The groups that the learned view was made of.
        self._learned_labels: Array | None = None

    def describe(self) -> list[dict[str, Any]]:
        """Return the views as a message has them."""
        return [{"name": one.name, "title": one.title, "available": not one.why, "why": one.why} for one in self.views]

    def number(self, name: str) -> int:
        """Return the place of a view in the list."""
        return [view.name for view in self.views].index(name)

    def check(self, name: str) -> None:
        """Refuse a view that there is not."""
        view = next((view for view in self.views if view.name == name), None)
        if view is None:
            known = ", ".join(view.name for view in self.views)
            raise OptionError(f"There is no view {name!r:.60}; the views are {known}.")
        if view.why is not None:
            raise OptionError(view.why)

    def has(self, name: str) -> bool:
        """Return whether the positions of a view are known already, the learned view's for the groups that are shown.

        While a fit runs, the learned view of the groups before stays: the fit brings its own.
        """
        if name not in self._positions:
            return False
        engine = self._session.engine
        if name != "learned" or self._learned_labels is None or engine.shown.status == "working":
            return True
        return np.array_equal(self._learned_labels, engine.labels)

    def set_learned(self, positions: Array) -> None:
        """Take over the view of the last fit, whose groups are shown."""
        self._positions["learned"], self._learned_labels = positions, self._session.engine.labels

    def positions(self, name: str) -> Array:
        """Return where the rows are in a view, which may take long if :meth:`has` says that it is not known."""
        if self.has(name):
            return self._positions[name]
        X, edges, first = self._session.table.X, self._session.edges, self._positions["pca"]
        if name == "umap":
            self._positions[name] = umap_view(X)
        elif name == "spring" and edges is not None:
            self._positions[name] = spring_view(first, edges)
        else:
            labels, before = self._session.engine.labels, self._positions.get(name, first)
            self._positions[name], self._learned_labels = learned_view(X, labels, before), labels
        return self._positions[name]

"""The views of one session: which there are, and where the rows are in each, computed when they are asked for."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

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

    Parameters
    ----------
    session : Session
        The session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = RLock()
        no_umap = None if has_umap() else "UMAP is not installed; install it with: pip install umap-learn"
        no_edges = None if session.edges is not None else "It needs edges between rows; start the studio with --edges."
        self.views = (
            View("pca", "Principal components"),
            View("learned", "The view your links make"),
            View("umap", "UMAP", no_umap),
            View("spring", "Spring layout of the edges", no_edges),
        )
        self.first = "pca" if session.edges is None else "spring"
        self._positions: dict[str, Array] = {"pca": pca_view(session.table.X)}

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
        """Return whether the positions of a view are known already."""
        return name in self._positions

    def set_learned(self, positions: Array) -> None:
        """Take over the view of the last fit."""
        with self._lock:
            self._positions["learned"] = positions

    def positions(self, name: str) -> Array:
        """Return where the rows are in a view, which may take long at the first time."""
        with self._lock:
            if name not in self._positions:
                self._positions[name] = self._compute(name)
            return self._positions[name]

    def _compute(self, name: str) -> Array:
        X, edges, first = self._session.table.X, self._session.edges, self._positions["pca"]
        if name == "umap":
            return umap_view(X)
        if name == "spring" and edges is not None:
            return spring_view(first, edges)
        return learned_view(X, self._session.engine.labels, first)

"""The studio in a notebook: the same page as a widget, the results as attributes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from mustlink._spelling import count
from mustlink._types import Ints
from mustlink.constraints import Constraints
from mustlink.studio._conversation import Conversation
from mustlink.studio._room import Room
from mustlink.studio._session import Session

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Studio"]


class Studio:
    """Teach a clustering by hand in a notebook.

    Shows the page of ``mustlink studio`` as a widget: the rows as points, questions, links to draw and points to drag.
    The results are attributes, at any time: with `n_clusters`, the first groups are there after the first fit in the
    background, which takes some seconds; without, after the first links. Needs anywidget, ``pip install
    "mustlink[notebook]"``.

    Parameters
    ----------
    data : DataFrame or array of shape (n_rows, n_columns)
        The table. Columns are encoded as by ``mustlink cluster``.
    links : Constraints or None, default=None
        Links to begin with, by the positions of rows.
    n_clusters : int or None, default=None
        The number of groups; None for as many as are built.
    path : str or path-like, default=None
        The file that keeps every step; None keeps them in memory.
    random_state : int, default=0
        The seed.
    **options : object
        Options of :class:`mustlink.workflow.TableOptions`, such as `id_column` or `ignore`.

    Attributes
    ----------
    session : Session
        The session, for those who drive it by actions.

    See Also
    --------
    Engine : The same without a page.

    Examples
    --------
    >>> import pandas as pd
    >>> from mustlink import Constraints
    >>> from mustlink.studio import Studio
    >>> df = pd.DataFrame({"x": [0.0, 0.1, 5.0, 5.1], "y": [0.0, 0.2, 5.0, 5.1]})
    >>> with Studio(df, links=Constraints([(0, 1), (2, 3)], [(0, 2)])) as studio:
    ...     print(studio.labels_.tolist(), len(studio.constraints_))
    [0, 0, 1, 1] 3
    """

    def __init__(
        self,
        data: Any,
        links: Constraints | None = None,
        n_clusters: int | None = None,
        *,
        path: str | os.PathLike[str] | None = None,
        random_state: int = 0,
        **options: Any,
    ) -> None:
        anywidget = _import_anywidget()
        options = options if path is None else {**options, "path": path}
        self.session = Session.from_frame(
            data, links=links, n_clusters=n_clusters, random_state=random_state, **options
        )
        self._room = Room(self.session, data)
        self._widget = anywidget.AnyWidget(_esm=_read_module())
        self._conversation = Conversation(self._room, self._widget.send, self._send_bytes)
        self._widget.on_msg(self._receive)

    @property
    def labels_(self) -> Ints:
        """The group of each row of `data` that is shown now.

        -1 is none: of rows that are left out, such as those with missing cells, and of all rows until there are groups.
        """
        table = self.session.table
        labels = np.full(table.source.n_rows, -1, dtype=np.int64)
        labels[table.rows] = self.session.engine.labels
        return labels

    @property
    def constraints_(self) -> Constraints:
        """All links in force, by the positions of rows; those of pinned rows and locked groups included."""
        table, links = self.session.table, self.session.engine.constraints
        if len(table.rows) == table.source.n_rows:
            return links
        listed = links.expand()
        return Constraints.from_pairs(table.rows[listed.pairs], listed.sign, listed.weight, contradictions="keep")

    @property
    def groups_(self) -> pd.DataFrame:
        """The name, the size and the lock of each group, by its label."""
        import pandas as pd

        groups = self.session.engine.groups
        return pd.DataFrame(
            {
                "name": [one.name for one in groups],
                "size": [one.size for one in groups],
                "locked": [one.locked for one in groups],
            },
            index=pd.Index([one.id for one in groups], name="group"),
        )

    def close(self) -> None:
        """End the work in the background and close the file; the attributes stay as they are."""
        self._room.say_closed()
        self._room.close()
        self._widget.close()

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *about: object) -> None:
        self.close()

    def __repr__(self) -> str:
        engine = self.session.engine
        links = count(len(engine.links), "link")
        return f"<Studio: {count(len(engine.labels), 'row')}, {links}, {count(len(engine.groups), 'group')}>"

    def _receive(self, widget: Any, content: Any, buffers: Any) -> None:
        """Answer a message of the page; each view begins by asking for everything."""
        if isinstance(content, dict) and content.get("do") == "open":
            self._room.leave(self._conversation)
            self._conversation.open()
        else:
            self._conversation.receive(content)

    def _send_bytes(self, data: bytes) -> None:
        self._widget.send({"type": "bytes"}, [data])

    def _repr_mimebundle_(self, **options: Any) -> Mapping[str, Any] | None:
        """Show the page, where a notebook asks for it."""
        shown: Mapping[str, Any] | None = self._widget._repr_mimebundle_(**options)
        return shown


def _read_module() -> str:
    """Read the page as a module of JavaScript."""
    return (resources.files("mustlink.studio") / "page" / "widget.js").read_text(encoding="utf-8")


def _import_anywidget() -> Any:
    """Import anywidget, or name the extra to install."""
    try:
        import anywidget
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "The studio in a notebook needs anywidget, which is not installed; install it with: "
            'pip install "mustlink[notebook]"',
            name=error.name,
        ) from error
    return anywidget

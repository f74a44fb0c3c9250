"""Pages of a running studio in the system's Chromium; the tests of this folder are skipped where there is none.

The browser lives as long as a module, no longer: while Playwright runs, no other test can run an event loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_iris

from studio.browser.running import open_browser, why_no_browser
from studio.browser.studio_page import OpenPage, StudioPage
from studio.served import Served, make_session


def skip_without_browser() -> None:
    reason = why_no_browser()
    if reason is not None:
        pytest.skip(f"The studio is not tested in a browser: {reason}.")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    skip_without_browser()
    with open_browser() as browser:
        yield browser


@pytest.fixture
def open_page(browser: Any) -> Iterator[OpenPage]:
    """Open a studio's page in a context of its own; at the end, nothing may have gone wrong in any page."""
    contexts, pages = [], []

    def open_(url: str, *, other_tab_of: StudioPage | None = None, wait: bool = True, **options: Any) -> StudioPage:
        if other_tab_of is None:
            options = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"} | options
            context = browser.new_context(**options)
            contexts.append(context)
        else:
            context = other_tab_of.page.context
        page = StudioPage(context.new_page())
        pages.append(page)
        page.open(url, wait=wait)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert [trouble for page in pages for trouble in page.troubles] == []


@pytest.fixture(scope="session")
def iris_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The iris flowers, each with a name."""
    data = load_iris(as_frame=True)
    table = data.data.round(1)
    table.insert(0, "flower", [f"{data.target_names[kind]} {row}" for row, kind in enumerate(data.target)])
    path = tmp_path_factory.mktemp("iris") / "iris.csv"
    table.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def iris_studio(iris_table: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One studio for the tests of a module, each of which begins with the first state, see `studio`.

    Not longer: Hypothesis notices if a thread draws random numbers while it does.
    """
    skip_without_browser()
    folder = tmp_path_factory.mktemp("iris_studio")
    served = Served(make_session(folder, 3, table=iris_table, id_column="flower"))
    yield served
    served.close()


@pytest.fixture
def studio(iris_studio: Served, open_page: OpenPage) -> StudioPage:
    """The page of the iris flowers, with nothing answered, moved or drawn."""
    page = open_page(iris_studio.url)
    page.begin_afresh()
    return page

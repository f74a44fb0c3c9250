"""The studio's page as a person uses it: mouse, keys and buttons; and what its store knows, to compare with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

# Milliseconds that a very busy machine may need for anything but starting a studio; nothing is measured by it.
PATIENCE = 120_000
NO_GROUP = 65_535
ASKED = "(store.question.question && [store.question.question.a, store.question.question.b])"
# The first question of every studio that tests share.
FIRST_ASKED: dict[str, list[int] | None] = {}


class StudioPage:
    """One tab of a browser with the studio in it.

    Attributes
    ----------
    page : Page
        The tab as Playwright has it.
    """

    def __init__(self, page: Any) -> None:
        self.page = page
        self._seen: list[str] = []
        self._expected: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: message.type == "error" and self._seen.append(message.text))
        page.on("pageerror", lambda error: self._seen.append(str(error)))
        page.on("dialog", self._refuse_dialog)
        page.on("request", self._look_at_request)

    @property
    def troubles(self) -> list[str]:
        """Errors of the console (also of the policy), failed scripts, dialogs, and requests to other machines."""
        return [trouble for trouble in self._seen if not any(words in trouble for words in self._expected)]

    def expect_trouble(self, words: str) -> None:
        """Expect errors with some words from now on."""
        self._expected.append(words)

    def _refuse_dialog(self, dialog: Any) -> None:
        self._seen.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _look_at_request(self, request: Any) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.hostname != "127.0.0.1":
            self._seen.append(f"request to {request.url}")

    def open(self, url: str, *, wait: bool = True) -> None:
        """Open the address, and wait until the rows are drawn and the first question is there."""
        self.page.goto(url)
        if wait:
            self.until(
                "store.state && store.view && plot.drawnAt > 0 && (store.question || store.state.n_clusters === null)"
            )

    # ---- what the page knows

    def read(self, expression: str, given: Any = None) -> Any:
        """Evaluate an expression of `store`, `plot` and `given`."""
        return self.page.evaluate(_function(expression), given)

    def until(self, condition: str, given: Any = None) -> None:
        """Wait until a condition on `store`, `plot` and `given` holds."""
        self.page.wait_for_function(_function(condition), arg=given)

    @property
    def state(self) -> Any:
        """The last state that the server sent."""
        return self.read("store.state")

    @property
    def labels(self) -> list[int]:
        """The group of every row."""
        return self.read("Array.from(store.labels)")

    @property
    def asked(self) -> tuple[int, int] | None:
        """The rows of the question on the card."""
        pair = self.read(ASKED)
        return pair and tuple(pair)

    def has_link(self, a: int, b: int, together: bool) -> bool:
        """Tell whether a link between two rows is in force."""
        return any({link["a"], link["b"]} == {a, b} and link["together"] == together for link in self.state["links"])

    def place(self, row: int) -> tuple[float, float]:
        """Where a row is drawn, in pixels of the page."""
        self.until("plot.screenPosition(given) !== null", row)
        found = self.read("plot.screenPosition(given)", row)
        return found["x"], found["y"]

    # ---- what a person does

    def button(self, name: str) -> Any:
        """The button of a name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def tab(self, name: str) -> Any:
        """Open a tab of the side panel, and return what it shows."""
        self.page.get_by_role("tab", name=name, exact=True).click()
        return self.page.get_by_role("tabpanel", name=name)

    def act(self, **message: Any) -> Any:
        """Do something at once, without mouse or key, and return the server's reply when its effects are there."""
        reply = self.read("store.act(given)", message)
        if reply["type"] == "done":
            self.until("store.state.revision >= given", reply["revision"])
        return reply

    def begin_afresh(self) -> None:
        """Go back to the state that the first test found, by a snapshot, and wait for its first question."""
        if any(snapshot["name"] == "begin" for snapshot in self.state["snapshots"]):
            self.act(do="restore", name="begin")
            # Until it comes, the card shows the last question of the test before.
            self.until(f"store.question && String({ASKED}) === String(given)", FIRST_ASKED[self.page.url])
        else:
            self.act(do="snapshot", name="begin")
            self.until("store.question")
            FIRST_ASKED[self.page.url] = self.read(ASKED)

    def answer(self, key: str) -> None:
        """Answer the question on the card by a key, and wait for the next one."""
        before = self.asked
        self.page.keyboard.press(key)
        self.until(f"store.question.end || String({ASKED}) !== String(given)", before and list(before))

    def drag(self, begin: tuple[float, float], *path: tuple[float, float]) -> None:
        """Press the mouse at one place, move it along a path, and let go at its end."""
        mouse = self.page.mouse
        mouse.move(*begin)
        mouse.down()
        for place in path:
            mouse.move(*place, steps=6)
        mouse.up()

    def save(self, what: str) -> str:
        """Export a file by its button, and return its text."""
        panel = self.tab("Export")
        with self.page.expect_download() as saved:
            panel.get_by_role("button", name=what, exact=True).click()
        return Path(saved.value.path()).read_text(encoding="utf-8")

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The place of a position on the map, which reaches from -1 to 1 with a margin of 12%."""
        box = self.page.get_by_role("application", name="Map of the rows").bounding_box()
        scale = min(box["width"], box["height"]) / 2.24
        return box["x"] + box["width"] / 2 + scale * x, box["y"] + box["height"] / 2 - scale * y


OpenPage = Callable[..., StudioPage]


def _function(expression: str) -> str:
    """A function of JavaScript that returns what an expression gives, undefined before there is a studio."""
    return (
        "(given) => { if (!window.mustlinkStudio) return undefined;"
        f" const {{ store, plot }} = window.mustlinkStudio; return {expression}; }}"
    )

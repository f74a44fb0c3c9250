"""What a person does in the page, in Chromium: answers, drags, selections, links, conflicts, undo, names, snapshots."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from studio.browser.studio_page import NO_GROUP, StudioPage

SPECIES = load_iris().target


def key_of(studio: StudioPage) -> str:
    """The key of the right answer to the question on the card."""
    a, b = studio.asked
    return "s" if SPECIES[a] == SPECIES[b] else "d"


def test_five_answers_by_keys(studio: StudioPage) -> None:
    keys = []
    for number in range(5):
        keys.append("u" if number == 2 else key_of(studio))
        studio.answer(keys[-1])
    counts = {"together": keys.count("s"), "apart": keys.count("d"), "skipped": 1}
    assert studio.state["counts"] == counts
    assert [link["source"] for link in studio.state["links"]] == ["answer"] * 4
    assert {link["together"] for link in studio.state["links"]} <= {key == "s" for key in keys}


def test_answers_color_the_rows(studio: StudioPage) -> None:
    studio.act(do="choose", n_clusters=2, method="instant")
    assert set(studio.labels) == {NO_GROUP}
    drawn = studio.read("plot.drawnAt")
    studio.answer("d")
    studio.until("plot.drawnAt > given", drawn)
    (link,) = studio.state["links"]
    assert studio.labels[link["a"]] != studio.labels[link["b"]]
    assert NO_GROUP not in studio.labels


def test_dragging_makes_groups(studio: StudioPage) -> None:
    studio.act(do="choose", n_clusters=None, method="instant")
    a, b, c = 0, 60, 61
    studio.drag(studio.place(a), studio.at(-0.95, 0.95))
    studio.until("store.state.pins.length === 1")
    studio.drag(studio.place(b), studio.at(0.95, -0.95))
    studio.until("store.state.pins.length === 2")
    # Two pins far from each other are two groups, and every row joins one of them.
    studio.until("store.labels[given[0]] !== store.labels[given[1]]", [a, b])
    assert len(set(studio.labels)) == 2
    assert studio.has_link(a, b, together=False)
    # A pinned row stays where it was dropped; rows dragged onto it belong to it.
    assert np.allclose(studio.place(a), studio.at(-0.95, 0.95), atol=3)
    studio.drag(studio.place(c), studio.place(a))
    studio.until("store.state.pins.length === 3 && store.labels[given[0]] === store.labels[given[1]]", [a, c])
    assert studio.has_link(a, c, together=True)
    studio.button("Undo (z)").click()
    studio.until("store.state.pins.length === 2")
    assert not studio.has_link(a, c, together=True)


def test_dropping_on_a_row_that_is_not_pinned(studio: StudioPage) -> None:
    studio.drag(studio.place(0), studio.place(100))
    studio.until("store.state.pins.length === 2")
    assert {row for row, _, _ in studio.state["pins"]} == {0, 100}
    assert studio.has_link(0, 100, together=True)


def test_lasso_and_move(studio: StudioPage) -> None:
    studio.button("Lasso").click()
    corners = [studio.at(x, y) for x, y in ((-1.1, 0), (-1.1, 1.1), (-0.2, 1.1), (-0.2, -1.1), (-1.1, -1.1), (-1.1, 0))]
    studio.drag(*corners)
    studio.until("store.selection.length > 1")
    selected = sorted(studio.read("store.selection"))
    x = studio.read("[...store.labels.keys()].map((row) => plot.screenPosition(row).x)")
    assert selected == np.flatnonzero(np.array(x) < studio.at(-0.2, 0)[0]).tolist()
    studio.button("Pan").click()
    studio.drag(studio.place(selected[0]), studio.at(0.95, 0.95))
    studio.until("store.state.pins.length === given", len(selected))
    assert len({studio.labels[row] for row in selected}) == 1


def draw_link(studio: StudioPage, mode: str, a: int, b: int) -> None:
    """Draw a link from one row to another with the mouse."""
    studio.button(mode).click()
    studio.drag(studio.place(a), studio.place(b))


def test_drawn_links(studio: StudioPage) -> None:
    draw_link(studio, "Link same", 0, 149)
    studio.until("store.state.n_links === 1")
    draw_link(studio, "Link different", 0, 50)
    studio.until("store.state.n_links === 2")
    assert studio.has_link(0, 149, together=True)
    assert studio.has_link(0, 50, together=False)
    assert {link["source"] for link in studio.state["links"]} == {"drawn"}
    assert studio.state["pins"] == []
    panel = studio.tab("Links")
    panel.get_by_text("setosa 0").first.wait_for()
    panel.get_by_role("button", name="Delete").first.click()
    studio.until("store.state.n_links === 1")


@pytest.fixture
def conflict(studio: StudioPage) -> StudioPage:
    """A page in which two rows of a chain of must-links were said to be different."""
    studio.act(do="link", a=0, b=1, together=True)
    studio.act(do="link", a=1, b=149, together=True)
    draw_link(studio, "Link different", 0, 149)
    studio.page.get_by_role("alertdialog").wait_for()
    return studio


def test_a_conflict_shows_its_chain(conflict: StudioPage) -> None:
    dialog = conflict.page.get_by_role("alertdialog")
    for name in ("setosa 0", "setosa 1", "virginica 149"):
        dialog.get_by_text(name).first.wait_for()
    dialog.get_by_role("button", name="Keep it as it was").click()
    dialog.wait_for(state="detached")
    assert conflict.state["n_links"] == 2


def test_one_click_removes_the_weakest_link(conflict: StudioPage) -> None:
    conflict.button("Remove the weakest link").click()
    conflict.page.get_by_role("alertdialog").wait_for(state="detached")
    conflict.until("store.state.links.some((link) => !link.together)")
    assert conflict.has_link(0, 149, together=False)
    assert conflict.has_link(0, 1, together=True)
    assert not conflict.has_link(1, 149, together=True)
    conflict.button("Undo (z)").click()
    conflict.until("store.state.links.every((link) => link.together)")
    assert conflict.has_link(1, 149, together=True)


def test_undo_and_redo_are_exact(studio: StudioPage) -> None:
    studio.act(do="choose", n_clusters=None, method="instant")
    studio.act(do="move", rows=[0], x=-0.9, y=0.9, onto=None)
    studio.act(do="move", rows=[60], x=0.9, y=-0.9, onto=None)
    seen = (studio.labels, studio.state["pins"], studio.state["links"])
    studio.act(do="move", rows=[120], x=0.9, y=0.9, onto=None)
    after = (studio.labels, studio.state["pins"], studio.state["links"])
    studio.page.keyboard.press("z")
    studio.until("store.state.can_redo")
    assert (studio.labels, studio.state["pins"], studio.state["links"]) == seen
    studio.page.keyboard.press("y")
    studio.until("!store.state.can_redo")
    assert (studio.labels, studio.state["pins"], studio.state["links"]) == after


def test_rename_and_lock(studio: StudioPage) -> None:
    studio.act(do="choose", n_clusters=None, method="instant")
    studio.act(do="move", rows=[0], x=-0.9, y=0.9, onto=None)
    studio.act(do="move", rows=[60], x=0.9, y=-0.9, onto=None)
    panel = studio.tab("Groups")
    name = panel.get_by_role("textbox").first
    name.fill("small flowers")
    name.press("Enter")
    studio.until("store.state.groups.some((group) => group.name === 'small flowers')")
    panel.get_by_role("button", name="Lock").first.click()
    studio.until("store.state.groups.some((group) => group.locked)")
    locked = next(group["id"] for group in studio.state["groups"] if group["locked"])
    members = [row for row, label in enumerate(studio.labels) if label == locked]
    outsider = next(row for row, label in enumerate(studio.labels) if label != locked)
    # A locked group keeps its rows: a drag that would take one out is refused.
    reply = studio.act(do="link", a=members[0], b=members[-1], together=False)
    assert reply["type"] == "refused"
    assert studio.labels[outsider] != locked


def test_snapshot_and_restore(studio: StudioPage) -> None:
    studio.act(do="link", a=0, b=1, together=True)
    panel = studio.tab("History")
    panel.get_by_role("textbox").fill("one link")
    panel.get_by_role("button", name="Save").click()
    studio.until("store.state.snapshots.some((snapshot) => snapshot.name === 'one link')")
    studio.act(do="link", a=0, b=60, together=False)
    panel.get_by_role("button", name="one link").click()
    studio.until("store.state.n_links === 1")
    assert studio.has_link(0, 1, together=True)


def test_by_keys_alone(studio: StudioPage) -> None:
    """Answer, undo, change panel and answer again without a mouse; what has the focus is always to be seen."""
    page = studio.page
    first = studio.asked
    for _ in range(60):
        page.keyboard.press("Tab")
        focused = page.evaluate("document.activeElement.textContent")
        outline = page.evaluate(
            "(({ outlineStyle, boxShadow }) => [outlineStyle, boxShadow])(getComputedStyle(document.activeElement))"
        )
        assert outline != ["none", "none"], f"{focused} has the focus and does not show it"
        if focused.startswith("Different"):
            break
    page.keyboard.press("Enter")
    studio.until("store.state.counts.apart === 1")
    page.keyboard.press("z")
    studio.until("store.state.counts.apart === 0")
    studio.until("store.question.question.a === given[0] && store.question.question.b === given[1]", list(first))
    page.get_by_role("tab", name="Groups").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="Links").get_attribute("aria-selected") == "true"
    # A letter that is typed into a field is no answer.
    page.get_by_role("spinbutton", name="Number of groups").focus()
    page.keyboard.press("s")
    assert studio.state["counts"]["together"] == 0

"""What the map and the card show, in Chromium: springs, the view of the links, images, texts, rings, final groups."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from io import StringIO

import numpy as np
import pandas as pd
import pytest

from mustlink.studio import Session
from mustlink.workflow import TableOptions, load_table
from studio.browser.studio_page import OpenPage, StudioPage
from studio.served import Served

N_ROWS = 24


def make_png(color: tuple[int, int, int], size: int = 12) -> bytes:
    """A square image of one color."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = (b"\0" + bytes(color) * size) * size
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def story(row: int) -> str:
    return f"The story of plate {row} is long enough to be read as a text, and it has <b>no</b> markup."


@pytest.fixture(scope="module")
def plates(browser: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A table of two groups with texts, images and edges: two rings, each of every second row."""
    folder = tmp_path_factory.mktemp("plates")
    for name, color in (("red.png", (200, 30, 30)), ("blue.png", (30, 30, 200))):
        (folder / name).write_bytes(make_png(color))
    rows = range(N_ROWS)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "plate": [f"p{row:02d}" for row in rows],
            "width": rng.normal(size=N_ROWS) + 6 * (np.arange(N_ROWS) % 2),
            "height": rng.normal(size=N_ROWS),
            "depth": rng.normal(size=N_ROWS),
            "story": [story(row) for row in rows],
            "photo": ["blue.png" if row % 2 else "red.png" for row in rows],
        }
    )
    table.to_csv(folder / "plates.csv", index=False)
    edges = [f"p{row:02d},p{(row + 2) % N_ROWS:02d}" for row in rows]
    (folder / "edges.csv").write_text("\n".join(["a,b", *edges]) + "\n", encoding="utf-8")
    options = TableOptions(folder / "plates.csv", id_column="plate", ignore=["story", "photo"])
    session = Session.create(
        load_table(options), options, folder / "plates.mustlink", n_clusters=2, edges=folder / "edges.csv"
    )
    served = Served(session)
    yield served
    served.close()


# Resolves when no row has moved for some looks at the map, one after the other.
AT_REST = """new Promise((resolve) => {
    const places = () => String([...store.labels.keys()].map((row) => Object.values(plot.screenPosition(row))));
    let [before, looks] = ["", 0];
    const look = () => {
        const now = places();
        looks = now === before ? looks + 1 : 0;
        before = now;
        if (looks >= 8) resolve(true); else setTimeout(look, 150);
    };
    look();
})"""


def places(studio: StudioPage) -> np.ndarray:
    """Where all rows are drawn."""
    found = studio.read("[...store.labels.keys()].map((row) => plot.screenPosition(row))")
    return np.array([[place["x"], place["y"]] for place in found])


def test_springs_move_the_rows_and_come_to_rest(plates: Served, open_page: OpenPage) -> None:
    studio = open_page(plates.url, reduced_motion="no-preference")
    studio.begin_afresh()
    assert studio.read("store.view") == "spring"
    assert studio.read("store.edges.length") == 2 * N_ROWS
    studio.read(AT_REST)
    begun, drawn = np.array(studio.read("Array.from(store.shownPositions)")).reshape(-1, 2), places(studio)
    moved = np.linalg.norm(drawn - [studio.at(x, y) for x, y in begun], axis=1)
    assert (moved > 5).mean() > 0.5
    # Edges pull: rows at both ends of one are nearer to each other than rows in general.
    ends = np.arange(N_ROWS)
    along = np.linalg.norm(drawn - drawn[(ends + 2) % N_ROWS], axis=1).mean()
    assert along < 0.6 * np.linalg.norm(drawn[:, None] - drawn, axis=2).mean()
    # A row that is dropped stays there, and takes its neighbors along until all is at rest again.
    corner = studio.at(0.9, 0.9)
    far = int(np.argmax(np.linalg.norm(drawn - corner, axis=1)))
    studio.drag(studio.place(far), corner)
    studio.until("store.state.pins.length === 1")
    studio.read(AT_REST)
    after = places(studio)
    assert np.allclose(after[far], corner, atol=3)
    neighbors = [(far + 2) % N_ROWS, (far - 2) % N_ROWS]
    nearer = np.linalg.norm(after[neighbors] - corner, axis=1) < np.linalg.norm(drawn[neighbors] - corner, axis=1)
    assert nearer.all()


def test_texts_and_images_are_on_the_card(plates: Served, open_page: OpenPage) -> None:
    studio = open_page(plates.url)
    studio.begin_afresh()
    card = studio.page.get_by_role("region", name="Question")
    a, b = studio.asked
    for row in (a, b):
        card.get_by_text(story(row), exact=True).wait_for()
        image = card.get_by_role("img", name=f"photo of p{row:02d}", exact=True)
        image.wait_for()
        studio.page.wait_for_function(
            "(image) => image.complete && image.naturalWidth === 12", arg=image.element_handle()
        )
        assert image.get_attribute("src").startswith("data:image/png;base64,")


def test_the_view_that_the_links_make_after_a_fit(plates: Served, open_page: OpenPage) -> None:
    studio = open_page(plates.url)
    studio.begin_afresh()
    view = studio.page.get_by_role("combobox", name="View")
    view.select_option("pca")
    studio.until("store.view === 'pca' && !plot.isMoving")
    before = places(studio)
    # Against what the table says: even rows and odd rows are mixed.
    for a, b in ((0, 1), (2, 3), (4, 5)):
        studio.act(do="link", a=a, b=b, together=True)
    studio.act(do="link", a=0, b=2, together=False)
    studio.until("store.state.shown.status === 'final'")
    view.select_option("learned")
    studio.until("store.view === 'learned' && !plot.isMoving")
    positions = np.array(studio.read("Array.from(store.shownPositions)")).reshape(-1, 2)
    assert positions.shape == (N_ROWS, 2)
    assert np.abs(positions).max() <= 1 + 1e-6
    drawn = places(studio)
    assert np.allclose(drawn, [studio.at(x, y) for x, y in positions], atol=2)
    assert np.abs(drawn - before).max() > 10


# How many pixels of the overlay have the accent's color, by their distance from a row in whole pixels.
ACCENT_AT = """(() => {
    const canvas = document.querySelector(".ml-plot-over");
    const box = canvas.getBoundingClientRect();
    const { x, y } = plot.screenPosition(given);
    const [cx, cy, half] = [x - box.left, y - box.top, 20];
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = getComputedStyle(document.querySelector(".ml-studio")).getPropertyValue("--ml-accent").trim();
    probe.fillRect(0, 0, 1, 1);
    const accent = probe.getImageData(0, 0, 1, 1).data;
    const [left, top] = [Math.round(cx) - half, Math.round(cy) - half];
    const { data } = canvas.getContext("2d").getImageData(left, top, 2 * half, 2 * half);
    const found = new Array(half).fill(0);
    for (let i = 0; i < 4 * half * half; i++) {
        const [px, py] = [left + (i % (2 * half)) + 0.5, top + Math.floor(i / (2 * half)) + 0.5];
        const at = Math.round(Math.hypot(px - cx, py - cy));
        const isAccent = [0, 1, 2].every((c) => Math.abs(data[4 * i + c] - accent[c]) < 24) && data[4 * i + 3] > 96;
        if (isAccent && at < half) found[at]++;
    }
    return found;
})()"""


def test_a_pinned_row_has_two_rings(studio: StudioPage) -> None:
    row = next(row for row in range(150) if row not in studio.asked)
    studio.act(do="move", rows=[row], x=-0.95, y=-0.95, onto=None)
    studio.until(
        "Math.hypot(plot.screenPosition(given[0]).x - given[1], plot.screenPosition(given[0]).y - given[2]) < 3",
        [row, *studio.at(-0.95, -0.95)],
    )
    studio.until(f"{ACCENT_AT}.some((n) => n > 0)", row)
    found = np.array(studio.read(ACCENT_AT, row))
    rings = np.flatnonzero(found >= 8)
    assert len(rings) >= 2
    # Between the two circles there is a gap.
    assert np.diff(rings).max() > 1 or found[rings[0] : rings[-1] + 1].min() < found[rings].max() / 2
    studio.button("Undo (z)").click()
    studio.until("store.state.pins.length === 0")


def test_final_groups_are_exported_as_they_are_seen(studio: StudioPage) -> None:
    studio.act(do="link", a=0, b=60, together=False)
    studio.act(do="link", a=60, b=120, together=False)
    studio.act(do="link", a=0, b=149, together=True)
    studio.until("store.state.shown.status === 'final' && store.state.shown.method === 'boost'")
    seen = studio.labels
    assert seen[0] == seen[149]
    assert len({seen[row] for row in (0, 60, 120)}) == 3
    labels = pd.read_csv(StringIO(studio.save("Labels")))
    assert labels["cluster"].tolist() == seen
    names = {group["id"]: group["name"] for group in studio.state["groups"]}
    assert labels["cluster_name"].tolist() == [names[label] for label in seen]
    script = studio.save("Python")
    assert "still computing" not in script
    compile(script, "again.py", "exec")

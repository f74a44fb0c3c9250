"""What a person sees, in Chromium: the first page, two tabs, a wrong address, hostile tables, phones, colors, names."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pandas as pd
import pytest

from studio.browser.studio_page import NO_GROUP, OpenPage, StudioPage
from studio.served import Served, make_session

PHONE = {
    "viewport": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
    "device_scale_factor": 2,
}


def test_the_first_page(studio: StudioPage) -> None:
    assert studio.read("store.hello.n_rows") == 150
    assert studio.page.title().startswith("iris")
    studio.page.get_by_role("region", name="Question").get_by_role("button", name="Same (s)").wait_for()
    for tab in ("Groups", "Links", "Columns", "History", "Export"):
        studio.tab(tab).wait_for()
    # Something other than the background is drawn where a row is.
    x, y = studio.place(0)
    picture = studio.page.screenshot(clip={"x": x - 8, "y": y - 8, "width": 16, "height": 16})
    x, y = studio.at(-1.1, -1.1)
    empty = studio.page.screenshot(clip={"x": x - 8, "y": y - 8, "width": 16, "height": 16})
    assert picture != empty


def test_groups_are_listed(studio: StudioPage) -> None:
    studio.act(do="choose", n_clusters=None, method="instant")
    for place, row in enumerate((0, 60, 120)):
        studio.act(do="move", rows=[row], x=0.9 * (place - 1), y=0.9, onto=None)
    studio.until("store.state.groups.length === 3")
    panel = studio.tab("Groups")
    for group in studio.state["groups"]:
        assert group["size"] == studio.labels.count(group["id"])
        panel.get_by_text(str(group["size"]), exact=False).first.wait_for()
    assert NO_GROUP not in studio.labels


def test_the_policy_forbids_inline_scripts(studio: StudioPage) -> None:
    studio.page.evaluate(
        "() => { const script = document.createElement('script'); script.textContent = 'window.hacked = 1';"
        " document.body.append(script); }"
    )
    assert studio.page.evaluate("window.hacked") is None
    assert "Content Security Policy" in studio.troubles[0]
    studio.expect_trouble("Content Security Policy")


def test_a_second_tab_follows(studio: StudioPage, iris_studio: Served, open_page: OpenPage) -> None:
    other = open_page(iris_studio.url, other_tab_of=studio)
    studio.act(do="link", a=0, b=149, together=False)
    other.until("store.state.n_links === 1")
    other.button("Undo (z)").click()
    studio.until("store.state.n_links === 0")
    assert studio.labels == other.labels


@pytest.mark.parametrize("token", [None, "wrong"])
def test_no_page_without_the_token(iris_studio: Served, open_page: OpenPage, token: str | None) -> None:
    address = urlsplit(iris_studio.url)
    page = open_page(address._replace(query="" if token is None else f"token={token}").geturl(), wait=False)
    page.expect_trouble("403 (Forbidden)")
    page.page.get_by_text("token").first.wait_for()
    assert page.page.evaluate("window.mustlinkStudio?.store.hello ?? null") is None
    assert "setosa" not in page.page.content()


SCRIPTS = (
    '<img src=x onerror="window.hacked = 1">',
    "<script>window.hacked = 1</script>",
    '"><svg onload="window.hacked = 1">',
    "javascript:window.hacked=1",
    "{{constructor.constructor('window.hacked=1')()}}",
    '=HYPERLINK("http://127.0.0.1:1", 1)',
    "‮gnirts</title><style>*{display:none}</style>",
)


@pytest.fixture(scope="module")
def hostile_studio(browser: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A table with markup in its name, its columns, its ids and its cells."""
    n_rows = 6 * len(SCRIPTS)
    texts = [f"{SCRIPTS[row % len(SCRIPTS)]} {row}" for row in range(n_rows)]
    table = pd.DataFrame(
        {
            SCRIPTS[2]: texts,
            SCRIPTS[0]: [SCRIPTS[row % 5] for row in range(n_rows)],
            SCRIPTS[1]: [float(row % 7) for row in range(n_rows)],
            "note": texts[::-1],
        }
    )
    path = tmp_path_factory.mktemp("hostile") / "<img src=x onerror=alert(1)>.csv"
    table.to_csv(path, index=False)
    served = Served(make_session(path.parent, table=path, id_column=SCRIPTS[2], ignore=["note"]))
    yield served
    served.close()


def test_a_table_with_scripts_does_nothing(hostile_studio: Served, open_page: OpenPage) -> None:
    studio = open_page(hostile_studio.url)
    studio.act(do="link", a=0, b=3, together=False)
    studio.act(do="rename", group=studio.state["groups"][0]["id"], name=SCRIPTS[0])
    studio.act(do="snapshot", name=SCRIPTS[1])
    studio.act(do="link", a=0, b=1, together=True)
    studio.act(do="link", a=1, b=2, together=True)
    for tab in ("Groups", "Links", "Columns", "History", "Export"):
        studio.tab(tab).wait_for()
    # Everything is shown as the text that it is.
    studio.page.get_by_role("region", name="Question").get_by_text("onerror").first.wait_for()
    studio.page.mouse.move(*studio.place(0))
    studio.act(do="link", a=0, b=2, together=False)
    studio.page.get_by_role("alertdialog").get_by_text("<").first.wait_for()
    assert studio.page.evaluate("window.hacked") is None
    assert studio.page.evaluate(
        "[...document.querySelectorAll('script, img, svg[onload], style')].every(e => e.src?.endsWith('studio.js'))"
    )


def test_the_question_card_of_a_phone(iris_studio: Served, open_page: OpenPage) -> None:
    studio = open_page(iris_studio.url, **PHONE)
    studio.begin_afresh()
    assert studio.page.evaluate("document.scrollingElement.scrollWidth") <= 390
    for name in ("Same (s)", "Different (d)", "Unsure (u)"):
        button = studio.button(name)
        button.scroll_into_view_if_needed()
        box = button.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert box["height"] >= 40
    studio.button("Unsure (u)").tap()
    studio.until("store.state.counts.skipped === 1")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(iris_studio: Served, open_page: OpenPage, scheme: str) -> None:
    studio = open_page(iris_studio.url, color_scheme=scheme)
    background, ink = studio.page.evaluate(
        "(() => { const style = getComputedStyle(document.querySelector('.ml-studio'));"
        " return [style.backgroundColor, style.color]; })()"
    )
    assert (lightness(background) > lightness(ink)) == (scheme == "light")
    assert contrast(background, ink) >= 7


def channels(color: str) -> list[float]:
    """The red, green and blue of a color of CSS, linear, from 0 to 1."""
    values = [float(value) / 255 for value in color[color.index("(") + 1 : -1].split(",")[:3]]
    return [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in values]


def lightness(color: str) -> float:
    """The relative luminance of a color, as the guidelines of accessibility define it."""
    red, green, blue = channels(color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast of two colors, from 1 to 21."""
    dark, light = sorted((lightness(one), lightness(other)))
    return (light + 0.05) / (dark + 0.05)


NAMED_ROLES = {"button", "tab", "textbox", "combobox", "spinbutton", "checkbox", "slider", "radio", "link", "searchbox"}


def test_every_control_has_a_name(studio: StudioPage) -> None:
    studio.act(do="link", a=0, b=149, together=False)
    session = studio.page.context.new_cdp_session(studio.page)
    for tab in ("Groups", "Links", "Columns", "History", "Export"):
        studio.tab(tab).wait_for()
        nodes = [node for node in session.send("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
        controls = [node for node in nodes if node.get("role", {}).get("value") in NAMED_ROLES]
        assert len(controls) > 10
        nameless = [node["role"]["value"] for node in controls if not node.get("name", {}).get("value", "").strip()]
        assert nameless == [], tab
    roles = {node.get("role", {}).get("value") for node in nodes}
    assert {"main", "application", "region", "status", "tablist"} <= roles
    names = [node["name"]["value"] for node in controls if node["role"]["value"] == "button"]
    assert len(names) == len(set(names))


def test_motion(studio: StudioPage) -> None:
    studio.tab("Links").wait_for()
    for motion, limit in (("reduce", 0.01), ("no-preference", 1.0)):
        studio.page.emulate_media(reduced_motion=motion)
        longest = studio.page.evaluate(
            "Math.max(...[...document.querySelectorAll('*')].map((element) => getComputedStyle(element))"
            ".flatMap((style) => [style.transitionDuration, style.animationDuration])"
            ".flatMap((durations) => durations.split(',').map(parseFloat)))"
        )
        assert longest <= limit

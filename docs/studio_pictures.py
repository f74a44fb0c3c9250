"""Take the pictures of the studio for the guide, in Chromium: ``python docs/studio_pictures.py``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests")]

from mustlink.datasets import make_customers, sample_paths
from studio.browser.running import RunningStudio, open_browser, why_no_browser
from studio.browser.studio_page import StudioPage

FOLDER = ROOT / "docs" / "_static"
DESK = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True, "device_scale_factor": 2}
PICTURES: dict[str, dict[str, Any]] = {
    "studio-light.png": {**DESK, "color_scheme": "light"},
    "studio-dark.png": {**DESK, "color_scheme": "dark"},
    "studio-phone.png": {**PHONE, "color_scheme": "light"},
}
N_ANSWERS = 12


def teach(page: StudioPage) -> None:
    """Answer some questions as the person would who knows the customers, and put three of them in places."""
    truth = make_customers().truth
    for _ in range(N_ANSWERS):
        a, b = page.asked
        page.answer("s" if truth[a] == truth[b] else "d")
    names = sorted(set(truth))
    for place, name in enumerate(names):
        page.act(do="move", rows=[list(truth).index(name)], x=0.8 * (place - 1), y=-0.85, onto=None)
    page.until("store.state.shown.status !== 'working'")


def main() -> None:
    if reason := why_no_browser():
        sys.exit(f"There are no pictures: {reason}.")
    table, links, *_ = sample_paths()
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        words = (table, "--links", links, "-k", "3", "--id", "customer")
        with RunningStudio(*words, folder=Path(folder)) as running:
            for place, (name, options) in enumerate(PICTURES.items()):
                page = StudioPage(browser.new_context(reduced_motion="reduce", **options).new_page())
                page.open(running.url)
                if place == 0:
                    teach(page)
                page.until("store.panels && plot.drawnAt > 0")
                page.page.screenshot(path=FOLDER / name)
                print(f"{name}: {(FOLDER / name).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()

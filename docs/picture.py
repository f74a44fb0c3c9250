"""Draw the picture of the README and of the first page, for light and for dark pages: ``python docs/picture.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mustlink import Constraints, PCKMeans
from mustlink.datasets import make_customers, sample_paths

FOLDER = Path(__file__).resolve().parent / "_static"
MARKERS = ("o", "s", "^")
# Ink, color of links and colors of the clusters; each color has a contrast of at least 3 to its page.
THEMES = {
    "customers.png": ("#222832", "#8a929c", ("#0072b2", "#c07a00", "#00805e")),
    "customers-dark.png": ("#dce1e8", "#8a929c", ("#56b4e9", "#e69f00", "#1fc795")),
}


def clusterings() -> tuple[pd.DataFrame, Constraints, dict[str, np.ndarray]]:
    """The sample, its links, and the labels without and with links, numbered as the groups they overlap most."""
    customers = pd.read_csv(sample_paths().table, index_col="customer")
    links = Constraints.read(sample_paths().links, ids=customers.index)
    encode = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")), remainder=OneHotEncoder()
    )
    X = encode.fit_transform(customers)
    labels = {}
    for title, given in (("k-means alone", None), (f"k-means with {len(links)} links", links)):
        found = PCKMeans(n_clusters=3, n_init=10, random_state=0).fit(X, constraints=given).labels_
        broken = len(links.violations(found))
        labels[f"{title}: {broken} of {len(links)} links broken"] = found
    return customers, links, labels


def draw(file: str) -> None:
    """Draw the customers by how they buy, without and with links."""
    ink, gray, colors = THEMES[file]
    customers, links, labels = clusterings()
    groups = pd.factorize(np.array(make_customers().truth))[0]
    places = np.column_stack([customers["visits_per_month"], 100 * customers["share_online"]])
    with plt.rc_context({"font.size": 12.5, "text.color": ink, "axes.labelcolor": ink, "axes.edgecolor": gray}):
        figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), sharey=True, layout="constrained")
        for axis, (title, found) in zip(axes, labels.items(), strict=True):
            for pairs, style in ((links.must_link, "-"), (links.cannot_link, ":")):
                for pair in pairs:
                    axis.plot(*places[pair].T, color=gray, linewidth=0.8, linestyle=style, zorder=1)
            overlap = pd.crosstab(found, groups).to_numpy()
            for label in range(3):
                look = int(overlap[label].argmax()) if len(set(overlap.argmax(axis=1))) == 3 else label
                axis.scatter(*places[found == label].T, c=colors[look], marker=MARKERS[look], s=30, zorder=2)
            axis.set(xlabel="visits per month")
            axis.set_title(title, fontsize=13)
            axis.tick_params(colors=ink)
            axis.spines[["top", "right"]].set_visible(False)
        axes[0].set_ylabel("bought online, percent")
        figure.savefig(FOLDER / file, dpi=130, transparent=True)
        plt.close(figure)


if __name__ == "__main__":
    for name in THEMES:
        draw(name)

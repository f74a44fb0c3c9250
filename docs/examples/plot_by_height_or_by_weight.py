"""
A few links choose the split
============================

People by height and weight. Weight varies more, and k-means splits by weight. Three links from someone who wants a
split by height are enough to change it. (After the sketch in the first chapter of *Constrained Clustering*, 2009.)
"""

import matplotlib.pyplot as plt
import numpy as np

from mustlink import Constraints, PCKMeans

rng = np.random.default_rng(1)
height = np.r_[rng.normal(160, 4, 60), rng.normal(183, 4, 60)]
weight = rng.uniform(50, 100, 120)
people = np.column_stack([height, weight])

# %%
# Two must-links join light and heavy people of one height; a cannot-link separates a tall person from a short one.

short, tall = np.arange(60), np.arange(60, 120)


def lightest_and_heaviest(rows):
    return rows[weight[rows].argmin()], rows[weight[rows].argmax()]


links = Constraints(
    must_link=[lightest_and_heaviest(short), lightest_and_heaviest(tall)],
    cannot_link=[(short[weight[short].argmin()], tall[weight[tall].argmin()])],
)

plain = PCKMeans(n_clusters=2, random_state=0).fit(people)
linked = PCKMeans(n_clusters=2, random_state=0).fit(people, constraints=links)

# %%
# Must-links are drawn solid, cannot-links dashed.

figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for axis, model, title in zip(axes, (plain, linked), ("without links", "with three links"), strict=True):
    for label, color, marker in ((0, "#0072B2", "o"), (1, "#E69F00", "s")):
        rows = model.labels_ == label
        axis.scatter(*people[rows].T, c=color, marker=marker, s=22, edgecolor="white", linewidth=0.5)
    for pairs, style in ((links.must_link, "-"), (links.cannot_link, "--")):
        for pair in pairs:
            axis.plot(*people[pair].T, color="black", linestyle=style, linewidth=1.4)
    axis.set(title=title, xlabel="height in cm")
axes[0].set_ylabel("weight in kg")
plt.show()

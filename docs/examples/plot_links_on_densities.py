"""
Links on the density tree
=========================

HDBSCAN finds clusters of any shape and leaves out noise. In noisy data it splits one band into several
dense patches. A few links determine which patches are one cluster, and only regions of the density tree that contain no
cannot-linked pair are selected.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mustlink import ConstrainedHDBSCAN, Constraints

rng = np.random.default_rng(4)
moons, moon = make_moons(260, noise=0.12, random_state=1)
between = np.column_stack([rng.normal(0.52, 0.06, 16), np.linspace(-0.35, 0.85, 16)])
X = np.r_[moons, between, rng.uniform([-1.6, -1.1], [2.6, 1.6], size=(25, 2))]

# %%
# 24 pairs of rows are known to be of one moon or of both.

known = np.r_[moon, np.full(len(X) - len(moon), -1)]
links = Constraints.sample(known, n_pairs=24, random_state=2)
plain = ConstrainedHDBSCAN(min_cluster_size=8).fit(X)
linked = ConstrainedHDBSCAN(min_cluster_size=8).fit(X, constraints=links)
print(f"{plain.n_clusters_} clusters without links, {linked.n_clusters_} with them")
print(f"links broken: {links.violation_rate(plain.labels_):.0%} and {links.violation_rate(linked.labels_):.0%}")

# %%
# Must-links are drawn solid, cannot-links dashed, noise in gray.

colors = np.array(["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999"])
figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for axis, model, title in zip(axes, (plain, linked), ("without links", "with 24 links"), strict=True):
    noise = model.labels_ == -1
    axis.scatter(*X[noise].T, c="#BBBBBB", s=10)
    axis.scatter(*X[~noise].T, c=colors[model.labels_[~noise] % 8], s=18, edgecolor="white", linewidth=0.4)
    for pairs, style in ((links.must_link, "-"), (links.cannot_link, "--")):
        for pair in pairs:
            axis.plot(*X[pair].T, color="black", linestyle=style, linewidth=1.0)
    axis.set(title=title, xticks=[], yticks=[])
plt.show()

"""
Rows that are never together
============================

Some knowledge is a column of the table: two people who speak at the same moment are not one person, two records of one
clean list are not one customer. No two rows with the same entry may be in one cluster. ``Constraints.from_groups``
makes such links of the column, without a list of all pairs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from mustlink import Constraints, COPKMeans

# %%
# Three voices overlap in the plane of two measurements. At each of 60 moments two or all three of them speak, and the
# noise of the moment moves all of them together: voices of one moment are easy to tell apart, those of different
# moments are not.

rng = np.random.default_rng(0)
moment, speaker = [], []
for number in range(60):
    voices = rng.permutation(3)[: rng.integers(2, 4)]
    moment += [number] * len(voices)
    speaker += voices.tolist()
moment, speaker = np.array(moment), np.array(speaker)
voice = np.array([[0.0, 0.0], [1.6, 0.0], [0.8, 1.4]])
X = voice[speaker] + rng.normal(scale=0.8, size=(60, 2))[moment] + rng.normal(scale=0.25, size=(len(moment), 2))

links = Constraints.from_groups(moment, link="cannot")
links

# %%
# k-means knows nothing of the moments and puts voices of one moment together. With the rule each moment is assigned as
# a whole, at the least cost.

plain = KMeans(3, n_init=10, random_state=0).fit(X)
ruled = COPKMeans(3, n_init=10, random_state=0).fit(X, constraints=links)
for name, model in (("k-means", plain), ("never together", ruled)):
    agreement = adjusted_rand_score(speaker, model.labels_)
    print(f"{name}: {links.violation_rate(model.labels_):.0%} of the links broken, adjusted Rand index {agreement:.2f}")

# %%
# Lines join the voices of one moment; those that share a cluster are drawn in black.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharey=True, layout="constrained")
colors = np.array(["#0072B2", "#E69F00", "#009E73"])
for axis, model, title in zip(axes, (plain, ruled), ("k-means", "never together"), strict=True):
    kept = links.satisfied(model.labels_)
    for pair, is_kept in zip(links.cannot_link, kept, strict=True):
        axis.plot(*X[pair].T, color="#DDDDDD" if is_kept else "black", linewidth=0.7, zorder=0)
    axis.scatter(*X.T, c=colors[model.labels_], s=22, edgecolor="white", linewidth=0.4)
    axis.set(title=title, xticks=[], yticks=[])
plt.show()

# %%
# On the command line the same is ``mustlink cluster voices.csv -k 3 --never-together moment``.

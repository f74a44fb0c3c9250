"""
Customers the way the shop sees them
====================================

The sample table that ships with mustlink: 240 customers of a shop. The loudest split in it is how long they have been
customers and what they bought then. The shop means something else, *how* they buy, and says so with forty links
between a few of them.
"""

import csv

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mustlink import Constraints, PCKMeans
from mustlink.datasets import sample_paths

table_path, links_path = sample_paths()
with open(table_path, encoding="utf-8", newline="") as file:
    header, *rows = csv.reader(file)
table = np.array(rows, dtype=object)
ids, numbers, department = table[:, 0], table[:, 1:5].astype(float), table[:, 5:]

# %%
# Numbers are standardised and the department becomes indicator columns, as the command does by itself.

encode = make_column_transformer((StandardScaler(), slice(0, 4)), (OneHotEncoder(), [4]))
X = encode.fit_transform(np.column_stack([numbers, department]))
links = Constraints.read(links_path, ids=ids)

plain = PCKMeans(n_clusters=3, n_init=10, random_state=0).fit(X)
linked = PCKMeans(n_clusters=3, n_init=10, random_state=0).fit(X, constraints=links)
for name, model in (("without links", plain), ("with links", linked)):
    print(f"{name}: {len(links.violations(model.labels_))} of {len(links)} links broken")

# %%
# Seen by how they buy, the three groups are plain to the eye, and only the clustering with links has found them.

visits, online = numbers[:, 0], 100 * numbers[:, 2]
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
for axis, model, title in zip(axes, (plain, linked), ("k-means alone", "k-means with 40 links"), strict=True):
    for a, b in links.must_link:
        axis.plot(visits[[a, b]], online[[a, b]], color="0.65", linewidth=0.8, zorder=1)
    for a, b in links.cannot_link:
        axis.plot(visits[[a, b]], online[[a, b]], color="0.65", linewidth=0.8, linestyle="--", zorder=1)
    for label, (colour, marker) in enumerate((("#0072B2", "o"), ("#E69F00", "s"), ("#009E73", "^"))):
        rows = model.labels_ == label
        axis.scatter(
            visits[rows], online[rows], c=colour, marker=marker, s=26, edgecolor="white", linewidth=0.5, zorder=2
        )
    axis.set(title=title, xlabel="visits per month")
axes[0].set_ylabel("bought online, per cent")
plt.show()

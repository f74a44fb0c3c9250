"""
Customers the way the shop sees them
====================================

The sample table that ships with mustlink: 240 customers of a shop. The strongest split in it is how long they have
been customers and what they bought then. The shop wants another one, *how* they buy, and gives forty links
between a few of them.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mustlink import Constraints, PCKMeans
from mustlink.datasets import sample_paths

table_path, links_path = sample_paths()
customers = pd.read_csv(table_path, index_col="customer")
links = Constraints.read(links_path, ids=customers.index)

# %%
# Numbers are standardized and the department becomes indicator columns, as the command does by itself.

encode = make_column_transformer(
    (StandardScaler(), make_column_selector(dtype_include="number")), remainder=OneHotEncoder()
)
X = encode.fit_transform(customers)

plain = PCKMeans(n_clusters=3, n_init=10, random_state=0).fit(X)
linked = PCKMeans(n_clusters=3, n_init=10, random_state=0).fit(X, constraints=links)
for name, model in (("without links", plain), ("with links", linked)):
    print(f"{name}: {len(links.violations(model.labels_))} of {len(links)} links broken")

# %%
# Drawn by how they buy, the three groups are easy to see, and only the clustering with links finds them.

visits, online = customers["visits_per_month"].to_numpy(), 100 * customers["share_online"].to_numpy()
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
for axis, model, title in zip(axes, (plain, linked), ("k-means alone", "k-means with 40 links"), strict=True):
    for a, b in links.must_link:
        axis.plot(visits[[a, b]], online[[a, b]], color="0.65", linewidth=0.8, zorder=1)
    for a, b in links.cannot_link:
        axis.plot(visits[[a, b]], online[[a, b]], color="0.65", linewidth=0.8, linestyle="--", zorder=1)
    for label, (color, marker) in enumerate((("#0072B2", "o"), ("#E69F00", "s"), ("#009E73", "^"))):
        rows = model.labels_ == label
        axis.scatter(
            visits[rows], online[rows], c=color, marker=marker, s=26, edgecolor="white", linewidth=0.5, zorder=2
        )
    axis.set(title=title, xlabel="visits per month")
axes[0].set_ylabel("bought online, percent")
plt.show()

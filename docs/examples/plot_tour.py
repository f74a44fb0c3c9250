"""
A complete tour: from a table to checked clusters
=================================================

Everything that a first project needs, on the sample that ships with mustlink: read a table and links, check the links,
cluster, look at the result, find wrong links, and ask for more. In the terminal, ``mustlink demo --tour`` walks through
the same steps.

The page was run as you see it. The links at its end download it as a Jupyter notebook or as a Python script.
"""

# %%
# Read the table
# --------------
#
# 240 customers of a shop, one per row. Give pandas the column that names them as the index, so that links can name them
# too.

import pandas as pd

from mustlink.datasets import sample_paths

table_path, links_path = sample_paths()
customers = pd.read_csv(table_path, index_col="customer")
customers.head()

# %%
# Read the links
# --------------
#
# A person who knows some of the customers stated for forty pairs whether the two belong together. The file has the
# columns ``a``, ``b`` and ``link``. ``ids`` lists the names of the rows in the order of the table; inside, links name
# rows by their numbers.

from mustlink import Constraints

links = Constraints.read(links_path, ids=customers.index)
links

# %%
# As a data frame they name the customers again:

links.to_frame(ids=customers.index).head()

# %%
# Check the links
# ---------------
#
# Do links contradict each other, and can three clusters keep all of them? Both are known before anything is clustered.

print(len(links.conflicts()), "conflicts")
can_keep = links.feasible(3, n_samples=len(customers)).answer
print("three clusters can keep all links:", can_keep)

# %%
# Suppose that someone adds the must-link between C007 and C136 by mistake. No other link is about this pair, but other
# links imply that the two are apart. Every conflict comes with the chain of links that causes it:

mistake = Constraints(must_link=[customers.index.get_indexer(["C007", "C136"])])
first = (links + mistake).conflicts()[0]
print(first.describe(customers.index))

# %%
# Cluster
# -------
#
# The department is text: make it 0/1 columns. :class:`~mustlink.RobustBoostCluster` scales the columns itself, and
# learns from the links which of them matter.

from mustlink import RobustBoostCluster

X = pd.get_dummies(customers)
model = RobustBoostCluster(n_clusters=3, random_state=0)
model.fit(X, constraints=links)

# %%
# What broke?
# -----------
#
# ``violations_`` holds the links that the result breaks. K-means, which knows nothing of the links, breaks many.

from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

kmeans = KMeans(n_clusters=3, n_init=10, random_state=0)
plain = make_pipeline(StandardScaler(), kmeans).fit_predict(X)
print(f"k-means breaks {len(links.violations(plain))} of {len(links)} links,")
print(f"this model breaks {len(model.violations_)}")

# %%
# What are the clusters? The means of the columns show it: customers who come often, customers who buy online, and the
# occasional ones.

customers.groupby(model.labels_).mean(numeric_only=True).round(2)

# %%
# A picture of the two columns in which they differ most:

import matplotlib.pyplot as plt

looks = (("#0072B2", "o"), ("#E69F00", "s"), ("#009E73", "^"))
figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
for label, (color, marker) in enumerate(looks):
    rows = customers[model.labels_ == label]
    visits, online = rows["visits_per_month"], 100 * rows["share_online"]
    axis.scatter(visits, online, c=color, marker=marker, label=f"cluster {label}")
axis.set(xlabel="visits per month", ylabel="bought online, percent")
figure.legend(loc="outside right upper", frameon=False)
plt.show()

# %%
# Write a report
# --------------
#
# One HTML file with the clusters, a picture and the links, to send to someone; ``mustlink cluster --report`` writes the
# same.

import tempfile
from pathlib import Path

from mustlink.report import headline, write_report

with tempfile.TemporaryDirectory() as folder:
    report = Path(folder) / "report.html"
    summary = write_report(
        report,
        X,
        model.labels_,
        links,
        row_names=customers.index,
        estimator=model,
    )
    print(f"{report.name}: {report.stat().st_size / 1000:.0f} kB")
print(headline(summary))
for cluster in summary.clusters:
    print(f"cluster {cluster.label}: {cluster.size} customers like {cluster.nearest_name}")

# %%
# Find wrong links
# ----------------
#
# People make mistakes. Here are 200 links of which one in ten is wrong. The model estimates how likely each link is to
# be right; those that look wrong are in ``suspects_``, the least likely first. These are the links to look at again.

from mustlink.datasets import make_customers

groups = pd.Series(make_customers().truth, index=customers.index)
hasty = Constraints.sample(groups, n_pairs=200, noise=0.1, random_state=1)
careful = RobustBoostCluster(n_clusters=3, random_state=0)
careful.fit(X, constraints=hasty)

suspects = pd.DataFrame(careful.suspects_)[["a", "b", "link", "trust"]]
for side in ("a", "b"):
    suspects[side] = customers.index[suspects[side]]
    suspects[f"group of {side}"] = groups[suspects[side]].array
suspects.head()

# %%
# How many of the suspects are wrong indeed?

is_same_group = suspects["group of a"] == suspects["group of b"]
is_wrong = is_same_group != (suspects["link"] == "must")
print(f"{is_wrong.sum()} of {len(suspects)} suspects are wrong")

# %%
# Ask for links
# -------------
#
# No links yet? A strategy chooses the pairs whose answers help most. Here the answers come from the known groups; with
# a person, use ``mustlink ask`` or :class:`~mustlink.active.CallbackOracle`.

from mustlink.active import MinMax, TruthOracle, ask
from mustlink.metrics import adjusted_rand

Z = StandardScaler().fit_transform(X)
strategy = MinMax(Z, n_clusters=3, random_state=0)
answers = ask(strategy, TruthOracle(groups), 20)
asked = RobustBoostCluster(n_clusters=3, random_state=0)
asked.fit(X, constraints=answers)

# %%
# Scored by the known groups; 1 is a perfect match, and 0 is what random labels give.

found = {
    "k-means": plain,
    "40 links of the file": model.labels_,
    "20 answers": asked.labels_,
}
for name, labels in found.items():
    print(f"{name}: adjusted Rand index {adjusted_rand(groups, labels):.2f}")

# %%
# Next: :doc:`/guide/choosing` lists the methods, :doc:`/guide/asking` the ways to ask, and :doc:`/guide/evaluation` how
# to tell whether links helped.

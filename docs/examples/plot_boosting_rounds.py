"""
Boosting, round by round
========================

RobustBoostCluster on the wine data with links of which one in ten is wrong. Each round works in another projection; the
objective, which measures the broken links, falls from round to round. After a third of the rounds it starts again, with
a new estimate of the trust in each link.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from mustlink import Constraints, RobustBoostCluster, plot

X, y = load_wine(return_X_y=True)
links = Constraints.sample(y, n_pairs=200, noise=0.1, random_state=0)
model = RobustBoostCluster(n_clusters=3, random_state=0).fit(X, constraints=links)

# %%
# The estimated fraction of wrong links, and how many of the suspects are wrong:

wrong = sum((y[suspect.a] == y[suspect.b]) != (suspect.link == "must") for suspect in model.suspects_)
print(f"estimated fraction of wrong links: {model.error_rate_:.2f}")
print(f"{wrong} of {len(model.suspects_)} suspects are wrong, of {round(0.1 * len(links))} wrong links")

# %%
# The data in the space of some rounds, with the links: must-links solid, cannot-links dashed.

plot.projections(model, X, links, rounds=[1, 8, 20])
plt.show()

# %%
# The objective and the steps.

plot.history(model)
plt.show()

# %%
# The co-association: the weight of the runs that put two wines into one cluster. Wines are sorted by cluster.

plot.coassociation(model)
plt.show()

"""
What boosting sees, round by round
==================================

RobustBoostCluster on the wine data with links of which one in ten is wrong. Each round sees the wines in another
projection; the objective, which counts what is still broken, falls from round to round. After a third of the rounds it
starts again, with a new estimate of the trust in each link.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from mustlink import Constraints, RobustBoostCluster, plot

X, y = load_wine(return_X_y=True)
links = Constraints.sample(y, n_pairs=200, noise=0.1, random_state=0)
model = RobustBoostCluster(n_clusters=3, random_state=0).fit(X, constraints=links)

# %%
# The estimated share of wrong links, and how many of the suspects are indeed wrong:

wrong = sum((y[suspect.a] == y[suspect.b]) != (suspect.link == "must") for suspect in model.suspects_)
print(f"estimated share of wrong links: {model.error_rate_:.2f}")
print(f"{wrong} of {len(model.suspects_)} suspects are wrong, of {round(0.1 * len(links))} wrong links")

# %%
# The data in the space of some rounds, with the links: must-links whole, cannot-links dashed.

plot.projections(model, X, links, rounds=[1, 8, 20])
plt.show()

# %%
# The objective and the steps.

plot.history(model)
plt.show()

# %%
# How much of the weight of all runs puts two wines together, the wines sorted by cluster.

plot.coassociation(model)
plt.show()

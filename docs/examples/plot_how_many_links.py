"""
How many links help?
====================

Handwritten digits, clustered with more and more links drawn from the true classes. The score on all rows rises partly
because the linked rows were given; the score on the rows in no link is the honest one.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mustlink import Constraints, PCKMeans
from mustlink.metrics import scores

X, y = load_digits(return_X_y=True)
numbers = [0, 250, 500, 1000, 2000]
trials = 3

# %%
# Half of the links are must-links, half cannot-links.

everyone, unlinked = np.zeros((2, len(numbers), trials))
for i, n_pairs in enumerate(numbers):
    for seed in range(trials):
        links = Constraints.sample(y, n_pairs=n_pairs, random_state=seed)
        labels = PCKMeans(n_clusters=10, random_state=seed).fit_predict(X, constraints=links)
        found = scores(y, labels, links)
        everyone[i, seed], unlinked[i, seed] = found["nmi"], found["nmi_unconstrained"]

# %%
# The shaded bands range from the worst to the best of the trials.

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
for values, color, marker, name in (
    (everyone, "#0072B2", "o", "all rows"),
    (unlinked, "#D55E00", "s", "rows in no link"),
):
    axis.plot(numbers, values.mean(axis=1), color=color, marker=marker, label=name)
    axis.fill_between(numbers, values.min(axis=1), values.max(axis=1), color=color, alpha=0.15)
axis.set(xlabel="number of links", ylabel="normalized mutual information", title="PCKMeans on the digits")
axis.legend(frameon=False)
plt.show()

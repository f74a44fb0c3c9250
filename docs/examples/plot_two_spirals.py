"""
Two spirals and four links
==========================

Points on the arms of two spirals, with labels on the inner parts only, and four must-links from there to the tails. A
classifier of the labels is wrong at the tails; one that learns from the links as well follows the arms, although no
point out there has a label. (After figure 17.3 of *Constrained Clustering*, 2009.)
"""

import matplotlib.pyplot as plt
import numpy as np

from mustlink import Constraints, PairwiseLogisticRegression

# %%
# Each arm makes one turn. Labels are drawn from the inner three quarters.

rng = np.random.default_rng(0)
place = np.linspace(0, 1, 200)
arms = []
for start in (0.5, 0.5 + np.pi):
    angle = start + 2 * np.pi * place
    arms.append((0.3 + place)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]))
X = np.concatenate(arms) + rng.normal(scale=0.04, size=(400, 2))
arm = np.repeat([0, 1], 200)

y = np.full(400, -1)
for first in (0, 200):
    labeled = first + rng.choice(150, size=40, replace=False)
    y[labeled] = arm[labeled]
links = Constraints(must_link=[(120, 165), (140, 190), (320, 365), (340, 390)])

# %%
# The same classifier without links, with the convex and with the non-convex loss of links. Dots with an edge have a
# label, lines are the links, and colors are what the classifier says.

models = {
    "labels alone": PairwiseLogisticRegression(gamma=8),
    "with links": PairwiseLogisticRegression(gamma=8),
    "with links, non-convex": PairwiseLogisticRegression(gamma=8, loss="nonconvex"),
}
figure, panels = plt.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
grid = np.stack(np.meshgrid(np.linspace(-1.6, 1.6, 120), np.linspace(-1.6, 1.6, 120)), axis=-1)
for axes, (title, model) in zip(panels, models.items(), strict=True):
    model.fit(X, y, constraints=None if title == "labels alone" else links)
    probability = model.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(120, 120)
    axes.contourf(grid[..., 0], grid[..., 1], probability, levels=np.linspace(0, 1, 11), cmap="RdBu", alpha=0.5)
    axes.contour(grid[..., 0], grid[..., 1], probability, levels=[0.5], colors="black", linewidths=1)
    axes.scatter(*X.T, c=arm, cmap="RdBu", s=8)
    axes.scatter(*X[y >= 0].T, c=arm[y >= 0], cmap="RdBu", s=28, edgecolors="black", linewidths=0.7)
    for one, other in links.must_link:
        axes.plot(*X[[one, other]].T, color="black", linewidth=2)
    axes.set_title(f"{title}: {model.score(X, arm):.0%} right")
    axes.set_aspect("equal")
    axes.axis("off")
plt.show()

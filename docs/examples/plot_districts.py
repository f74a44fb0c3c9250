"""
Districts on a map
==================

Places on a map are to be divided into districts of similar income. K-means by income alone scatters each group over the
map. With the neighbors of each place as a graph, every district is connected.
"""

# %%
# A map of 30 x 40 places, each adjacent to the ones beside it, above and below; incomes vary smoothly, with noise.

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.cluster import KMeans
from sklearn.feature_extraction.image import grid_to_graph

from mustlink import ConnectedKMeans, NetScan

shape = (30, 40)
rng = np.random.default_rng(1)
income = gaussian_filter(rng.normal(size=shape), 4, mode="nearest")
income = income / income.std() + 0.2 * rng.normal(size=shape)
X = income.reshape(-1, 1)
graph = grid_to_graph(*shape)

# %%
# Three ways to six groups: without the map, with small squared differences in each district, and with a small largest
# difference from the center of a district.

found = {
    "KMeans, without the map": KMeans(6, n_init=10, random_state=0).fit(X).labels_,
    "ConnectedKMeans": ConnectedKMeans(6, n_init=10, random_state=0).fit(X, graph=graph).labels_,
    "NetScan": NetScan(6, n_init=10, random_state=0).fit(X, graph=graph).labels_,
}

figure, axes = plt.subplots(2, 2, figsize=(8, 6.4), layout="constrained")
axes[0, 0].imshow(income, cmap="viridis")
axes[0, 0].set_title("income")
for panel, (title, labels) in zip(axes.flat[1:], found.items(), strict=True):
    panel.imshow(labels.reshape(shape), cmap="tab10", vmin=0, vmax=9)
    panel.set_title(title)
for panel in axes.flat:
    panel.set_axis_off()
plt.show()

"""
BERTopic with links
===================

BERTopic finds topics with any clusterer that it can call as ``fit(X)``. With ``mustlink.bind`` that is
:class:`~mustlink.ConstrainedHDBSCAN` with links between texts. Where BERTopic is not installed,
the clusters are computed, and its part is skipped.
"""

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from mustlink import ConstrainedHDBSCAN, Constraints, bind

# %%
# Short texts of three subjects that share some words. Any embedding of the texts will do; here it needs no download.

rng = np.random.default_rng(0)
words = {
    "garden": "soil seed flower rose prune water root leaf spring compost",
    "kitchen": "oven flour sugar bake butter recipe knife boil pan salt",
    "market": "price stall apple weight seller coin basket bargain crowd morning",
}
shared = ["the", "a", "fresh", "green", "small", "good", "day", "house", "table", "hand"]
texts, subject = [], []
for name, own in words.items():
    for _ in range(60):
        texts.append(" ".join([*rng.choice(own.split(), 7), *rng.choice(shared, 5)]))
        subject.append(name)
embeddings = make_pipeline(TfidfVectorizer(), TruncatedSVD(5, random_state=0)).fit_transform(texts)

# %%
# What is known: 30 pairs of texts on one subject or on two.

links = Constraints.sample(subject, n_pairs=30, random_state=0)
clusterer = bind(ConstrainedHDBSCAN(min_cluster_size=12), links.on(len(texts)))
print("links broken by the clusters:", f"{links.violation_rate(clusterer.fit_predict(embeddings)):.0%}")

# %%
# BERTopic gets the clusterer as its ``hdbscan_model``. The embeddings are small already, so nothing reduces them again:
# an empty dimensionality reduction keeps the rows and their order.

try:
    from bertopic import BERTopic
    from bertopic.dimensionality import BaseDimensionalityReduction
except ImportError:
    print('BERTopic is not installed, and this part is skipped; install it with: pip install "bertopic"')
else:
    topics = BERTopic(
        hdbscan_model=clusterer,
        umap_model=BaseDimensionalityReduction(),
        calculate_probabilities=False,
    )
    found, _ = topics.fit_transform(texts, embeddings)
    print(topics.get_topic_info()[["Topic", "Count", "Name"]].to_string(index=False))

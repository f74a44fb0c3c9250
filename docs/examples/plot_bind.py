"""
Links in a tool that knows no links
===================================

A pipeline, or any other tool that calls ``fit(X)``, passes no links. ``mustlink.bind`` puts the links into the
estimator, whose ``fit`` then takes X alone.
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from mustlink import Constraints, PCKMeans, bind

X, kind = load_wine(return_X_y=True)
links = Constraints.sample(kind, n_pairs=40, random_state=0)

# %%
# ``links.on(len(X))`` says how many rows the links belong to: a fit on any other number of rows is refused, as a fold
# of cross-validation would be.

bound = bind(PCKMeans(3, random_state=0), links.on(len(X)))
bound

# %%
# As the last step of a pipeline it clusters; the links are between the rows of the table, whatever the steps before it
# make of their columns.

labels = make_pipeline(StandardScaler(), bound).fit_predict(X)
print("rows per cluster:", np.bincount(labels), "links broken:", f"{links.violation_rate(labels):.0%}")

# %%
# As a step in between it transforms: the distances to the three centers are columns for a classifier. No step
# of scikit-learn knows that there are links.

columns = make_union(FunctionTransformer(feature_names_out="one-to-one"), bound)
model = make_pipeline(StandardScaler(), columns, LogisticRegression(max_iter=1000)).fit(X, kind)
print("columns of the classifier:", model[-1].n_features_in_)

# %%
# Links on another number of rows are refused.

try:
    bound.fit(X[:100])
except ValueError as error:
    print(error)

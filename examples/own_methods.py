"""Classifiers of any package beside drmbench's own, from Python; no main guard."""

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import drmbench

data = drmbench.load("wine")
logistic = make_pipeline(StandardScaler(), LogisticRegression())
boosting = HistGradientBoostingClassifier(max_iter=20), {"max_leaf_nodes": [4, 15]}
methods = {"drm": "drm-linear", "boosting": boosting, "scaled-logistic": logistic}
print(drmbench.compare(data.X, data.y, methods=methods))

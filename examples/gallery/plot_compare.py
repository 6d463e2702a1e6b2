"""
Compare methods on your own data
================================

The same folds for every method; scaling and parameters are selected inside each
training part, and the verdict says what the splits can tell apart.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import drmbench

X, y = load_wine(return_X_y=True)
methods = {
    "drm": "drm-linear",
    "bayes": "nb",
    "scaled-logistic": make_pipeline(StandardScaler(), LogisticRegression()),
}
found = drmbench.compare(X, y, methods=methods, repeats=1, progress=False)
print(found.verdict)

# %%
# The ranking is a data frame.
ranking = found.ranking
figure, axes = plt.subplots(figsize=(6, 2.2), layout="constrained")
axes.errorbar(ranking["mean"], ranking["method"], xerr=ranking["sd"], fmt="o")
axes.invert_yaxis()
axes.set(xlabel="G-mean, mean and sd over 5 folds", ylim=(2.5, -0.5))
plt.show()

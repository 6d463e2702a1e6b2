"""
A rare class
============

Of 500 samples 25 are of the rare class. Class weights move the border between the
classes, for the DRM as for any other method.
"""

import matplotlib.pyplot as plt
import numpy as np

from drmbench import DRMClassifier

rng = np.random.default_rng(0)
common, rare = rng.normal(0, 1, (475, 2)), rng.normal(1.6, 0.7, (25, 2))
X = np.vstack([common, rare])
y = np.repeat(["common", "rare"], [475, 25])

# %%
# The same model with and without balanced class weights.
grid = np.stack(np.meshgrid(np.linspace(-3, 4, 70), np.linspace(-3, 4, 70)), axis=-1)
figure, both = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for axes, weight in zip(both, (None, "balanced"), strict=True):
    model = DRMClassifier(alpha=0.1, beta=0.1, gamma=0.5, class_weight=weight)
    model.fit(X, y)
    found = (model.predict(grid.reshape(-1, 2)) == "rare").reshape(70, 70)
    axes.contourf(grid[..., 0], grid[..., 1], found, levels=1, cmap="Pastel1_r")
    axes.scatter(*common.T, s=6, color="tab:gray", label="common")
    axes.scatter(*rare.T, s=12, color="tab:orange", label="rare")
    recall = np.mean(model.predict(rare) == "rare")
    axes.set_title(f"class_weight={weight!r}\n{recall:.0%} of the rare class found")
    axes.set(xlim=(-3, 4), ylim=(-3, 4))
both[0].legend(loc="upper left")
plt.show()

"""
A stream of any length
======================

``LinearDRMClassifier`` keeps sums, not samples: what it learned from parts is what it
would have learned from all at once.
"""

import matplotlib.pyplot as plt
import numpy as np

from drmbench import LinearDRMClassifier

rng = np.random.default_rng(0)
directions = rng.normal(size=(2, 30))


def part(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw samples of two classes."""
    y = rng.integers(0, 2, rows)
    return directions[y] + rng.normal(0, 6, (rows, 30)), y


X_test, y_test = part(4000)
model = LinearDRMClassifier(alpha=1e-3, beta=1.0)
seen, scores = [], []
for rows in (20, 20, 40, 80, 160, 320, 640, 1280, 2560):
    model.partial_fit(*part(rows), classes=[0, 1])
    seen.append(rows + (seen[-1] if seen else 0))
    scores.append(model.score(X_test, y_test))

# %%
# Accuracy on 4,000 samples that it never saw.
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.semilogx(seen, scores, "o-")
axes.set(xlabel="samples seen", ylabel="accuracy")
axes.grid(alpha=0.3)
plt.show()

"""
What the DRM does
=================

A test sample is written as a weighted sum of the training samples. The weights of a
class are asked to agree; the class whose part explains the sample best is the answer.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from drmbench import DRMClassifier

X, y = load_digits(return_X_y=True)
X = X / 16
model = DRMClassifier(alpha=1e-3, beta=1.0, kernel="linear").fit(X[:900], y[:900])
sample = X[1205:1206]

# %%
# Every training digit takes part; left: the digit, middle: how much each class
# contributes, right: how far the digit is from what each class contributes.
weights = model.representation(sample)[0]
share = [np.abs(weights[y[:900] == digit]).sum() for digit in range(10)]
distance = model.dissimilarities(sample)[0]
answer = int(model.predict(sample)[0])

figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(8, 2.4), width_ratios=(1, 2, 2), layout="constrained"
)
left.imshow(sample.reshape(8, 8), cmap="gray_r")
left.set(title="a new digit", xticks=[], yticks=[])
colours = ["tab:orange" if digit == answer else "tab:gray" for digit in range(10)]
middle.bar(range(10), share, color=colours)
middle.set(title="weights by class", xlabel="class", xticks=range(10))
right.bar(range(10), distance - distance.min(), color=colours)
right.set(title=f"dissimilarity: it is a {answer}", xlabel="class", xticks=range(10))
plt.show()

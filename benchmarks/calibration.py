"""How good the class probabilities are: log-loss on the folds of 15 KEEL sets.

``python benchmarks/calibration.py`` takes about two minutes; the data come as in
configs/imbalanced.yaml. Ours is ``DRMClassifier.predict_proba``; against it stand
``CalibratedClassifierCV(DRMClassifier(...), method="sigmoid", cv=5)`` with its ensemble
of five models and without, and the shares of the classes. Features are divided by their
largest absolute value. Parameters are α = β = 0.1 with γ = 1 or degree 3 ("fixed"), or
chosen by the accuracy of exact leave-one-out on the training part ("chosen"; of yeast3
on 600 of its rows). docs/math.md, section 12, has the figures.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

from drmbench import DRMClassifier, DRMClassifierCV, load
from drmbench.data.catalogue import load_catalogue

DECADES = (0.001, 0.01, 0.1, 1.0, 10.0)
MOST_ROWS = 600


def chosen(kernel, X, y):
    rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    search = DRMClassifierCV(
        alphas=DECADES,
        betas=DECADES,
        kernels=kernel,
        gammas=(0.05, 0.5, 5.0, 50.0),
        degrees=(2, 3, 5),
        refit=False,
    )
    return search.fit(X[rows], y[rows]).best_params_


def fixed(kernel, X, y):
    gamma = 1.0 if kernel == "rbf" else None
    return {"alpha": 0.1, "beta": 0.1, "kernel": kernel, "gamma": gamma, "degree": 3}


def probabilities(settings, X, y, X_test):
    """Yield the name of each way and the probability of class 1."""
    model = DRMClassifier(**settings)
    yield "ours", model.fit(X, y).predict_proba(X_test)[:, 1]
    for name, ensemble in (("ensemble", True), ("single", False)):
        other = CalibratedClassifierCV(model, method="sigmoid", cv=5, ensemble=ensemble)
        yield name, other.fit(X, y).predict_proba(X_test)[:, 1]
    yield "shares", np.full(len(X_test), np.mean(y))


def losses(name, kernel, parameters):
    """Return the mean log-loss of every way over the folds of a data set."""
    data = load(name)
    found = {}
    for fold in np.unique(data.folds):
        train, test = data.folds != fold, data.folds == fold
        scale = np.abs(data.X[train]).max(axis=0)
        X = data.X / np.where(scale > 0, scale, 1.0)
        y = data.y
        settings = parameters(kernel, X[train], y[train])
        for way, p in probabilities(settings, X[train], y[train], X[test]):
            loss = log_loss(y[test], p, labels=[0, 1])
            found.setdefault(way, []).append(loss)
    return {way: np.mean(values) for way, values in found.items()}


def main():
    warnings.simplefilter("ignore")
    names = [entry.name for entry in load_catalogue().group("keel")]
    print(
        "mean log-loss over 15 sets; sets where ours is lower, higher; largest excess"
    )
    with threadpool_limits(limits=1):
        for kernel in ("rbf", "poly", "linear"):
            for parameters in (fixed, chosen):
                rows = [losses(name, kernel, parameters) for name in names]
                ours = np.array([row["ours"] for row in rows])
                other = np.array([row["ensemble"] for row in rows])
                means = "  ".join(
                    f"{way} {np.mean([row[way] for row in rows]):.4f}"
                    for way in rows[0]
                )
                excess = ours - other
                print(
                    f"{kernel:<7}{parameters.__name__:<7}  {means}  "
                    f" {np.sum(excess < 0)}, {np.sum(excess > 0)}; {excess.max():+.4f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()

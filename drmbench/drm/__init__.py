"""The Discriminative Ridge Machine: systems, solvers, leave-one-out, estimators."""

"""What the Discriminative Ridge Machine and its ablation share as classifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, check_non_negative

from drmbench.drm.decision import NearestClassMixin
from drmbench.drm.engines import (
    Engine,
    KernelEngine,
    make_feature_engine,
    make_iterative,
    step_constant,
)
from drmbench.drm.kernels import (
    INDEFINITE_KERNELS,
    KERNEL_NAMES,
    NON_NEGATIVE_KERNELS,
    SPARSE_KERNELS,
    Kernel,
    gram,
    resolve_gamma,
    symmetric_part,
)
from drmbench.drm.linear import ClassSums
from drmbench.drm.linear_classifier import LinearDRMClassifier
from drmbench.drm.low_rank import LowRankEngine, LowRankMap
from drmbench.drm.partition import (
    Array,
    ClassPartition,
    announced_classes,
    check_samples,
    check_training,
    check_two_classes,
)
from drmbench.drm.probability import Calibration, TrainingSet
from drmbench.drm.solvers import ClosedForm, check_minimum
from drmbench.drm.system import (
    DenseSystem,
    FactoredSystem,
    Solution,
    StoppingRule,
    make_penalty,
)
from drmbench.drm.weights import ClassWeight, check_sample_weight, training_weights

#: Memory a batch of test samples may take, in bytes, when `batch_size` is None.
BATCH_BYTES = 256 * 2**20
#: Arrays of the size (training samples × batch) that a solver holds at a time.
ARRAYS_PER_BATCH = 8
#: Test samples whose low-rank features are made at a time: they stay in the cache.
BATCH_ROWS = 1024


@dataclass(frozen=True, eq=False)
class SolveTrace:
    """How the representation of one test sample was found."""

    #: Objective before the first and after every iteration; for a direct solver the one
    #: value of the solution
    objective: Array
    n_iter: int  #: Iterations used
    stop_reason: str  #: Why the solver stopped


def _streams(model: BaseDRM) -> bool:
    """Tell whether a model can be fitted in pieces; partial_fit is there if so."""
    if model.rank is None:
        raise AttributeError(
            "partial_fit needs rank=: only a kernel of low rank can be fitted in pieces"
        )
    return True


#: Parameters that sums of features depend on.
_FIXED_IN_STREAMS = ("alpha", "beta", "kernel", "gamma", "degree", "coef0", "rank")


class BaseDRM(NearestClassMixin, ClassifierMixin, BaseEstimator):
    """The classifier with the within-class weight α and the penalty still fixed."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "beta": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions({*KERNEL_NAMES, "precomputed"}), callable],
        "gamma": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"scale", "auto"}),
            None,
        ],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "solver": [StrOptions({"auto", "closed_form", "gd", "ppa", "apg", "exact"})],
        "step": [StrOptions({"fixed", "backtracking"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "rank": [Interval(Integral, 1, None, closed="left"), None],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    # What an estimator without these parameters uses.
    alpha: float = 0.0
    penalty: str = "ridge"

    _calibration: Calibration | None

    _map: LowRankMap | None

    def __init__(
        self,
        *,
        beta: float = 1.0,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        solver: str = "auto",
        step: Any = "fixed",
        tol: float = 1e-5,
        max_iter: int = 150,
        rank: int | None = None,
        batch_size: int | None = None,
        n_jobs: int | None = None,
        class_weight: ClassWeight = None,
    ) -> None:
        self.beta = beta
        self.kernel: Any = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.step = step
        self.tol = tol
        self.max_iter = max_iter
        self.rank = rank
        self.batch_size = batch_size
        self.n_jobs = n_jobs
        self.class_weight = class_weight

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel in SPARSE_KERNELS
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.positive_only = self.kernel in NON_NEGATIVE_KERNELS
        # These kernels have no intercept and cannot tell x from -x.
        tags.classifier_tags.poor_score = self.kernel in ("linear", "cosine")
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Prepare the system of the training samples.

        Parameters
        ----------
        X : array-like of shape (n, p), or (n, n) for ``kernel="precomputed"``
            Training samples; a sparse matrix for the kernels "linear", "poly", "rbf",
            "cosine" and "sigmoid". Not negative for "chi2" and "additive_chi2".
        y : array-like of shape (n,)
            Class labels of any kind.
        sample_weight : array-like of shape (n,), default=None
            Weights ω ≥ 0 of the samples; None is 1 for each. A whole number counts a
            sample that many times, 0 leaves it out; a class whose samples all have
            the weight 0 is not in ``classes_``.

        Returns
        -------
        self
        """
        X, y = check_training(self, X, y, accept_sparse=self._accept_sparse())
        self._check_signs(X)
        given = check_sample_weight(sample_weight, len(y))
        weights = training_weights(y, self.class_weight, given)
        self._n_given = len(y)
        self._partition = ClassPartition.of(y, weights)
        self.classes_ = self._partition.classes
        check_two_classes(self.classes_)
        self._engine = self._make_engine(X, weights, given)
        if isinstance(self._engine, LowRankEngine):
            self._engine.check_solvable()
            self.n_iter_ = 1
        else:
            means = self._engine.system.class_means()
            self.n_iter_ = int(self._engine.solve(means).n_iter.max())
        self._calibration = self._lazy_calibration()
        return self

    def _lazy_calibration(self) -> Calibration:
        """Keep what the model was fitted with, for probabilities."""
        partition, kernel = self._partition, None
        settings = self.get_params(deep=False)
        settings["class_weight"] = None  # the weights of the samples contain it
        if self.kernel != "precomputed":
            kernel = self._kernel
            settings["gamma"] = kernel.gamma
        direct = self.solver in ("auto", "closed_form", "exact")
        exact = direct and self.penalty == "ridge" and self.rank is None
        labels = self.classes_[partition.codes]
        samples = TrainingSet(self._samples, labels, partition.weights, kernel)
        return Calibration(samples, type(self)(**settings), exact)

    @available_if(_streams)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: Any | None = None, sample_weight: Any = None
    ) -> Self:
        """Add samples to the model; needs `rank`.

        The first call chooses the landmarks of the kernel's approximation, and the
        number that ``gamma="scale"`` stands for, from its samples: give it some
        thousands that are typical. Later calls add sums of features, so that the
        samples need not be in memory together. After :meth:`fit` it goes on with the
        landmarks chosen there.

        Parameters
        ----------
        X : array-like of shape (n, p)
            More training samples, as in :meth:`fit`.
        y : array-like of shape (n,)
            Their labels.
        classes : array-like, default=None
            All labels that will ever occur; needed on the first call. A class without
            samples so far is never predicted.
        sample_weight : array-like of shape (n,), default=None
            Weights ω ≥ 0 of these samples; None is 1 for each. `class_weight` counts
            the samples seen so far.

        Returns
        -------
        self
        """
        engine = getattr(self, "_engine", None)
        before = engine if isinstance(engine, LowRankEngine) else None
        X, y = check_training(
            self, X, y, reset=before is None, accept_sparse=self._accept_sparse()
        )
        self._check_signs(X)
        self._check_stream(before)
        given = check_sample_weight(sample_weight, len(y))
        classes = announced_classes(y, classes, self.classes_ if before else None)
        features = before.features if before else self._first_landmarks(X, given)
        codes = np.searchsorted(classes, y)
        sums = features.class_sums(X, codes, classes.size, self.alpha, self.beta, given)
        self.classes_, self._map, self.n_iter_ = classes, features, 1
        self._engine = self._low_rank_engine(before.sums + sums if before else sums)
        self._calibration = None
        return self

    def _check_stream(self, before: LowRankEngine | None) -> None:
        self._check_kernel()
        if self._solver_name(1, 0) != "exact":
            raise ValueError(
                f"solver={self.solver!r} needs all samples at once; partial_fit takes"
                " solver 'auto' or 'exact', and penalty 'ridge'"
            )
        now = self._fixed_in_streams()
        changed = [n for n in now if before and before.settings[n] != now[n]]
        if changed:
            raise ValueError(
                f"{', '.join(changed)} changed after fitting; the sums depend on"
                f" {'them' if len(changed) > 1 else 'it'}: fit again"
            )

    def _fixed_in_streams(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIXED_IN_STREAMS}

    def _first_landmarks(self, X: Any, weights: Array | None) -> LowRankMap:
        assert self.rank is not None
        if weights is not None:
            kept = np.flatnonzero(weights)
            if not kept.size:
                raise ValueError(
                    "the first call of partial_fit needs samples with positive weights:"
                    " it chooses the landmarks among them"
                )
            X, weights = X[kept], weights[kept]
        kernel = self._resolved_kernel(X, weights)
        return LowRankMap.of(X, kernel, self.rank, weights)

    def _accept_sparse(self) -> Any:
        return "csr" if self.kernel in SPARSE_KERNELS else False

    def _check_signs(self, X: Any) -> None:
        if self.kernel in NON_NEGATIVE_KERNELS:
            whom = f"{type(self).__name__} with kernel={self.kernel!r}"
            check_non_negative(X, whom)

    def _has_features(self) -> bool:
        return self.kernel == "linear" or self.rank is not None

    def _solver_name(self, n: int, p: int) -> str:
        name = self.solver
        if name == "auto" and self.penalty != "ridge":
            name = "apg"
        elif name == "auto":
            few = self.rank is not None or (self.kernel == "linear" and p < n)
            name = "exact" if few else "closed_form"
        if self.penalty != "ridge" and name not in ("ppa", "apg"):
            raise ValueError(
                f"solver={name!r} is for penalty='ridge' only; penalty="
                f"{self.penalty!r} takes solver 'auto', 'apg' or 'ppa'"
            )
        if name == "exact" and not self._has_features():
            raise ValueError(
                "solver='exact' needs features: kernel='linear', or rank= for a"
                " low-rank approximation of another kernel"
            )
        return name

    def _check_kernel(self) -> None:
        if self.rank is not None and self.kernel == "precomputed":
            raise ValueError("rank= needs samples; it cannot take a precomputed kernel")
        # Only a Cholesky factorisation can tell whether there is a minimum at all.
        if self.kernel in INDEFINITE_KERNELS and (
            self.rank is not None
            or self.penalty != "ridge"
            or self.solver not in ("auto", "closed_form")
        ):
            raise ValueError(
                f"kernel={self.kernel!r} is not positive semidefinite: it takes solver"
                " 'auto' or 'closed_form', penalty 'ridge' and no rank"
            )

    def _resolved_kernel(self, X: Any, weights: Array | None) -> Kernel:
        if callable(self.kernel):
            return Kernel.of_callable(self.kernel)
        gamma = resolve_gamma(self.gamma, X, self.kernel, weights)
        return Kernel(self.kernel, gamma, self.degree, self.coef0)

    def _make_engine(
        self, X: Any, weights: Array | None, sample_weight: Array | None
    ) -> Engine:
        self._check_kernel()
        order = self._partition.order
        self._samples = rows = X[order]
        name = self._solver_name(*rows.shape)
        self._map = None
        if self.kernel != "precomputed":
            self._kernel = self._resolved_kernel(X, weights)
        if self.rank is not None:
            self._map = LowRankMap.of(
                rows, self._kernel, self.rank, self._partition.weights
            )
            if name == "exact":
                sums = self._map.class_sums(
                    rows,
                    self._partition.codes,
                    self._partition.n_classes,
                    self.alpha,
                    self.beta,
                    None if sample_weight is None else sample_weight[order],
                )
                return self._low_rank_engine(sums, (rows, self._partition))
            rows = self._map.transform(rows)
        if self._has_features() and name != "closed_form":
            system = FactoredSystem(rows, self._partition, self.alpha)
            penalty = make_penalty(self.penalty, self.beta, self._partition)
            return make_feature_engine(name, system, penalty, self._rule(), self.step)
        if self.kernel == "precomputed":
            self._samples = symmetric_part(X)[np.ix_(order, order)]
            return self._kernel_engine(name, self._samples)
        self._rows = rows  # what new samples are compared with
        if self._map is not None:
            return self._kernel_engine(name, rows @ rows.T)
        return self._kernel_engine(name, self._kernel_matrix(rows))

    def _low_rank_engine(
        self, sums: ClassSums, training: tuple[Any, ClassPartition] | None = None
    ) -> LowRankEngine:
        """Return the engine of sums that are without class weights."""
        assert self._map is not None
        linear = LinearDRMClassifier.from_sums(
            self.classes_,
            sums,
            alpha=self.alpha,
            beta=self.beta,
            class_weight=self.class_weight,
        )
        return LowRankEngine(self._map, linear, self._fixed_in_streams(), training)

    def _may_be_indefinite(self) -> bool:
        """Tell whether a kernel may have negative eigenvalues, for all one knows."""
        if self.kernel in ("poly", "polynomial"):
            return self.coef0 < 0 or self.degree % 1 != 0
        return callable(self.kernel) or self.kernel == "precomputed"

    def _kernel_engine(self, name: str, K: Array) -> Engine:
        system = DenseSystem(K, self._partition, self.alpha)
        penalty = make_penalty(self.penalty, self.beta, self._partition)
        if name == "closed_form":
            direct = ClosedForm(system, self.beta)
            direct.warn_if_ill_conditioned()
            return KernelEngine(system, penalty, direct)
        if self._may_be_indefinite() and self._map is None:
            check_minimum(system, self.beta if self.penalty == "ridge" else 0.0)
        c = step_constant(name, system, self.step)
        solver = make_iterative(name, c, penalty, self._rule(), self.step)
        return KernelEngine(system, penalty, solver)

    def _rule(self) -> StoppingRule:
        return StoppingRule(self.tol, self.max_iter)

    def _kernel_matrix(self, X: Any, Y: Any = None) -> Array:
        return gram(X, Y, kernel=self._kernel)

    def _inputs(self, X: Any) -> Any:
        """Turn validated samples into the engine's inputs."""
        if self._map is not None:
            features = self._map.transform(X)
            if isinstance(self._engine, KernelEngine):
                return features @ self._rows.T
            return features
        if self.kernel == "precomputed":
            return np.ascontiguousarray(X[:, self._partition.order])
        if isinstance(self._engine, KernelEngine):
            return self._kernel_matrix(X, self._rows)
        return X

    def _validated(self, X: Any) -> Any:
        X = check_samples(self, X, accept_sparse=self._accept_sparse())
        self._check_signs(X)
        return X

    def _numbers_per_sample(self, p: int) -> int:
        """Return the length of the longest vector a solver keeps per test sample."""
        n, g = self._partition.n_samples, self._partition.n_classes
        features = self.kernel == "linear" and not isinstance(
            self._engine, KernelEngine
        )
        return max(n, g * p) if features else n

    def _batches(self, X: Any, largest: int | None = None) -> Iterator[Any]:
        size = self.batch_size or largest
        if size is None:
            per_sample = 8 * ARRAYS_PER_BATCH * self._numbers_per_sample(X.shape[1])
            size = max(1, BATCH_BYTES // per_sample)
        for start in range(0, X.shape[0], size):
            yield X[start : start + size]

    def dissimilarities(self, X: Any) -> Array:
        """Return δ_c of each sample from each class; the smallest is predicted.

        Parameters
        ----------
        X : array-like of shape (m, p), or (m, n) for ``kernel="precomputed"``
            Test samples.

        Returns
        -------
        ndarray of shape (m, g)
            Columns in the order of ``classes_``.
        """
        X = self._validated(X)
        if self._engine.batches_itself and self._map is None:
            return self._engine.dissimilarities(X)
        work = delayed(lambda batch: self._engine.dissimilarities(self._inputs(batch)))
        largest = BATCH_ROWS if isinstance(self._engine, LowRankEngine) else None
        parts = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            work(batch) for batch in self._batches(X, largest)
        )
        return np.concatenate(list(parts))

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (m, p), or (m, n) for ``kernel="precomputed"``
            Test samples.

        Returns
        -------
        ndarray of shape (m, g)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self)
        if self._calibration is None:
            raise ValueError(
                "probabilities need training samples to be left out, and partial_fit"
                " keeps only sums of them; use fit, or calibrate with scikit-learn's"
                " CalibratedClassifierCV(FrozenEstimator(model))"
            )
        return self._calibration.map.log_probabilities(self.dissimilarities(X))

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes.

        They are ``p_c ∝ exp(b_c - τ δ_c)`` with the τ and b of the largest likelihood
        on training samples that were left out: by exact leave-one-out, or in five parts
        for iterative solvers, the lasso penalties and low-rank kernels. The first call
        finds them, at the cost of a few fits.

        Parameters
        ----------
        X : array-like of shape (m, p), or (m, n) for ``kernel="precomputed"``
            Test samples.

        Returns
        -------
        ndarray of shape (m, g)
            Columns in the order of ``classes_``; rows sum to 1.

        Notes
        -----
        The predicted class, of the smallest δ, is always the most probable one: where
        the offsets b would put another class first, both get the same probability.
        With weights, probabilities are those of a population like the weighted samples.
        """
        return np.exp(self.predict_log_proba(X))

    def representation(self, X: Any) -> Array:
        """Return w of each sample: its coordinates in the training samples.

        Parameters
        ----------
        X : array-like of shape (m, p), or (m, n) for ``kernel="precomputed"``
            Test samples.

        Returns
        -------
        ndarray of shape (m, n)
            Columns in the order the training samples were given; 0 for samples of the
            weight 0. A sample of weight ω has the sum of what its ω copies would have.
        """
        X = self._validated(X)
        partition = self._engine.system.partition
        W = np.zeros((X.shape[0], self._n_given))
        start = 0
        for batch in self._batches(X):
            found = self._engine.solve(self._inputs(batch)).W
            W[start : start + batch.shape[0], partition.order] = partition.times_roots(
                found
            ).T
            start += batch.shape[0]
        return W

    def solve_trace(self, x: Any) -> SolveTrace:
        """Solve for one test sample and report how it went.

        Parameters
        ----------
        x : array-like of shape (p,) or (1, p)
            One test sample.

        Returns
        -------
        SolveTrace
        """
        row = x if sparse.issparse(x) else np.atleast_2d(np.asarray(x))
        if row.shape[0] != 1:
            raise ValueError(f"solve_trace takes one sample, got {row.shape[0]}")
        solution: Solution = self._engine.solve(self._inputs(self._validated(row)))
        return SolveTrace(
            solution.objective[:, 0], int(solution.n_iter[0]), solution.stop_reason[0]
        )

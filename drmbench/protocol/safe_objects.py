"""Fitted estimators as bytes, and back, without running anything that bytes say.

The format is that of skops (https://skops.readthedocs.io): a zip archive of arrays and
of a tree of type names and attributes. Nothing is imported or built before every type
in it is found to be trusted: scikit-learn's estimators and numpy's types by skops
itself, and what :data:`TRUSTED` names. Pickle has no such list: whoever writes a pickle
chooses the functions that reading it calls.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from drmbench.errors import InputError
from drmbench.npz import NpzArchive, read_header

#: Members, and bytes when unpacked, that an archive may have.
MOST_MEMBERS = 200_000
MOST_BYTES = 4 * 2**30
#: Bytes of the tree of types, which takes some ten times as much once it is read.
MOST_TEXT = 2**28
#: Whole numbers beyond are no floats.
_LARGEST = 10**308

#: Types beyond those that skops trusts: those of drmbench's own methods, and of the
#: libraries that these are made of.
TRUSTED: tuple[str, ...] = (
    "drmbench.drm.classifier.DRMClassifier",
    "drmbench.drm.classifier.KernelRidgeRepresentationClassifier",
    "drmbench.drm.engines.ExactEngine",
    "drmbench.drm.engines.FeatureEngine",
    "drmbench.drm.engines.KernelEngine",
    "drmbench.drm.feature_solvers.APGIterates",
    "drmbench.drm.feature_solvers.LeanDescent",
    "drmbench.drm.feature_solvers.MatrixIterates",
    "drmbench.drm.feature_solvers.PPAIterates",
    "drmbench.drm.kernels.Kernel",
    "drmbench.drm.linear.ClassSums",
    "drmbench.drm.linear.LinearModel",
    "drmbench.drm.linear_classifier.LinearDRMClassifier",
    "drmbench.drm.linear_classifier._LazyModel",
    "drmbench.drm.low_rank.LowRankEngine",
    "drmbench.drm.low_rank.LowRankMap",
    "drmbench.drm.partition.ClassPartition",
    "drmbench.drm.probability.Calibration",
    "drmbench.drm.probability.TrainingSet",
    "drmbench.drm.solvers.AcceleratedGradient",
    "drmbench.drm.solvers.ClosedForm",
    "drmbench.drm.solvers.GradientDescent",
    "drmbench.drm.solvers.Momentum",
    "drmbench.drm.solvers.ProximalPoint",
    "drmbench.drm.system.DenseSystem",
    "drmbench.drm.system.FactoredSystem",
    "drmbench.drm.system.Ridge",
    "drmbench.drm.system.StoppingRule",
    "drmbench.methods.bayes.GaussianNaiveBayes",
    "drmbench.methods.boosting.EasyEnsemble",
    "drmbench.methods.boosting.RUSBoost",
    "drmbench.methods.c45.C45Classifier",
    "drmbench.methods.c45_tree.CompiledTree",
    "drmbench.methods.dhs_tree.DHSNode",
    "drmbench.methods.dhs_tree.DHSTreeClassifier",
    "drmbench.methods.drm_threshold.ThresholdDRM",
    "drmbench.methods.knn.NearestNeighbours",
    "drmbench.methods.linear_scores.LinearScores",
    "drmbench.methods.linear_svm.LiblinearSVC",
    "drmbench.methods.logistic.SizedLogisticRegression",
    "drmbench.methods.oversampling.OversampledClassifier",
    "drmbench.methods.representation.CollaborativeClassifier",
    "drmbench.methods.representation.ProbabilisticCollaborativeClassifier",
    "drmbench.methods.shrinkage_lda.ShrinkageLDA",
    "drmbench.methods.shrunken_centroids.ShrunkenCentroids",
    "drmbench.methods.slda.SharedCovarianceGaussians",
    "drmbench.methods.slda.SparseLDA",
    "drmbench.methods.sparse_representation.SparseRepresentationClassifier",
    "drmbench.methods.svm.GramSVC",
    "drmbench.methods.svm.KernelSVC",
    "drmbench.protocol.preparation.TablePreparation",
    "imblearn.ensemble._forest.BalancedRandomForestClassifier",
    "imblearn.pipeline.Pipeline",
    "imblearn.under_sampling._prototype_selection._random_under_sampler"
    ".RandomUnderSampler",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.tree._tree.Tree",
)


def dump_object(value: Any) -> bytes:
    """Return a fitted estimator, or a dict of some, as bytes.

    Raises
    ------
    InputError
        If it has something that the format cannot hold.
    """
    from skops.io import dumps

    try:
        data: bytes = dumps(value, compression=zipfile.ZIP_DEFLATED)
    # Of estimators that people bring anything may be raised.
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise InputError(f"the model cannot be written ({reason})") from error
    return data


def foreign_types(data: bytes) -> tuple[str, ...]:
    """Return the types that bytes name and that are not trusted, sorted."""
    from skops.io import get_untrusted_types

    check_archive(data)
    return tuple(sorted(set(get_untrusted_types(data=data)) - set(TRUSTED)))


def load_object(data: bytes, *, trust: Collection[str] = ()) -> Any:
    """Return what :func:`dump_object` wrote.

    `trust` are further types that may be built. Whatever is wrong with the bytes is
    raised as it comes.
    """
    from skops.io import loads

    check_archive(data)
    value = loads(data, trusted=[*TRUSTED, *trust])
    for part in _parts_of(value):
        _check_part(part)
    return value


def check_archive(data: bytes) -> None:
    """Refuse an archive of too many or too large members, before any is unpacked.

    No more of a member is ever unpacked than the size that is written there. Arrays
    must be as large as their headers say.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if len(members) > MOST_MEMBERS:
            raise ValueError(f"it has {len(members):,} members")
        size = sum(member.file_size for member in members)
        texts = [m.file_size for m in members if m.filename.endswith(".json")]
        if size > MOST_BYTES or max(texts, default=0) > MOST_TEXT:
            raise ValueError(f"it would be {size:,} bytes when unpacked")
        for member in members:
            with archive.open(member) as stream:
                if member.filename.endswith(".npy"):
                    read_header(stream, member.file_size)
                elif member.filename.endswith(".npz"):  # a sparse matrix
                    _check_arrays(NpzArchive(stream), MOST_BYTES - size)


def _check_arrays(archive: NpzArchive, most: int) -> None:
    """Refuse arrays that are too large together, or not as their headers say."""
    if archive.size > most:
        raise ValueError(f"its arrays would be {archive.size:,} bytes when unpacked")
    for name in archive:
        archive.header(name)


def _parts_of(value: Any) -> Iterator[Any]:
    """Yield an object and all that it is made of, but for texts and floats."""
    seen: dict[int, Any] = {}
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, str | bytes | float):
            continue
        yield one
        if isinstance(one, int):
            continue
        seen[id(one)] = one
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list | tuple | set):
            waiting += one
        elif isinstance(one, np.ndarray):
            waiting += one.ravel().tolist() if one.dtype == object else []
        else:
            waiting += getattr(one, "__dict__", {}).values()


def _check_part(part: Any) -> None:
    """Refuse what a fit could not have left behind."""
    if isinstance(part, int):
        if abs(part) > _LARGEST:
            raise ValueError("a number in it is too large")
    elif type(part).__name__ in ("Tree", "TreePredictor"):
        _check_tree(part)
    elif hasattr(part, "_parameter_constraints") and not isinstance(part, type):
        part._validate_params()


def _check_tree(tree: Any) -> None:
    """Refuse a tree whose nodes point outside it or back; compiled code follows them.

    Children stand behind their parents in all trees that scikit-learn grows.
    """
    state = tree.__getstate__()
    nodes = state["nodes"]
    if type(tree).__name__ == "Tree":
        left, right, feature = ("left_child", "right_child", "feature")
        inner = np.flatnonzero(nodes[left] != -1)
        sound = (nodes[feature][inner] < tree.n_features).all()
        sound = sound and len(state["values"]) == len(nodes)
    else:  # of gradient boosting
        left, right, feature = ("left", "right", "feature_idx")
        inner = np.flatnonzero(nodes["is_leaf"] == 0)
        sets = min(len(tree.raw_left_cat_bitsets), len(tree.binned_left_cat_bitsets))
        categorical = inner[nodes["is_categorical"][inner] != 0]
        sound = (nodes["bitset_idx"][categorical] < sets).all()
    sound = sound and len(nodes) > 0 and (nodes[feature][inner] >= 0).all()
    for side in (left, right):
        child = nodes[side][inner].astype(np.int64)
        sound = sound and ((child > inner) & (child < len(nodes))).all()
    if not sound:
        raise ValueError("a decision tree in it is not sound")

"""Antonym scores of images against pairs of opposite descriptions (PTQ-01, PTQ-02).

Conventions: embeddings are rows of any length; they are normalised here.  D is the width of the embedding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement


def positive_share(images: ArrayLike, texts: ArrayLike, logit_scale: float) -> Measurement:
    """Return the mean softmax share of the positive text of each pair.

    Parameters
    ----------
    images : (M, D) float
        Embeddings of M sampled frames.
    texts : (K, 2, D) float
        Embeddings of K antonym pairs, the positive text first.
    logit_scale : float
        The model's logit scale.

    Returns
    -------
    Measurement
        Share in [0, 1]; evidence: the share per frame and pair, ``shares`` (M, K).

    Raises
    ------
    Unmeasurable
        ``too_few_frames`` without a frame, ``all_nan`` without a finite embedding.

    References
    ----------
    Spec ``perceptual.md`` PTQ-01, PTQ-02; antonym prompts after CLIP-IQA (arXiv 2207.12396).

    Examples
    --------
    >>> import numpy as np
    >>> float(positive_share(np.eye(2)[:1], np.eye(2)[None], 100.0).value)
    1.0
    """
    x, y = np.atleast_2d(np.asarray(images, dtype=float)), np.asarray(texts, dtype=float)
    if x.size == 0:
        raise Unmeasurable("too_few_frames", "no frame was embedded")
    x = x[np.isfinite(x).all(axis=1)]
    if len(x) == 0:
        raise Unmeasurable("all_nan", "no embedding is finite")
    x = x / np.linalg.norm(x, axis=-1, keepdims=True)
    y = y / np.linalg.norm(y, axis=-1, keepdims=True)
    logits = logit_scale * np.einsum("md,ksd->mks", x, y)
    shares = 1.0 / (1.0 + np.exp(np.clip(logits[..., 1] - logits[..., 0], -700.0, 700.0)))
    return Measurement(float(shares.mean()), len(x), float(shares.mean(axis=1).std()), {"shares": shares})

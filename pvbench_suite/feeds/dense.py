"""Dense fields for the kernels of flow and flicker."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter

from pvbench_suite.perception.types import Flow, Masks
from pvbench_suite.physics.flow import occlusion


def regions(flow: Flow, masks: Masks | None) -> NDArray[np.int32] | None:
    """Return the object labels (M, h, w) of the first frame of each pair on the flow's grid; None without masks.

    Labels are grown by one pixel at 160 columns: a rim that the coarser grid leaves outside an object moves with it, is
    mostly hidden in the other frame, and would fail the rest of the picture by itself.
    """
    if masks is None or not masks.names:
        return None
    h, w = flow.forward.shape[1:3]
    rows = np.minimum((np.arange(h) + 0.5) * masks.grid[0] / h, masks.grid[0] - 1).astype(int)
    columns = np.minimum((np.arange(w) + 0.5) * masks.grid[1] / w, masks.grid[1] - 1).astype(int)
    nearest = np.abs(masks.times[None, :] - flow.times[:, None]).argmin(axis=1)
    found = np.stack([masks.labels(int(t))[np.ix_(rows, columns)] for t in nearest])
    reach = 2 * max(1, round(w / 160)) + 1
    return np.where(found > 0, found, maximum_filter(found, size=(1, reach, reach)))


def moving(flow: Flow, masks: Masks | None) -> NDArray[np.bool_] | None:
    """Return the moving-object mask (M, h, w) of each pair; None without masks."""
    labels = regions(flow, masks)
    return None if labels is None else labels > 0


def hidden(flow: Flow) -> NDArray[np.bool_]:
    """Return the pixels (M, h, w) of the first frame that are hidden in the second, by the backward range map."""
    back = np.asarray(flow.backward, dtype=float)
    return np.asarray(occlusion(back), dtype=bool)

"""Gaps over time: of bodies to planes, to each other, and to whatever else is beside them in the picture.

Conventions
-----------
Gaps are signed lengths in world units, NaN where one of the two is not known.  Depth is the weak part of every
reconstruction, so that it never parts two things by itself: a gap counts as closed within `tolerance`, which is a
quarter of the smaller radius or what 3 % of the depth makes of it along the gap, whichever is larger
(spec ``physics.md``, R16: contact = gap <= 0.25 r or boundary depth gap < 3 %).
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import binary_dilation

from pvbench_suite.perception.derived.scene import Bools, Floats, Scene
from pvbench_suite.perception.derived.surroundings import Plane, Surroundings
from pvbench_suite.perception.types import Bodies

#: Gap of a contact in smaller radii, and depth gap as a share of the depth.
TOUCH, DEPTH = 0.25, 0.03
#: What flies is away from all else by this many times that share: it is not to fly for an error of the depth.
SURE = 2.0
#: Share of the cells round an object that another thing fills at its depth, for it to be beside the object.
BESIDE = 0.04
_POINTS = 150


class Bodily:
    """The bodies of a scene, as the gaps need them.

    Attributes
    ----------
    centre : (T, N, 3) float
        World centres, NaN where not known.
    radius : (N,) float
        Radius of a ball; of any other body that of a disc of its outline's area (world units).
    line : (T, N, 3) float
        Unit rays from the camera to the centres.
    away : (T, N) float
        Distances of the centres from the camera.
    """

    def __init__(self, seen: Scene, bodies: Bodies) -> None:
        self.seen, self.bodies = seen, bodies
        self.centre = np.where(np.asarray(bodies.present)[..., None], np.asarray(bodies.centre, dtype=float), np.nan)
        focal = seen.K[0, 0] * seen.masks.hw[1] / seen.masks.grid[1]
        with np.errstate(invalid="ignore"):
            disc = np.asarray(bodies.radius, dtype=float) * np.asarray(bodies.z, dtype=float) / focal
        ball = np.array([shape == "sphere" for shape in bodies.shape], dtype=bool)
        middle = [float(np.median(d[np.isfinite(d)])) if np.isfinite(d).any() else np.nan for d in disc.T]
        self.radius = np.where(ball, 0.5 * np.asarray(bodies.diameter, dtype=float), np.array(middle))
        line = self.centre - seen.Tcw[:, None, :3, 3]
        self.away = np.linalg.norm(line, axis=-1)
        self.line = line / self.away[..., None]
        self._rims: dict[tuple[int, int], Floats] = {}

    def known(self, n: int) -> Bools:
        """Return the frames (T,) in which the centre of `n` is known."""
        return np.asarray(np.isfinite(self.centre[:, n, 0]))

    def blur(self, n: int) -> float:
        """Return the least error of a gap of body `n` [world units].

        A tenth of a pixel where a shape is fitted, half a pixel where its outermost pixel is read.
        """
        away = self.away[self.known(n), n]
        share = 0.1 if self.bodies.shape[n] in ("sphere", "box") else 0.5
        return share * float(np.median(away)) / float(self.seen.K[0, 0]) if len(away) else np.inf

    def rim(self, t: int, n: int) -> Floats:
        """Return at most 150 world points of the outline and the surface of body `n`."""
        if (t, n) not in self._rims:
            x = np.concatenate([self.seen.rim(t, n), self.seen.surface(t, n)])
            self._rims[t, n] = self.seen.world(t, x[np.linspace(0, len(x) - 1, min(_POINTS, len(x))).astype(int)])
        return self._rims[t, n]

    def to_plane(self, n: int, plane: Plane) -> tuple[Floats, Floats]:
        """Return the gap (T,) of body `n` to a plane, NaN where the plane does not reach, and its tolerance (T,)."""
        normal, gap = plane.equation[:3], plane.above(self.centre[:, n])
        if self.bodies.shape[n] == "sphere":
            gap = gap - self.radius[n]
        elif self.bodies.shape[n] == "box" and self.bodies.R is not None and self.bodies.half is not None:
            gap = gap - np.abs(np.einsum("tij,i->tj", self.bodies.R[:, n], normal)) @ self.bodies.half[n]
        else:
            for t in np.flatnonzero(self.known(n)):
                # A body that is seen from above shows the foot of its near side.
                gap[t] = np.percentile(plane.above(self.rim(int(t), n)), 2.0)
        gap[~plane.holds(self.centre[:, n], float(self.radius[n]))] = np.nan
        lean = np.abs(self.line[:, n] @ normal)
        return gap, np.fmax(TOUCH * self.radius[n], DEPTH * self.away[:, n] * lean)

    def between(self, i: int, j: int, slack: float = DEPTH) -> tuple[Floats, float]:
        """Return the gap (T,) of two bodies, their difference in depth less `slack` of it, and its tolerance."""
        gap = np.full(len(self.centre), np.nan)
        balls = self.bodies.shape[i] == self.bodies.shape[j] == "sphere"
        if not (self.known(i).any() and self.known(j).any()):
            return gap, np.nan
        reach = 4.0 * float(np.nanmax(self.bodies.diameter[[i, j]]))
        for t in np.flatnonzero(self.known(i) & self.known(j)):
            line, less = self.line[t, j], slack * self.away[t, j]
            if balls:
                gap[t] = float(_apart(self.centre[t, [i]] - self.centre[t, [j]], line, less)[0])
                gap[t] -= self.radius[i] + self.radius[j]
            elif np.linalg.norm(self.centre[t, i] - self.centre[t, j]) < reach:
                way = self.rim(int(t), i)[:, None] - self.rim(int(t), j)[None]
                gap[t] = float(_apart(way, line, less).min())
            else:
                gap[t] = np.inf
        return gap, TOUCH * float(np.nanmin(self.radius[[i, j]]))

    def adjoin(self, i: int, j: int) -> Bools:
        """Return the frames (T,) in which the masks of two bodies touch or overlap on the depth's grid."""
        out = np.zeros(len(self.centre), dtype=bool)
        for t in np.flatnonzero(self.bodies.present[:, i] & self.bodies.present[:, j]).tolist():
            grown = binary_dilation(self.seen.covered(t, i) > 0, np.ones((3, 3), dtype=bool))
            out[t] = bool((grown & (self.seen.covered(t, j) > 0)).any())
        return out

    def beside(self, n: int, around: Surroundings) -> Bools:
        """Return the frames (T,) in which something that is no masked body and no plane is next to body `n`."""
        out = np.zeros(len(self.centre), dtype=bool)
        for t in np.flatnonzero(self.bodies.present[:, n]).tolist():
            ring, own, carried = self.seen.ring(t, n)
            for m in range(len(self.bodies.names)):
                if m != n:
                    ring &= self.seen.covered(int(t), m) == 0
            # Between a cell and the body's edge the depth of a surface passes through all values in between.
            near = ring & (np.fmin(own, carried) < SURE * DEPTH) & (np.fmax(own, carried) > -SURE * DEPTH)
            if near.any():
                x = self.seen.world(t, self.seen.depth(t)[near][:, None] * self.seen.cell_rays[near])
                left = ~self._on_planes(t, x, around)
                out[t] = left.sum() > BESIDE * max(int(ring.sum()), 1)
        return out

    def _on_planes(self, t: int, x: Floats, around: Surroundings) -> Bools:
        """Return which world points (k, 3) that frame `t` shows lie on one of the planes, within the error of depth."""
        way = x - self.seen.Tcw[t, :3, 3]
        flat = np.zeros(len(x), dtype=bool)
        for plane in around.planes:
            slack = DEPTH * np.abs(way @ plane.equation[:3]) + 1e-3 * np.linalg.norm(way, axis=1)
            flat |= np.abs(plane.above(x)) < slack
        return flat


def _apart(way: Floats, line: Floats, slack: float) -> Floats:
    """Return the lengths (...) of `way` (..., 3) when its part along the ray `line` is shorter by `slack`."""
    along = way @ line
    across = np.linalg.norm(way - along[..., None] * line, axis=-1)
    return np.asarray(np.hypot(across, np.maximum(np.abs(along) - slack, 0.0)))

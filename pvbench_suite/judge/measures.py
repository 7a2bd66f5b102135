"""What is measured for the judge of each dimension that takes evidence (R06, R07, R08, R15, IF-08, IF-10)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from pvbench_suite.dimensions import Dimension
from pvbench_suite.feeds import bodies as feed
from pvbench_suite.feeds import points
from pvbench_suite.judge.drawing import Sketch, curves
from pvbench_suite.judge.evidence import Evidence, Get, each_object
from pvbench_suite.judge.timeline import permanence
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.body import body, pose_gate
from pvbench_suite.physics.light import light_consistency
from pvbench_suite.physics.points import object_size
from pvbench_suite.physics.pose import pose_jump
from pvbench_suite.physics.scale import scale_drift
from pvbench_suite.physics.series import median_dt, present_median, smooth
from pvbench_suite.prompts.brief import Brief

Floats = NDArray[np.float64]
Measure = Callable[[Get, Brief, Dimension], Evidence | None]

_LIGHT = {
    "trend": "light direction wanders about its own 1 s course by",
    "step": "light direction jumps at one instant by",
    "rate": "light direction turns within half a second by",
    "shadow": "cast shadow against the lit side is off by",
}


def light(get: Get, brief: Brief, dimension: Dimension) -> Evidence | None:
    """Return the four angles of R08, the change of shading, and their course; None without a shading record."""
    record, bodies = get("shading"), get("bodies")
    if record is None:
        return None
    dt = median_dt(record.times)
    found = light_consistency(
        normals=record.normals,
        shading=record.shading,
        shadow=record.shadow,
        up=record.up,
        dt=dt,
        motion=None if bodies is None else feed.motion(bodies),
        light_moves=brief.light_moves,
    )
    times = np.asarray(record.times, dtype=float)
    lines, shown = [f"worst of the angles: {found.value:.1f} deg (one light is assumed; {found.n} frames)"], {}
    for name, words in _LIGHT.items():
        series = found.evidence.get(f"{name}_series")
        value = found.evidence[name]
        if value is None or series is None:
            free = name == "rate" and brief.light_moves
            lines.append(f"{words}: {'free, the prompt lets the light move' if free else 'not measured'}")
            continue
        at = times[: len(series)]
        lines.append(f"{words} {value:.1f} deg{_peak(at, series)}")
        if name != "step":
            shown[name] = (at, series)
    if (change := _brightness(record.shading, times, dt)) is not None:
        lines.append(change)
    picture = Sketch(curves, (shown, dimension.cuts or (), "deg", float(times[-1])))
    return Evidence(tuple(lines), picture, "The measured angles over time; faint lines are the bounds of the scores")


def _brightness(shading: Floats, times: Floats, dt: float) -> str | None:
    """Return the course of the shading of the same points, against each point's own median; None without any."""
    tones = np.where(np.asarray(shading, dtype=float) > 0, shading, np.nan)
    own = present_median(tones, axis=0)
    course = smooth(present_median(tones / own[None], axis=1), dt)
    if not np.isfinite(course).any():
        return None
    low, high = int(np.nanargmin(course)), int(np.nanargmax(course))
    return (
        f"shading of the same surface points: lowest {course[low]:.0%} of its median at {times[low]:.2f} s, "
        f"highest {course[high]:.0%} at {times[high]:.2f} s"
    )


def _peak(times: Floats, series: Floats) -> str:
    """Return where a series is highest, in words."""
    known = np.isfinite(series)
    if not known.any() or float(np.nanmax(series)) < 1e-3:
        return ""
    return f", most at {times[int(np.nanargmax(series))]:.2f} s"


def scale(get: Get, brief: Brief, dimension: Dimension) -> Evidence | None:
    """Return the drift R06c of each rigid object; None without tracked 3D points."""
    tracks, cameras = get("tracks"), get("cameras")
    if tracks is None or tracks.xyz is None:
        return None
    cloud, dt = points.xyz(tracks), median_dt(tracks.times)
    background = points.background_size(tracks)
    centres = None if cameras is None else cameras.centres

    def drift(n: int) -> Measurement:
        mine = cloud[:, tracks.of(n)]
        pose_gate(body(mine, None, centres), object_size(mine), dt)
        return scale_drift(tracks.times, _size(mine), background)

    def say(found: Measurement) -> str:
        series = np.abs(np.asarray(found.evidence["log_size"], dtype=float))
        share = math.expm1(found.value)
        return f"size drifts by {found.value:.3f} log units ({share:.0%}){_peak(found.evidence['t'], series)}"

    lines = each_object(tracks.names, brief.rigid(tracks.names), drift, say)
    head = "drift of size with distance taken out (R06c), against the static background"
    return Evidence((head, *lines)) if lines else None


def _size(cloud: Floats) -> Floats:
    """Return the size (T,) of tracked points (T, P, 3): the median over pairs of their distance.

    Each pair counts against its own median length, so that a pair that comes into view does not change the size.
    """
    i, j = np.triu_indices(cloud.shape[1], 1)
    distance = np.linalg.norm(cloud[:, i] - cloud[:, j], axis=-1)
    log = np.log(np.where(distance > 0, distance, np.nan))
    return np.asarray(np.exp(present_median(log - present_median(log, axis=0)[None], axis=1)))


def pose(get: Get, brief: Brief, dimension: Dimension) -> Evidence | None:
    """Return the jump R07c of each rigid object that has an orientation; None without poses."""
    bodies, contacts, cameras = get("bodies"), get("contacts"), get("cameras")
    if bodies is None or bodies.R is None or contacts is None:
        return None

    def jump(n: int) -> Measurement:
        where, rays = feed.path(bodies, n), feed.rays(bodies, cameras, n)
        group = brief.symmetry(bodies.names[n])
        turns = feed.rotations(bodies, n)
        return pose_jump(bodies.times, where, turns, float(bodies.diameter[n]), rays, contacts.of(n), group)

    def say(found: Measurement) -> str:
        position, angle = found.evidence["position"], found.evidence["rotation_deg"]
        said = f"pose jumps by {found.value:.2f} diameters (position {position:.2f} diameters, rotation {angle:.0f} deg"
        turned = found.evidence.get("rotation_angles")
        if turned is not None and angle > 0:
            said += _peak(np.asarray(found.evidence["rotation_instants"]), np.asarray(turned))
        return said + ")"

    lines = each_object(bodies.names, feed.with_pose(bodies, brief), jump, say)
    return (
        Evidence(("jump of position and orientation between frames, contacts excepted (R07c)", *lines))
        if lines
        else None
    )


def camera(get: Get, brief: Brief, dimension: Dimension) -> Evidence | None:
    """Return how the camera turns and moves, at five instants; None without camera poses."""
    cameras, depth = get("cameras"), get("depth")
    if cameras is None:
        return None
    poses = np.asarray(cameras.Tcw, dtype=float)
    own = np.linalg.inv(poses[0]) @ poses
    turn, move = _angles(own[:, :3, :3]), own[:, :3, 3] * [1.0, -1.0, 1.0]
    unit, far = "", _median_depth(depth)
    if far is not None:
        move, unit = move / far, " of the scene's median depth"
    length = float(np.linalg.norm(np.diff(move, axis=0), axis=-1).sum())
    lines = ["camera against its first pose; pan: + right, tilt: + up, roll: + clockwise [deg]"]
    if far is None:
        lines.append("lengths have no unit here: the scene's depth is not measured; compare them with each other only")
    times = np.asarray(cameras.times, dtype=float)
    for k in np.unique(np.linspace(0, len(times) - 1, 5).round().astype(int)):
        pan, tilt, roll = turn[k]
        right, up, ahead = move[k]
        lines.append(
            f"at {times[k]:.2f} s: pan {pan:+z.1f}, tilt {tilt:+z.1f}, roll {roll:+z.1f} deg; "
            f"moved right {right:+z.3f}, up {up:+z.3f}, forward {ahead:+z.3f}{unit}"
        )
    lines.append(f"path of the camera: {length:.3f}{unit}; largest pan {_extreme(turn[:, 0]):+z.1f} deg")
    return Evidence(tuple(lines))


def _median_depth(depth: object) -> float | None:
    z = np.asarray(getattr(depth, "z", np.zeros(0)), dtype=float)
    z = z[np.isfinite(z) & (z > 0)]
    return float(np.median(z)) if z.size else None


def _extreme(values: Floats) -> float:
    return float(values[int(np.argmax(np.abs(values)))])


def _angles(R: Floats) -> Floats:
    """Return pan, tilt and roll (T, 3) [deg] of rotations (T, 3, 3) in axes x right, y down, z ahead."""
    ahead, right = R[:, :, 2], R[:, :, 0]
    pan = np.arctan2(ahead[:, 0], ahead[:, 2])
    tilt = np.arctan2(-ahead[:, 1], np.hypot(ahead[:, 0], ahead[:, 2]))
    # The camera's right axis without roll lies level; what is below it was turned clockwise.
    level = np.stack([np.cos(pan), np.zeros_like(pan), -np.sin(pan)], axis=-1)
    below = np.cross(ahead, level)
    roll = np.arctan2((right * below).sum(axis=-1), (right * level).sum(axis=-1))
    return np.degrees(np.unwrap(np.stack([pan, tilt, roll], axis=-1), axis=0))


def reference(get: Get, brief: Brief, dimension: Dimension) -> Evidence | None:
    """Return how the subject's and the background's features drift from the first view; None without features."""
    record = get("features")
    if record is None:
        return None
    times = np.asarray(record.times, dtype=float)
    lines = ["feature similarity (cosine, 1 = equal) to the first view in the clip, not to the reference image"]
    subject = np.asarray(record.subject, dtype=float)
    places = np.asarray(record.background, dtype=float)
    for name, values in (("subject", subject[:, None]), ("background places", places)):
        series = _to_first(values)
        if series is None:
            lines.append(f"{name}: not measured")
            continue
        low = int(np.nanargmin(series))
        lines.append(f"{name}: median {np.nanmedian(series):.3f}, lowest {series[low]:.3f} at {times[low]:.2f} s")
    return Evidence(tuple(lines))


def _to_first(values: Floats) -> Floats | None:
    """Return the median cosine (M,) of places (M, P, D) to each one's first view; None with fewer than two views."""
    with np.errstate(invalid="ignore", divide="ignore"):
        unit = values / np.linalg.norm(values, axis=-1, keepdims=True)
    seen = np.isfinite(unit).all(axis=-1)
    if unit.shape[1] == 0 or unit.shape[2] == 0 or not (seen.sum(axis=0) >= 2).any():
        return None
    first = unit[seen.argmax(axis=0), np.arange(unit.shape[1])]
    cosine = np.where(seen, (unit * first[None]).sum(axis=-1), np.nan)
    # A place is its own first view, which says nothing.
    cosine[seen.argmax(axis=0), np.arange(unit.shape[1])] = np.nan
    return np.asarray(present_median(cosine, axis=1))


MEASURES: Mapping[str, Measure] = {
    "R06": scale,
    "R07": pose,
    "R08": light,
    "R15": permanence,
    "IF-08": camera,
    "IF-10": reference,
}

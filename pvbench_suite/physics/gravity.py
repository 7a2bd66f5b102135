"""R21: what is airborne falls with one constant acceleration, that of gravity.

Conventions
-----------
Flights are airborne intervals by the contact state, never by how well a parabola fits.  Positions are in the world,
any unit; `g` is in that unit per s^2 and needs a metric (the prompt's size and real time).  Without it the median
acceleration along gravity stands in, so that one flight then tests only direction and constancy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pvbench_suite.errors import Unmeasurable
from pvbench_suite.measurement import Measurement
from pvbench_suite.physics.checks import LEAST_FRAMES, Floats, given, of_shape
from pvbench_suite.physics.gls import robust_fit
from pvbench_suite.physics.proven import proven_part, significance
from pvbench_suite.physics.robust import Noise, covariances, timestamps, track_noise, unit
from pvbench_suite.physics.series import median_dt

#: Least duration of a flight [s], least frames of a cubic fit, standard errors taken off, and those of significance.
_DURATION, _CUBIC, _PROVEN, _SIGNIFICANT = 0.25, 10, 2.0, 4.0
#: Largest error of a flight, in g, and largest drag, in g, of a flight that is judged.
_CAP, _DRAG = 2.0, 0.1
#: Share of the object's diameter in which a missing fall must show to be missing.
_VISIBLE = 0.1


class Flight(NamedTuple):
    """One airborne interval: times (n,) [s], positions (n, 3), and rays (n, 3) from the camera where known."""

    t: ArrayLike
    X: ArrayLike
    rays: ArrayLike | None = None


class _Track(NamedTuple):
    """The valid frames of a flight."""

    t: Floats
    x: Floats
    rays: Floats | None

    @property
    def duration(self) -> float:
        return float(self.t[-1] - self.t[0])

    @property
    def u(self) -> Floats:
        return np.asarray(self.t - 0.5 * (self.t[0] + self.t[-1]))

    @property
    def extent(self) -> float:
        """The largest distance of two positions."""
        apart = self.x[:, None, :] - self.x[None, :, :]
        return float(np.sqrt(np.square(apart).sum(axis=-1).max()))


class _Fall(NamedTuple):
    """A fitted flight: acceleration and its change with their covariances, duration [s], largest speed, fitted path."""

    a: Floats
    a_covariance: Floats
    b: Floats
    b_covariance: Floats
    duration: float
    speed: float
    fitted: Floats


def gravity_error(
    flights: Sequence[Flight] | None,
    down: ArrayLike | None = None,
    g: float | None = None,
    diameter: float | None = None,
    terminal_speed: float | None = None,
    allowance: float = 0.0,
) -> Measurement:
    """Return how far an object's falls are from constant gravity, as a share of g.

    The error of a flight is the rms of a(t) - g over it, proven part; the value is the mean over flights weighted by
    their durations or, where larger, the worst flight that is significantly wrong.

    Parameters
    ----------
    flights : sequence of Flight
        The airborne intervals of one object; depths not regularised.
    down : (3,) float, optional
        Direction of gravity in the world, any length; None: the summed acceleration.
    g : float, optional
        Gravity, world units / s^2; None: the median over flights of the acceleration along `down`.
    diameter : float, optional
        Diameter of the object, in world units: tells a missing fall from one too small to be seen.
    terminal_speed : float, optional
        Terminal speed [world units/s] of a light object: flights with more than a tenth of g of drag are exempt.
    allowance : float
        Share of g that the imaging itself may bend a lawful fall by, taken off each flight's error; 0 in a 3D world.
         In
        the picture plane perspective and lens change the acceleration along the way.

    Returns
    -------
    Measurement
        Value in [0, 2], smaller is better; `n` is the number of flights, `spread` the standard error of g.

    Raises
    ------
    Unmeasurable
        ``no_object``, ``bad_shape``, ``no_airborne``, ``all_nan``, ``exempt``, ``too_noisy``.

    References
    ----------
    Spec ``physics.md``, R21.
    """
    if g is not None and not (math.isfinite(g) and g > 0):
        raise ValueError(f"g must be a positive number or None, got {g!r}")
    tracks, dt = _flights(flights)
    noise = _noise(tracks, dt, diameter)
    falls = [_fall(track, noise) for track in tracks]
    if terminal_speed is not None:
        judged = [k for k, fall in enumerate(falls) if (fall.speed / terminal_speed) ** 2 <= _DRAG]
        if not judged:
            raise Unmeasurable("exempt", "the drag of every flight exceeds a tenth of g")
        tracks, falls = [tracks[k] for k in judged], [falls[k] for k in judged]
    direction = _direction(down, falls)
    size = diameter if diameter is not None else float(np.median([track.extent for track in tracks]))
    evidence = _evidence(tracks, falls, direction)
    assumed = ("metric",) if g is not None else ("scale_free",)
    reference, verdict = (g, None) if g is not None else _reference(falls, direction, size)
    evidence["g"] = reference
    if verdict is not None:
        return Measurement(verdict, len(falls), None, evidence, assumed)
    return _compare(falls, direction, float(reference), evidence, assumed, allowance)


def _flights(flights: Sequence[Flight] | None) -> tuple[list[_Track], float]:
    """Return the flights that are long enough and the frame interval [s], or raise."""
    if flights is None:
        raise Unmeasurable("no_object", "there is no object that could fly")
    parts = [flight for flight in flights if np.size(flight.t) and np.size(flight.X)]
    if not parts:
        raise Unmeasurable("no_airborne", "the object is never airborne")
    with_rays = all(flight.rays is not None for flight in parts)
    tracks, steps, finite = [], [], False
    for flight in parts:
        x = of_shape(given(flight.X, "X"), (None, 3), "X")
        t = timestamps(flight.t, len(x))
        rays = unit(of_shape(given(flight.rays, "rays"), (len(x), 3), "rays")) if with_rays else None
        finite |= bool(np.isfinite(x).any())
        there = np.isfinite(x).all(axis=-1) & np.isfinite(t)
        if rays is not None:
            there &= np.isfinite(rays).all(axis=-1)
        steps.append(np.diff(t))
        track = _Track(t[there], x[there], None if rays is None else rays[there])
        if len(track.t) >= LEAST_FRAMES and track.duration >= _DURATION - 1e-6:
            tracks.append(track)
    if not finite:
        raise Unmeasurable("all_nan", "no finite position in any flight")
    if not tracks:
        raise Unmeasurable("no_airborne", f"no flight of {LEAST_FRAMES} frames and {_DURATION:g} s")
    return tracks, median_dt(np.cumsum(np.concatenate(steps)))


def _noise(tracks: list[_Track], dt: float, diameter: float | None) -> Noise:
    """Return the noise pooled over all flights; unknown noise counts as too much."""
    extent = max(track.extent for track in tracks) or diameter or 1.0
    t = np.concatenate([track.t for track in tracks])
    x = np.concatenate([track.x for track in tracks])
    number = np.repeat(np.arange(len(tracks)), [len(track.t) for track in tracks])
    rays = [track.rays for track in tracks if track.rays is not None]
    try:
        return track_noise(t, x, dt, np.concatenate(rays) if rays else None, 1e-9 * extent, number)
    except Unmeasurable as error:
        raise Unmeasurable("too_noisy", error.detail) from error


def _fall(track: _Track, noise: Noise) -> _Fall:
    """Return the fitted flight: a parabola for the acceleration, a cubic for its change."""
    u, one = track.u, np.ones(len(track.u))
    _, whitener = covariances(noise, track.rays, len(u))
    parabola = robust_fit(np.stack([one, u, 0.5 * u * u], axis=1), track.x, whitener)
    p, v, a = parabola.parameters
    b, b_covariance = np.zeros(3), np.zeros((3, 3))
    if len(u) >= _CUBIC:
        cubic = robust_fit(np.stack([one, u, 0.5 * u * u, u**3 / 6.0], axis=1), track.x, whitener)
        b, b_covariance = cubic.parameters[3], cubic.block(3)
    fitted = p + u[:, None] * v + 0.5 * np.square(u)[:, None] * a
    speed = float(np.linalg.norm(v + u[:, None] * a, axis=1).max())
    return _Fall(a, parabola.block(2), b, b_covariance, track.duration, speed, fitted)


def _direction(down: ArrayLike | None, falls: list[_Fall]) -> Floats:
    """Return the unit direction of gravity: the one given, or that of the summed acceleration."""
    if down is not None:
        direction = unit(of_shape(given(down, "down"), (3,), "down"))
        if not np.isfinite(direction).all():
            raise Unmeasurable("bad_shape", "the direction of gravity has no length")
        return direction
    direction = unit(np.sum([fall.a * fall.duration for fall in falls], axis=0))
    return direction if np.isfinite(direction).all() else np.array([0.0, 1.0, 0.0])


def _error_along(fall: _Fall, direction: Floats) -> float:
    """Return the standard error of the acceleration along `direction`."""
    return float(np.sqrt(direction @ fall.a_covariance @ direction))


def _reference(falls: list[_Fall], direction: Floats, size: float) -> tuple[float, float | None]:
    """Return the scale-free g and, where that is no positive acceleration, the value that ends the matter."""
    g = float(np.median([fall.a @ direction for fall in falls]))
    error = float(np.median([_error_along(fall, direction) for fall in falls]))
    if g < -2.0 * error:
        return g, 2.0
    if abs(g) > 2.0 * error:
        return g, None
    sagitta = 2.0 * error * float(np.median([fall.duration for fall in falls])) ** 2 / 8.0
    if sagitta < _VISIBLE * size:
        return g, 1.0
    raise Unmeasurable("too_noisy", "no fall is seen, and a real one could hide in the noise")


def _compare(
    falls: list[_Fall],
    direction: Floats,
    g: float,
    evidence: dict[str, object],
    assumed: tuple[str, ...],
    allowance: float,
) -> Measurement:
    """Return the measurement of the flights against the reference acceleration."""
    falls = [fall for fall in falls if _error_along(fall, direction) <= 0.5 * g]
    if not falls:
        raise Unmeasurable("too_noisy", "no acceleration is known to half of g")
    off = np.array([fall.a for fall in falls]) - g * direction
    off_covariance = np.array([fall.a_covariance for fall in falls])
    b, b_covariance = np.array([fall.b for fall in falls]), np.array([fall.b_covariance for fall in falls])
    duration = np.array([fall.duration for fall in falls])
    change = proven_part(b, b_covariance, _PROVEN) * duration / math.sqrt(12.0)
    bent = np.hypot(proven_part(off, off_covariance, _PROVEN), change) / g
    errors = np.minimum(_CAP, np.maximum(bent - allowance, 0.0))
    # Without a cubic fit b is exactly 0, and 0 is never significant.
    significant = np.maximum(significance(off, off_covariance), significance(b, b_covariance)) > _SIGNIFICANT
    value = max(float(np.average(errors, weights=duration)), float(errors[significant].max(initial=0.0)))
    evidence |= {"flight_errors": errors, "significant": significant}
    if assumed == ("scale_free",) and len(falls) == 1:
        evidence["tests"] = "direction and constancy only"
    spread = float(np.median([_error_along(fall, direction) for fall in falls])) / g
    return Measurement(value, len(falls), spread, evidence, assumed)


def _evidence(tracks: list[_Track], falls: list[_Fall], direction: Floats) -> dict[str, object]:
    """Return what a plot of the flights needs."""
    return {
        "t": [track.t for track in tracks],
        "path": [track.x for track in tracks],
        "fitted": [fall.fitted for fall in falls],
        "residuals": [np.linalg.norm(track.x - fall.fitted, axis=1) for track, fall in zip(tracks, falls, strict=True)],
        "a": np.array([fall.a for fall in falls]),
        "a_along": np.array([fall.a @ direction for fall in falls]),
        "down": direction,
    }

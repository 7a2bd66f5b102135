"""Closed-form paths: where a body is at any time, without an integrator.

Conventions
-----------
Heights are positive upward [m], times in seconds [s], angles in radians [rad], gravity 9.80665 m/s^2.  Every function
takes the times it is asked for, so that a path can be sampled at any clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ellipj

from pvbench_suite.simulate.vectors import Bools, Floats, rotations

GRAVITY = 9.80665
_RESTS = 0.2


@dataclass(frozen=True)
class Flight:
    """One flight over a floor: from `start` to `end` [s], with height [m] and upward speed [m/s] at its start."""

    start: float
    end: float
    height: float
    speed: float
    g: float


@dataclass(frozen=True)
class Bounces:
    """A ball's flights; between two of them it may sink for `dwell` [s] into the floor, along half a sine."""

    flights: tuple[Flight, ...]
    dwell: float = 0.0

    def height(self, t: Floats) -> Floats:
        """Return the height above contact (T,) [m]; negative while it sinks."""
        out = np.zeros_like(t)
        for flight in self.flights:
            s = t - flight.start
            fly = (t >= flight.start) & (t <= flight.end)
            out = np.where(fly, flight.height + flight.speed * s - 0.5 * flight.g * s * s, out)
            if self.dwell > 0.0:
                # The dip starts with the speed of arrival, so that the path has no corner there.
                arrival = flight.g * (flight.end - flight.start) - flight.speed
                depth = arrival * self.dwell / np.pi
                sink = (t > flight.end) & (t < flight.end + self.dwell)
                out = np.where(sink, -depth * np.sin(np.pi * (t - flight.end) / self.dwell), out)
        return out

    def airborne(self, t: Floats) -> Bools:
        """Return whether the ball flies (T,)."""
        return np.asarray(np.any([(t >= f.start) & (t <= f.end) for f in self.flights], axis=0))

    @property
    def contacts(self) -> tuple[float, ...]:
        """Times at which it touches the floor."""
        return tuple(flight.end for flight in self.flights)


def bounces(
    height: float,
    speed: float,
    until: float,
    restitution: float,
    g: Callable[[int], float] = lambda k: GRAVITY,
    dwell: float = 0.0,
) -> Bounces:
    """Return the flights of a ball that starts `height` above contact with an upward `speed`, up to time `until`.

    `g` gives gravity in flight k (0, 1, ...); `restitution` is the ratio of speeds after and before each bounce.  A
    ball that leaves the floor at less than 0.2 m/s comes to rest instead.
    """
    flights: list[Flight] = []
    start = 0.0
    while start <= until and (not flights or speed > _RESTS):
        pull = g(len(flights))
        end = start + (speed + float(np.sqrt(speed * speed + 2.0 * pull * height))) / pull
        flights.append(Flight(start, end, height, speed, pull))
        speed = restitution * (pull * (end - start) - speed)
        start, height = end + dwell, 0.0
    return Bounces(tuple(flights), dwell)


def swing(t: Floats, length: float, amplitude: float, growth: float = 0.0) -> Floats:
    """Return the angle (T,) of a pendulum released at rest from `amplitude`; `growth` [1/s] is unlawful gain.

    Without growth it is the exact solution, 2 arcsin(k cd(w t | k^2)) with k = sin(amplitude/2), at any amplitude;
    with growth the amplitude rises as exp(growth t).
    """
    k = np.sin(0.5 * amplitude)
    _, cn, dn, _ = ellipj(np.sqrt(GRAVITY / length) * t, k * k)
    return np.asarray(2.0 * np.arcsin(k * cn / dn) * np.exp(growth * t))


def collide(v1: float, v2: float, ratio: float, restitution: float) -> tuple[float, float]:
    """Return the speeds after a head-on collision of masses `ratio` and 1: momentum kept, approach times restitution.

    Examples
    --------
    >>> collide(2.0, 0.0, 1.0, 1.0)
    (0.0, 2.0)
    """
    common = (ratio * v1 + v2) / (ratio + 1.0)
    gap = restitution * (v1 - v2)
    return common - gap / (ratio + 1.0), common + ratio * gap / (ratio + 1.0)


def rolling(way: Floats, radius: float, heading: tuple[float, float]) -> Floats:
    """Return orientations (T, 3, 3) of a ball that has rolled `way` (T,) [m] toward (x, z) = `heading`."""
    # Angular velocity = heading x down / radius, in axes x right, y down, z away.
    return rotations((-heading[1], 0.0, heading[0]), way / radius)


def eased(t: Floats, start: float, end: float) -> Floats:
    """Return a smooth step (T,) from 0 before `start` to 1 after `end`."""
    s = np.clip((t - start) / (end - start), 0.0, 1.0)
    return np.asarray(s * s * (3.0 - 2.0 * s))

"""The numbers of a measurement: what each means, and its value with an interval over clips."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pvbench_suite.calibrate.perceived.tally import Pool
from pvbench_suite.stats.bootstrap import Table, column_means, draw_means, interval, tail_probability

#: Draws of the bootstrap of a quantile; sums take those of `pvbench_suite.stats.bootstrap`.
DRAWS = 500

Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Metric:
    """One number: `part` / `of` summed over clips (share, or per clip), or quantile `p` of pooled values."""

    name: str
    words: str
    unit: Literal["share", "per clip", "px", "ms", "deg", "relative", "IoU"]
    better: Literal["larger", "smaller"]
    source: str = ""
    p: float | None = None

    @property
    def product(self) -> str:
        """The product that it is a number of."""
        return self.name.split(".")[0]

    @property
    def key(self) -> str:
        """The name under which clips count it."""
        return self.source or self.name


def _sums(rows: Sequence[tuple[str, Any, Any, str]]) -> list[Metric]:
    return [Metric(name, words, unit, better) for name, unit, better, words in rows]


def _spread(source: str, unit: Any, words: str, of: tuple[str, ...] = ("median", "p95")) -> list[Metric]:
    """Return median and 95th percentile of a sample as metrics."""
    levels = {"median": 0.5, "p95": 0.95}
    titles = {"median": "median", "p95": "95th percentile"}
    return [
        Metric(f"{source}_{k}", f"{words}, {titles[k]}", unit, "smaller", source=source, p=levels[k]) for k in of
    ]  # fmt: skip


METRICS: tuple[Metric, ...] = (
    *_sums([
        ("masks.iou", "IoU", "larger", "IoU of moving objects, mean over the frames in which they show; 0 if missed"),
        ("masks.iou_given", "IoU", "larger", "the same over the frames in which a mask is given"),
    ]),
    Metric("masks.iou_p05", "IoU of moving objects, 5th percentile", "IoU", "larger", source="masks.iou", p=0.05),
    *_sums([
        ("masks.recall", "share", "larger", "object-frames with an IoU of at least 0.5"),
        ("masks.switches", "per clip", "smaller", "identity switches (CLEAR MOT, IoU 0.5)"),
        ("masks.false", "per clip", "smaller", "false objects: the next three together"),
        ("masks.piece", "per clip", "smaller", "second pieces of a moving object"),
        ("masks.shadow", "per clip", "smaller", "cast shadows taken for objects"),
        ("masks.ghost", "per clip", "smaller", "objects where there is only ground"),
        ("masks.resting", "share", "larger", "named objects that never move and are found (not asked for)"),
        ("bodies.present_precision", "share", "larger", "object-frames said to be present that are"),
        ("bodies.present_recall", "share", "larger", "object-frames present that are said to be"),
        ("bodies.centre_given", "share", "larger", "object-frames present with a centre"),
    ]),
    *_spread("bodies.centre_px", "px", "centre against the image of the true centre"),
    *_spread("bodies.place", "relative", "centre in space, in diameters (profiles with depth)"),
    *_spread("bodies.size", "relative", "radius against the disc that the object covers"),
    *_spread("tracks.moving_px", "px", "points on moving bodies against their material"),
    *_spread("tracks.moving_px@1", "px", "the same 1 s after their start"),
    *_sums([
        ("tracks.moving_lost", "share", "smaller", "point-frames on moving bodies, truly visible, that are lost"),
        ("tracks.moving_hidden", "share", "smaller", "point-frames on moving bodies given where they are hidden"),
        ("tracks.moving_owner", "share", "larger", "points on moving objects owned by that object"),
    ]),
    *_spread("tracks.still_px", "px", "points on still ground against their place"),
    *_spread("tracks.still_px@1", "px", "the same 1 s after their start"),
    *_sums([
        ("tracks.still_lost", "share", "smaller", "point-frames on still ground, truly visible, that are lost"),
        ("tracks.still_hidden", "share", "smaller", "point-frames on still ground given where they are hidden"),
        ("tracks.still_owner", "share", "larger", "points on still ground owned by nobody"),
    ]),
    *_spread("flow.moving_px", "px", "end-point error where the picture moves and the end is visible"),
    *_spread("flow.still_px", "px", "end-point error where it stands and the end is visible"),
    *_sums([
        ("flow.moving_missing", "share", "smaller", "moving pixels with a visible end without flow"),
        ("flow.still_missing", "share", "smaller", "still pixels with a visible end without flow"),
        ("flow.hidden_marked", "share", "larger", "pixels without a visible end that have no flow"),
        ("contacts.recall", "share", "larger", "contacts found within 1.5 frames"),
        ("contacts.precision", "share", "larger", "contacts named that are"),
        ("contacts.partner", "share", "larger", "contacts found with the right partner"),
    ]),
    *_spread("contacts.timing_ms", "ms", "time of contacts found"),
    *_sums([
        ("contacts.airborne_precision", "share", "larger", "object-frames said to fly that do"),
        ("contacts.airborne_recall", "share", "larger", "object-frames in flight that are said to be"),
        ("contacts.driven_precision", "share", "larger", "object-frames said to be driven that are"),
        ("contacts.driven_recall", "share", "larger", "object-frames driven that are said to be"),
    ]),
    *_spread("contacts.down_deg", "deg", "direction of gravity in space"),
    *_spread("contacts.down_image_deg", "deg", "direction of gravity as it stands in the picture", of=("median",)),
    *_spread("masks.steady_px", "px", "still ground after stabilisation against its place"),
    *_spread("cameras.angle_deg", "deg", "camera's turn since the first frame"),
    *_spread("cameras.place", "relative", "camera's place, of its whole way, at the best scale"),
    *_spread("depth.relative", "relative", "depth"),
    *_sums([("depth.missing", "share", "smaller", "pixels without depth")]),
    *_sums([
        ("frames.repeat_recall", "share", "larger", "repeated frames left out"),
        ("frames.repeat_precision", "share", "larger", "frames left out that are repeats"),
        ("frames.dropped", "share", "smaller", "frames that repeat nothing, left out"),
        ("clips.perceived", "share", "larger", "clips with masks"),
        ("clips.cut_found", "share", "larger", "joined clips reported as cut"),
        ("clips.cut_false", "share", "smaller", "other clips reported as cut"),
    ]),
)  # fmt: skip


def values(clips: Sequence[Mapping[str, Any]], with_interval: bool = True) -> dict[str, Result]:
    """Return the metrics of some clips, by name; those that nothing was counted for are left out.

    Each has `value` (null where there is nothing to divide by), `low` and `high` (95 % interval by a bootstrap over
    clips; null for fewer than two), `n` (what was counted) and `clips` (that counted it).
    """
    out = {}
    for metric in METRICS:
        kind = "sums" if metric.p is None else "samples"
        mine = [clip[kind][metric.key] for clip in clips if metric.key in clip[kind]]
        if mine:
            out[metric.name] = _ratio(metric, mine, with_interval) if metric.p is None else _quantile(
                metric, mine, with_interval)  # fmt: skip
    return out


def _seed(content: Any) -> int:
    return int.from_bytes(hashlib.sha256(json.dumps(content).encode()).digest()[:8], "big")


def _ratio(metric: Metric, counts: Sequence[Sequence[float]], with_interval: bool) -> Result:
    kept = sorted([part, of] for part, of in counts if of > 0)
    result: Result = {"value": None, "low": None, "high": None, "n": int(sum(of for _, of in kept)), "clips": len(kept)}
    if not kept:
        return result
    parts, wholes = np.array(kept).T
    table = Table((metric.name,), parts[:, None], wholes[:, None], _seed([metric.name, kept]))
    result["value"] = float(column_means(table)[0])
    if with_interval:
        limits = (0.0, max(1.0, float((parts / wholes).max())))
        ends = interval(draw_means(table)[:, 0], result["value"], len(kept), limits)
        result["low"], result["high"] = ends or (None, None)
    return result


def _quantile(metric: Metric, sketches: Sequence[Mapping[str, Any]], with_interval: bool) -> Result:
    assert metric.p is not None
    kept = [s for s in sketches if s["n"] > 0]
    result: Result = {"value": None, "low": None, "high": None, "n": sum(s["n"] for s in kept), "clips": len(kept)}
    if not kept:
        return result
    pool, p = Pool.of(kept), metric.p
    result["value"] = pool.quantile(p)
    if with_interval and len(kept) > 1:
        rng = np.random.default_rng(_seed([metric.name, kept]))
        draws = rng.integers(0, len(kept), (DRAWS, len(kept)))
        found = [pool.quantile(p, np.bincount(d, minlength=len(kept)).astype(np.float64)) for d in draws]
        tail = tail_probability(len(kept))
        low, high = np.quantile(found, [tail, 1.0 - tail]).tolist()
        result["low"], result["high"] = min(low, result["value"]), max(high, result["value"])
    return result

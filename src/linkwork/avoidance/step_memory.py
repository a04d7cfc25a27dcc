"""Memory of the elbow's steps: where the machine code of step_code.py finds its numbers and
obstacles."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from linkwork.avoidance import step_code
from linkwork.avoidance.arc_code import CELL, CELLS
from linkwork.avoidance.around import Around
from linkwork.avoidance.crossings import FIRST
from linkwork.avoidance.elbow import Elbow
from linkwork.avoidance.smoothing import CriticallyDampedFilter
from linkwork.avoidance.step_code import ARM, RESULTS
from linkwork.avoidance.step_record import BATCHES, ENDS, FROM, RADII, ROWS, SINGLES, STATE
from linkwork.avoidance.volume import SafetyVolume
from linkwork.engine.kernel import BATCH
from linkwork.engine.keys import key
from linkwork.engine.routines import compiled

AT = {name: k for k, name in enumerate(STATE)}
LEAST_ROOM = 128  # obstacles
ARCS_A_SEGMENT = 8  # more are refused by the machine code, which is then asked again with more room
WIDTH = len(RESULTS) + ARM
_RUN = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
INPUTS: dict[str, tuple[tuple[str, int], ...]] = {
    "swing": (("pose", 0),),
    "nearest": (("pose", 0), ("angle", 0), ("before", 0)),
    "guard": (("near", 0), ("threshold", 0)),
    "arcs": (("swing", 0), ("points", 3), ("point_active_minimum", 1), ("point_active_maximum", 1)),
    "clearance": (
        ("swing", 0),
        ("angle", 0),
        ("points", 3),
        ("point_hard_minimum", 1),
        ("point_hard_maximum", 1),
    ),
    "depth": (
        ("swing", 0),
        ("angles", 1),
        ("segments", 0),
        ("segment_active_minimum", 0),
        ("segment_active_maximum", 0),
    ),
    "segment_clearance": (
        ("swing", 0),
        ("angle", 0),
        ("segments", 6),
        ("segment_hard_minimum", 1),
        ("segment_hard_maximum", 1),
    ),
}
"""Of each kernel: where its arguments stand, and how far apart they are for one sample and the
next."""
OUTPUTS = {
    "swing": ("swing", "defect", "sine"),
    "nearest": ("q", "apart"),
    "guard": ("scale",),
    "arcs": ("center", "half"),
    "clearance": ("point_clearance",),
    "depth": ("depth", "slope", "bound"),
    "segment_clearance": ("segment_clearance",),
}


class StepMemory:
    """The state of one elbow that makes way, and the machine code that takes it a step on."""

    memory: np.ndarray

    def __init__(
        self,
        elbow: Elbow,
        levels: dict[str, SafetyVolume],
        filter: CriticallyDampedFilter,
        threshold: float,
        before: np.ndarray,
    ) -> None:
        equations = elbow.equations
        singles = {name: equations.kernel(name).code(1) for name in SINGLES}
        self._codes = singles | {name: equations.kernel(name).code(BATCH) for name in BATCHES}
        self._run = _RUN(compiled(key("elbow steps"), step_code.write_steps, ("run",))["run"])
        self._lay_out(dict.fromkeys(ROWS, LEAST_ROOM), ARCS_A_SEGMENT)
        c, (shortest, longest) = filter.coefficients, equations.reach
        numbers = {
            "h1": c.h1,
            "h2": c.h2,
            "b1": c.b1,
            "b2": c.b2,
            "threshold": threshold,
            "last_clearance": np.inf,
        }
        numbers |= {"shortest": shortest, "longest": longest}
        for level, volume in levels.items():
            numbers |= {f"{level}_minimum": volume.minimum, f"{level}_maximum": volume.maximum}
        numbers |= dict.fromkeys(("x1", "x2", "y1", "y2", "wanted"), filter.value)
        for name, value in numbers.items():
            self.memory[AT[name]] = value
        self.part("before", ARM)[:] = before

    def part(self, name: str, size: int) -> np.ndarray:
        """The numbers of a part."""
        at = self._places[name]
        return self.memory[at : at + size]

    def one(self, pose: np.ndarray, points: np.ndarray) -> np.ndarray:
        """One step beside points (n, 3): RESULTS and the joints, (WIDTH,),
        which the next step overwrites."""
        n = len(points)
        if n > self._room["point"]:
            self._grow({"point": n, "segment": 0})
        self._pose[...] = pose
        self._points[:n] = points
        self._counts[0], self._counts[1] = n, 0
        self._run(self._address)
        return self._result

    def many(self, poses: np.ndarray, obstacles: Sequence[Around]) -> np.ndarray:
        """Steps along poses (n, 4, 4) beside obstacles of any kind: (n, WIDTH),
        up to the first that has no result."""
        sides = {
            "point": [(own.points, own.point_radius) for own in obstacles],
            "segment": [(own.segments, own.segment_radius) for own in obstacles],
        }
        results, poses = np.zeros((len(poses), WIDTH)), np.ascontiguousarray(poses, dtype=float)
        lists = {}
        for row, own in sides.items():
            counts = np.array([len(radii) for _, radii in own], dtype=np.int64)
            shapes, radii = (
                np.concatenate([part[k] for part in own]) if own else np.empty(0) for k in (0, 1)
            )
            lists[row] = (np.ascontiguousarray(shapes), np.ascontiguousarray(radii), counts)
        self._grow({row: int(counts.max(initial=0)) for row, (_, _, counts) in lists.items()})
        words = {"poses": poses.ctypes.data, "steps": len(poses), "results": results.ctypes.data}
        for row, parts in lists.items():
            names = (f"{row}_{part}" for part in FROM)
            words |= {name: part.ctypes.data for name, part in zip(names, parts, strict=True)}
        own_words = {name: int(self._words[AT[name]]) for name in words}
        for name, value in words.items():
            self._words[AT[name]] = value
        try:
            self._run(self._address)
        finally:
            for name, value in own_words.items():
                self._words[AT[name]] = value
        return results

    def widen(self) -> None:
        """Room for more arcs of one segment."""
        self._lay_out(self._room, 4 * self._arcs)

    def _grow(self, room: dict[str, int]) -> None:
        if any(n > self._room[row] for row, n in room.items()):
            self._lay_out({row: max(2 * n, self._room[row]) for row, n in room.items()}, self._arcs)

    def _lay_out(self, room: dict[str, int], arcs: int) -> None:
        """New memory for so many obstacles, with what the old one keeps."""
        kept = (
            None
            if not hasattr(self, "memory")
            else (self.memory[: len(STATE)].copy(), self.part("before", ARM))
        )
        self._room, self._arcs = room, arcs
        n, k = room["point"], room["segment"]
        arcs_room = n + arcs * k + 8
        sizes = {
            "pose": 16,
            "swing": 13,
            "defect": 1,
            "sine": 1,
            "angle": 1,
            "before": ARM,
            "q": ARM,
            "apart": 1,
        }
        sizes |= {
            "near": 1,
            "threshold": 1,
            "scale": 1,
            "points": 3 * n,
            "segments": 6 * k,
            "center": n,
            "half": n,
        }
        sizes |= {"point_clearance": n, "segment_clearance": k, "result": WIDTH, "counts": 2}
        sizes |= dict.fromkeys(("angles", "depth", "slope", "bound"), FIRST)
        sizes |= {"arcs": 2 * arcs_room + 2, "cells": CELL * CELLS}
        for row, count in (("point", n), ("segment", k)):
            sizes |= {f"{row}_{radius}": count for radius in RADII}
            sizes |= {f"given_{row}": ENDS[row] * count, f"given_{row}_radii": count}
        sizes |= {f"{name}_in": len(inputs) for name, inputs in INPUTS.items()}
        sizes |= {f"{name}_strides": len(inputs) for name, inputs in INPUTS.items()}
        sizes |= {f"{name}_out": len(outputs) for name, outputs in OUTPUTS.items()}
        sizes["scratch"] = max(scratch for _, scratch in self._codes.values())
        self._places, at = {}, len(STATE)
        for name, size in sizes.items():
            self._places[name] = at
            at += size
        self.memory = np.zeros(at)
        self._words, self._address = self.memory.view(np.int64), self.memory.ctypes.data
        if kept is not None:
            self.memory[: len(STATE)], self.part("before", ARM)[:] = kept
        self._link(arcs_room)

    def _link(self, arcs_room: int) -> None:
        """Addresses in the place of names."""
        there = {name: self._address + 8 * at for name, at in self._places.items()}
        words = {name: there[name] for name in ("scratch", "arcs", "cells")} | {
            "arcs_room": arcs_room
        }
        for name, (code, _) in self._codes.items():
            words |= {
                f"{name}_code": code,
                f"{name}_in": there[f"{name}_in"],
                f"{name}_out": there[f"{name}_out"],
            }
            inputs, outputs = INPUTS[name], OUTPUTS[name]
            self._put(f"{name}_in", [there[label] for label, _ in inputs])
            self._put(f"{name}_out", [there[label] for label in outputs])
            if name in BATCHES:
                self._put(f"{name}_strides", [stride for _, stride in inputs])
                words[f"{name}_strides"] = there[f"{name}_strides"]
        for k, row in enumerate(ROWS):
            words |= {f"{row}_{radius}": there[f"{row}_{radius}"] for radius in RADII}
            words |= {
                f"{row}_first": there[f"given_{row}"],
                f"{row}_first_radii": there[f"given_{row}_radii"],
            }
            words |= {f"{row}_counts": there["counts"] + 8 * k, f"{row}_room": self._room[row]}
        words |= {"poses": there["pose"], "steps": 1, "results": there["result"]}
        for name, word in words.items():
            self._words[AT[name]] = word
        at = self._places["counts"]
        self._counts, self._result = self._words[at : at + 2], self.part("result", WIDTH)
        self._pose = self.part("pose", 16).reshape(4, 4)
        self._points = self.part("given_point", 3 * self._room["point"]).reshape(-1, 3)

    def _put(self, name: str, words: Sequence[int]) -> None:
        at = self._places[name]
        self._words[at : at + len(words)] = words

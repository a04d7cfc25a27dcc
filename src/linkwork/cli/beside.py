"""Descriptions beside their peers: every URDF and MJCF file of a folder,
in linkwork and in Pinocchio or MuJoCo."""

from __future__ import annotations

import contextlib
import importlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import linkwork as lw
from linkwork.errors import InvalidInput, LinkworkError, NotPossible
from linkwork.formats.files import LARGEST
from linkwork.formats.xml import root_tag
from linkwork.model import Model
from linkwork.model.joint_motion import joint_motion
from linkwork.model.placement import HERE, Placement

CLOSE = 1e-9
"""Largest difference, of the largest number there, at which both sides agree."""

LEFT_OUT = "Could not parse"
"""What urdfdom says of a part that it then leaves out,
such as mass properties with a line break in a number."""

MOST_SAID = 1_000_000
"""Bytes of what a peer says that are looked at."""

MOST_TRACED = 120
"""Degrees of freedom up to which mass matrices are compared; poses always are."""


@dataclass(frozen=True)
class Row:
    """One file: verdict "agree", "differ", "refused" (by linkwork alone), "peer refuses", "peer
    leaves out" (it says that it could not read a part, loads the rest, and differs) or "both
    refuse"."""

    file: str
    peer: str
    verdict: str
    why: str = ""
    difference: float = 0.0


class Peer(Protocol):
    """One file in the other tool: names of its scalar joints,
    and what it computes at values of them."""

    def joints(self) -> list[str]: ...

    def poses(self, values: dict[str, float]) -> dict[str, np.ndarray]: ...

    def mass_matrix(self, values: dict[str, float]) -> tuple[list[str], np.ndarray]: ...


def beside(folder: str | Path, strict: bool | None = None) -> Iterator[Row]:
    """A row for each URDF and MJCF file below a folder, in the order of their names."""
    place = Path(folder)
    if not place.is_dir():
        raise InvalidInput(
            f'check: beside is "{folder}", expected a folder with URDF and MJCF files'
        )
    for path in sorted(place.rglob("*")):
        kind = _kind(path)
        if kind is not None:
            yield _row(path, str(path.relative_to(place)), kind, strict)


def _kind(path: Path) -> str | None:
    """ "urdf" or "mjcf"; None for other files and for parts that are only included."""
    ending = path.suffix.lower()
    if ending not in (".urdf", ".xml") or not path.is_file() or path.stat().st_size > LARGEST:
        return None
    tag = root_tag(path.read_bytes())
    return "urdf" if ending == ".urdf" else "mjcf" if tag == "mujoco" else None


def _row(path: Path, shown: str, kind: str, strict: bool | None) -> Row:
    peer_name = "pinocchio" if kind == "urdf" else "mujoco"
    made = _Pinocchio if kind == "urdf" else _Mujoco
    theirs, their_reason = None, ""
    said: list[str] = []
    try:
        with _quiet() as said:
            theirs = made(path)
    except NotPossible:
        raise
    except Exception as error:  # peers raise whatever they raise
        their_reason = _short(error)
    try:
        ours = lw.load(path, mimic="independent", check="any", strict=strict, visuals=False)
    except LinkworkError as error:
        return Row(
            shown,
            peer_name,
            "refused" if theirs is not None else "both refuse",
            _short(error, str(path)),
        )
    if theirs is None:
        return Row(shown, peer_name, "peer refuses", their_reason)
    try:
        difference, what = _difference(ours, theirs)
    except LinkworkError as error:
        return Row(shown, peer_name, "differ", _short(error, str(path)), np.inf)
    if difference > CLOSE and (unread := [line for line in said if LEFT_OUT in line]):
        return Row(
            shown, peer_name, "peer leaves out", " ".join(unread[0].split())[:160], difference
        )
    return Row(shown, peer_name, "agree" if difference <= CLOSE else "differ", what, difference)


def _short(error: Exception, path: str = "") -> str:
    text = str(error).replace(path, "") if path else str(error)
    return " ".join(text.split())[:160]


def _difference(ours: lw.Robot, theirs: Peer) -> tuple[float, str]:
    """The largest relative difference and what it is of: poses of bodies, then the mass matrix."""
    model = ours.model
    scalars = {joint.name for joint in model.joints if joint.nq == 1}
    common = [name for name in theirs.joints() if name in scalars]
    if len(common) != len(scalars):
        return (
            np.inf,
            f"{len(scalars)} hinges and slides here, {len(common)} of the same name there",
        )
    rng = np.random.default_rng(0)
    values = {name: float(x) for name, x in zip(common, rng.uniform(-1.0, 1.0, len(common)))}
    poses = _poses(model, values)
    worst, what = 0.0, "poses"
    for body, T in theirs.poses(values).items():
        if body in poses:
            placement = np.column_stack([poses[body].rotation, poses[body].position])
            worst = max(worst, _relative(placement, T[:3]))
    if worst > CLOSE or ours.nv > MOST_TRACED or model.kinematic_only:
        return worst, what
    names, M = theirs.mass_matrix(values)
    ordered = [
        model.joint(name) for name in ours.joints
    ]  # the order of q and v, which need not be the file's
    coordinates = [joint.name for joint in ordered for _ in range(joint.nv)]
    if sorted(coordinates) != sorted(names):
        return np.inf, f"nv = {len(coordinates)} here, {len(names)} there"
    traced = ours.function("mass_matrix")(
        np.array([x for joint in ordered for x in _own_q(joint, values)])
    )
    # quaternions are checked by a second result
    mine = np.array(traced[0] if isinstance(traced, tuple) else traced)
    order = _in_order(coordinates, names)
    return max(worst, _relative(mine[np.ix_(order, order)], M)), "poses and mass matrix"


def _in_order(ours: list[str], names: list[str]) -> list[int]:
    """Places in `ours` of the coordinates in the order of `names`;
    those of one joint keep their order."""
    starts = {name: ours.index(name) for name in dict.fromkeys(ours)}
    seen: dict[str, int] = {}
    order = []
    for name in names:
        order.append(starts[name] + seen.get(name, 0))
        seen[name] = seen.get(name, 0) + 1
    return order


def _relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    return (
        float(np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())) if theirs.size else 0.0
    )


def _own_q(joint: Any, values: dict[str, float]) -> tuple[float, ...]:
    if joint.nq == 1:
        return (values[joint.name],)
    return tuple(joint.kind.neutral)


def _poses(model: Model, values: dict[str, float]) -> dict[str, Placement]:
    above = {joint.child: joint for joint in model.joints}
    poses: dict[str | None, Placement] = {None: HERE}
    for body in model.bodies:
        chain: list[str] = []
        at: str | None = body.name
        while at not in poses:
            assert at is not None
            chain.append(at)
            at = above[at].parent if at in above else None
        for name in reversed(chain):
            joint = above.get(name)
            if joint is None:
                poses[name] = HERE
                continue
            poses[name] = (
                poses[joint.parent] @ joint.placement @ joint_motion(joint, _own_q(joint, values))
            )
    return {name: T for name, T in poses.items() if name is not None}


class _Pinocchio:
    """A URDF in Pinocchio, mimic tags ignored. Joints of several coordinates stay at their neutral
    place."""

    def __init__(self, path: Path) -> None:
        self.pin = _needed("pinocchio", "pin")
        self.model = self.pin.buildModelFromXML(
            path.read_bytes().decode("utf-8", "replace").lstrip()
        )
        self.data = self.model.createData()

    def _each(self) -> Iterator[tuple[str, Any]]:
        yield from zip(list(self.model.names)[1:], list(self.model.joints)[1:])

    def joints(self) -> list[str]:
        return [name for name, joint in self._each() if joint.nv == 1]

    def _q(self, values: dict[str, float]) -> np.ndarray:
        q = self.pin.neutral(self.model)
        for name, joint in self._each():
            if joint.nq == 1:
                q[joint.idx_q] = values[name]
            elif joint.nv == 1:  # continuous: cosine and sine
                q[joint.idx_q : joint.idx_q + 2] = np.cos(values[name]), np.sin(values[name])
        return np.asarray(q)

    def poses(self, values: dict[str, float]) -> dict[str, np.ndarray]:
        self.pin.framesForwardKinematics(self.model, self.data, self._q(values))
        bodies = [
            k for k, frame in enumerate(self.model.frames) if frame.type == self.pin.FrameType.BODY
        ]
        return {self.model.frames[k].name: np.array(self.data.oMf[k].homogeneous) for k in bodies}

    def mass_matrix(self, values: dict[str, float]) -> tuple[list[str], np.ndarray]:
        M = np.array(self.pin.crba(self.model, self.data, self._q(values)))
        M = np.triu(M) + np.triu(M, 1).T
        return [name for name, joint in self._each() for _ in range(joint.nv)], M


class _Mujoco:
    """An MJCF file in MuJoCo. Free and ball joints stay at their neutral place,
    where both conventions agree."""

    def __init__(self, path: Path) -> None:
        self.mujoco = _needed("mujoco", "mujoco")
        self.model = self.mujoco.MjModel.from_xml_path(str(path))
        if self.model.nbody < 2:
            raise ValueError("has no body")
        self.data = self.mujoco.MjData(self.model)

    def _name(self, kind: str, k: int) -> str:
        name = self.mujoco.mj_id2name(self.model, getattr(self.mujoco.mjtObj, f"mjOBJ_{kind}"), k)
        return name or f"{kind} {k}"

    def _sizes(self) -> list[int]:
        return [(6, 3, 1, 1)[kind] for kind in self.model.jnt_type]

    def _names(self) -> list[str]:
        """Joints without a name get the one linkwork gives them."""
        names = []
        for k in range(self.model.njnt):
            written = self.mujoco.mj_id2name(self.model, self.mujoco.mjtObj.mjOBJ_JOINT, k)
            body = self.model.jnt_bodyid[k]
            count, first = self.model.body_jntnum[body], self.model.body_jntadr[body]
            number = f"_{k - first + 1}" if count > 1 else ""
            label = (
                self.mujoco.mj_id2name(self.model, self.mujoco.mjtObj.mjOBJ_BODY, body)
                or f"body_{body}"
            )
            names.append(written or f"{label}_joint{number}")
        return names

    def joints(self) -> list[str]:
        return [name for name, size in zip(self._names(), self._sizes()) if size == 1]

    def _set(self, values: dict[str, float]) -> None:
        for name, at, size in zip(self._names(), self.model.jnt_qposadr, self._sizes()):
            if size == 1:
                self.data.qpos[at] = values[name]
            else:
                self.data.qpos[at : at + size + 1] = (*(0.0,) * (size - 3), 1.0, 0.0, 0.0, 0.0)
        # not mj_forward: contacts of a file that is damaged may end in an error of its own
        inertias = "mj_makeM" if hasattr(self.mujoco, "mj_makeM") else "mj_crb"
        for stage in ("mj_kinematics", "mj_comPos", "mj_tendon", inertias):
            getattr(self.mujoco, stage)(self.model, self.data)

    def poses(self, values: dict[str, float]) -> dict[str, np.ndarray]:
        self._set(values)
        poses = {}
        for k in range(1, self.model.nbody):
            T = np.eye(4)
            T[:3, :3], T[:3, 3] = self.data.xmat[k].reshape(3, 3), self.data.xpos[k]
            poses[self._name("BODY", k)] = T
        return poses

    def mass_matrix(self, values: dict[str, float]) -> tuple[list[str], np.ndarray]:
        self._set(values)
        M = np.zeros((self.model.nv, self.model.nv))
        for column, unit in zip(M, np.eye(self.model.nv)):  # symmetric: rows are columns
            self.mujoco.mj_mulM(self.model, self.data, column, unit)
        return [name for name, size in zip(self._names(), self._sizes()) for _ in range(size)], M


def _needed(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise NotPossible(
            f"check: --beside compares with {module}: pip install {package}"
        ) from None


@contextlib.contextmanager
def _quiet() -> Iterator[list[str]]:
    """What peers write straight to the terminal goes into a list of lines,
    full when the context ends."""
    kept = [os.dup(1), os.dup(2)]
    lines: list[str] = []
    with tempfile.TemporaryFile() as file:
        try:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            yield lines
        finally:
            for number, old in enumerate(kept, 1):
                os.dup2(old, number)
                os.close(old)
            file.seek(0)
            lines += file.read(MOST_SAID).decode("utf-8", "replace").splitlines()

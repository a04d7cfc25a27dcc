"""Viewer: a robot in the browser with sliders, motions, forces and a target to drag."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError, NotPossible
from linkwork.model.elements import LinearActuator
from linkwork.robot import Robot
from linkwork.view.scene import RobotScene, quaternion, reach

FRAMES_PER_SECOND = 50


class Viewer:
    """Serves one robot. `port=0` takes a free one; `address` is what to open. Closed by `close()` or by `with`."""

    def __init__(self, robot: Robot, host: str = "127.0.0.1", port: int = 8080) -> None:
        try:
            import viser
        except ImportError:
            raise NotPossible('the viewer needs the extra "view": pip install "linkwork[view]"') from None
        self.robot = robot
        self.server: Any = viser.ViserServer(
            host=host, port=port or _free_port(host), label=f"linkwork: {robot.name}", verbose=False
        )
        self.address = f"http://{host}:{self.server.get_port()}"
        size = reach(robot)
        self.server.scene.set_up_direction("+z")
        self.server.scene.add_grid("/ground", 4 * size, 4 * size, cell_size=0.1 * size, section_size=0.5 * size)
        self.server.initial_camera.position = (0.85 * size, -1.05 * size, 0.8 * size)
        self.server.initial_camera.look_at = (0.0, 0.0, 0.38 * size)
        self.scene = RobotScene(self.server, robot)
        self._lock = threading.RLock()
        self._quiet = False
        self._closed = threading.Event()
        self._motion: tuple[np.ndarray, np.ndarray] | None = None
        self._forces: tuple[list[str], np.ndarray] | None = None
        self._add_motion_controls()
        self._add_shown()
        self._add_target()
        self._add_actuator_sliders()
        self._add_joint_sliders()
        self.show(self._start())
        self._player = threading.Thread(target=self._play, daemon=True)
        self._player.start()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._closed.set()
        self._player.join(timeout=2.0)
        self.server.stop()

    def wait(self) -> None:
        """Serve until Ctrl-C."""
        try:
            while not self._closed.is_set():
                time.sleep(0.2)
        except KeyboardInterrupt:
            self.close()

    def show(self, q: np.ndarray) -> None:
        """Move the robot, and the sliders with it."""
        with self._lock:
            self.scene.move(q)
            self._quiet = True
            for k, slider in self.sliders.items():
                slider.value = float(np.clip(q[k], slider.min, slider.max))
            if self.actuators:
                c, _, _ = self.robot.to_actuators(q)
                for k, slider in self.actuators.items():
                    slider.value = float(np.clip(c[k], slider.min, slider.max))
            self._quiet = False

    def load_motion(self, name: str) -> None:
        """Take a named motion: q over time, and every load if the robot has mass properties."""
        motion = self.robot.motions[name]
        t = np.linspace(0.0, motion.duration, max(2, int(motion.duration * FRAMES_PER_SECOND) + 1))
        q, _, _ = motion.sample(t)
        with self._lock:
            self._motion = (t, q)
            self._forces = None
            if not self.robot.model.kinematic_only:
                analysis = self.robot.analyse(name)
                at = np.clip(np.searchsorted(analysis.time, t), 0, len(analysis.time) - 1)
                self._forces = _joint_forces(analysis, at)
            self.scrub.max = float(motion.duration)
            self.scrub.disabled = False
        self.seek(0.0)

    def seek(self, at: float) -> None:
        """Show the motion at a time [s]."""
        with self._lock:
            if self._motion is None:
                return
            t, q = self._motion
            k = int(np.clip(np.searchsorted(t, at), 0, len(t) - 1))
            self.show(q[k])
            self._quiet = True
            self.scrub.value = float(t[k])
            self._quiet = False
            if self._forces is not None and self.arrows_shown.value:
                bodies, forces = self._forces
                starts = self.robot.forward_kinematics(q[k]).position[[self.robot.bodies.index(b) for b in bodies]]
                largest = max(1e-9, float(np.linalg.norm(forces, axis=2).max()))
                self.scene.arrows("forces", starts, forces[k], 0.35 * reach(self.robot) / largest)

    def _add_joint_sliders(self) -> None:
        limits = self.robot.limits
        self.sliders: dict[int, Any] = {}
        with self.server.gui.add_folder("Joints", expand_by_default=len(self.robot.joints) <= 8):
            for name in self.robot.joints:
                joint, at = self.robot.model.joint(name), self.robot.index(name)
                if joint.nq != 1:
                    continue
                k = at.start
                span = 1.0 if joint.type == "prismatic" else np.pi
                low = float(limits.lower[k]) if np.isfinite(limits.lower[k]) else -span
                high = float(limits.upper[k]) if np.isfinite(limits.upper[k]) else span
                slider = self.server.gui.add_slider(
                    name, low, max(high, low + 1e-6), (high - low) / 1000 or 1e-6, float(np.clip(0.0, low, high))
                )
                slider.on_update(lambda _: self._from_sliders())
                self.sliders[k] = slider

    def _start(self) -> np.ndarray:
        """Where the robot stands first: the start of its first motion, else its neutral configuration."""
        if self._first_motion is None:
            return self.robot.neutral()
        return np.asarray(self.robot.motions[self._first_motion].sample(0.0)[0])

    def _add_actuator_sliders(self) -> None:
        """Lengths of the linear actuators: the robot follows through its closed loops."""
        self.actuators: dict[int, Any] = {}
        named = {e.name: e for e in self.robot.model.elements if isinstance(e, LinearActuator)}
        if not named:
            return
        c, _, _ = self.robot.to_actuators(self._start())
        with self.server.gui.add_folder("Actuators"):
            for k, name in enumerate(self.robot.actuators):
                if name not in named:
                    continue
                low = max(float(named[name].lower), 0.8 * float(c[k]))
                high = min(float(named[name].upper), 1.15 * float(c[k]))
                slider = self.server.gui.add_slider(f"{name} [m]", low, high, (high - low) / 1000, float(c[k]))
                slider.on_update(lambda _: self._from_actuators())
                self.actuators[k] = slider

    def _from_actuators(self) -> None:
        if self._quiet:
            return
        with self._lock:
            c, _, _ = self.robot.to_actuators(self.scene.q)
            for k, slider in self.actuators.items():
                c[k] = slider.value
            try:
                q, _, _ = self.robot.from_actuators(c)
            except LinkworkError as error:  # a length that the loop cannot take
                self.target_status.content = str(error)
                return
            self.target_status.content = ""
            self.show(q)

    def _from_sliders(self) -> None:
        if self._quiet:
            return
        with self._lock:
            q = self.scene.q.copy()
            for k, slider in self.sliders.items():
                q[k] = slider.value
            self.scene.move(q)

    def _add_motion_controls(self) -> None:
        names = list(self.robot.motions)
        with self.server.gui.add_folder("Motion", visible=bool(names)):
            self.playing = self.server.gui.add_checkbox("play", False)
            self.speed = self.server.gui.add_slider("speed", 0.1, 3.0, 0.1, 1.0)
            self.scrub = self.server.gui.add_slider("time [s]", 0.0, 1.0, 0.01, 0.0, disabled=True)
        self.scrub.on_update(lambda _: None if self._quiet else self.seek(self.scrub.value))
        self._first_motion = names[0] if names else None

    def _add_shown(self) -> None:
        with self.server.gui.add_folder("Shown"):
            axes = self.server.gui.add_checkbox("body axes", False)
            axes.on_update(lambda _: self.scene.show_axes(axes.value))
            self.arrows_shown = self.server.gui.add_checkbox("joint forces", False)
            if not self.robot.model.kinematic_only:
                com = self.server.gui.add_checkbox("centre of mass", False)
                com.on_update(lambda _: self.scene.show_center_of_mass(com.value))

    def _add_target(self) -> None:
        """A frame to drag: the robot follows by inverse kinematics."""
        with self.server.gui.add_folder("Target"):
            self.target_frame = self.server.gui.add_dropdown(
                "frame", tuple(self.robot.bodies), initial_value=self.robot.bodies[-1]
            )
            self.target_shown = self.server.gui.add_checkbox("drag a target", False)
            self.target_status = self.server.gui.add_markdown("")
        self.target = self.server.scene.add_transform_controls("/target", 0.15 * reach(self.robot), visible=False)
        self.target_shown.on_update(lambda _: self._start_target())
        self.target.on_update(lambda _: self._follow_target())

    def _start_target(self) -> None:
        pose = self.robot.pose(self.scene.q, self.target_frame.value)
        self.target.position, self.target.wxyz = pose[:3, 3], quaternion(pose[:3, :3])
        self.target.visible = self.target_shown.value

    def _follow_target(self) -> None:
        self.follow(np.array(self.target.position), np.array(self.target.wxyz))

    def follow(self, position: np.ndarray, wxyz: np.ndarray) -> bool:
        """Move the chosen frame to a pose by inverse kinematics from where the robot stands; says whether it could."""
        from scipy.spatial.transform import Rotation

        T = np.eye(4)
        T[:3, :3], T[:3, 3] = Rotation.from_quat(np.roll(wxyz, -1)).as_matrix(), position
        with self._lock:
            try:
                result = self.robot.inverse_kinematics(T, self.target_frame.value, q0=self.scene.q)
            except LinkworkError as error:
                self.target_status.content = str(error)
                return False
            reached = bool(np.all(result.success))
            self.target_status.content = "" if reached else f"not reached: {result.reason}"
            if reached:
                self.show(np.asarray(result.q, dtype=float))
            return reached

    def _play(self) -> None:
        period, last = 1.0 / FRAMES_PER_SECOND, time.perf_counter()
        while not self._closed.wait(period):
            now = time.perf_counter()
            elapsed, last = now - last, now
            if not self.playing.value:
                continue
            self._guarded(lambda: self._advance(elapsed))  # noqa: B023  (called at once)

    def _advance(self, elapsed: float) -> None:
        if self._motion is None and self._first_motion is not None:
            self.load_motion(self._first_motion)
        if self._motion is not None:
            duration = float(self._motion[0][-1])
            self.seek((self.scrub.value + elapsed * self.speed.value) % duration)

    def _guarded(self, work: Callable[[], None]) -> None:
        """The player must not die of one bad frame: stop playing and say why."""
        try:
            work()
        except LinkworkError as error:
            self.playing.value = False
            self.target_status.content = str(error)


def _joint_forces(analysis: Any, at: np.ndarray) -> tuple[list[str], np.ndarray]:
    """(bodies, forces (n, bodies, 3) on them at their joints, world axes)."""
    bodies = [b for b in analysis.loads.bodies if analysis.loads.subject.model.body(b).mass_properties.mass]
    where = {name: k for k, name in enumerate(analysis.poses.bodies)}
    forces = []
    for body in bodies:
        R = analysis.poses.rotation[at, where[body]]
        forces.append(np.einsum("nij,nj->ni", R, analysis.loads.joint_wrench(body)[at, :3]))
    return bodies, np.stack(forces, axis=1)


def _free_port(host: str) -> int:
    import socket

    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])

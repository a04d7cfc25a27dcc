"""Graph page: vertices of a kinematic graph where their point is, coloured by cost;
a click shows the branches."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.planning import KinematicGraph
from linkwork.planning.node_ways import COSTS
from linkwork.planning.sampling import moving_joints, whole_configurations
from linkwork.view import triangles
from linkwork.view.ghosts import Ghosts
from linkwork.view.palette import linear, load_colors

MOST = 20_000
"""Vertices that are drawn; of more, every n-th."""
BALL = 0.025
"""Largest radius of a ball, as a part of the robot."""
UNREACHED = (150, 150, 150)


class GraphPage:
    """A folder of a robot's tab: which point, how fine, from where the costs are counted."""

    def __init__(self, stand: Any) -> None:
        self.stand, self.robot, self.server = stand, stand.robot, stand.server
        gui = self.server.gui
        with gui.add_folder("Kinematic graph", expand_by_default=False):
            self.point = gui.add_dropdown(
                "point", tuple(dict.fromkeys(self.robot.frames)), initial_value=stand.tip
            )
            self.joints = gui.add_text("joints of the grid", "")
            self.resolution = gui.add_number("resolution [deg]", 10.0, min=0.1, max=90.0)
            self.slide = gui.add_number("of joints that slide [mm]", 50.0, min=0.1)
            self.voxel = gui.add_number("voxel [mm]", 100.0, min=1.0)
            self.cost = gui.add_dropdown("cost", COSTS)
            self.build = gui.add_button("build the graph")
            self.recolor = gui.add_button("costs from here", disabled=True)
            self.hide = gui.add_button("take it away", disabled=True)
            self.status = gui.add_markdown("")
        self.graph: KinematicGraph | None = None
        self.costs = np.empty(0)
        self.drawn = np.empty(0, dtype=np.int64)
        self.ghosts = Ghosts(stand.scene, opacity=0.35)
        self._node: Any = None
        self.build.on_click(lambda _: self.restart())
        self.recolor.on_click(lambda _: self.draw())
        self.cost.on_update(lambda _: self.draw())
        self.hide.on_click(lambda _: self.remove())

    def restart(self) -> None:
        """Build the graph and draw it."""
        names = [name for name in self.joints.value.replace(",", " ").split() if name] or None
        try:
            moving = moving_joints(self.robot.subject, self.point.value, names)
            turn, slide = float(np.radians(self.resolution.value)), 1e-3 * float(self.slide.value)
            slides = [bool(self.robot.model.joint(name).kind.slides) for name in moving]
            graph = KinematicGraph.build(
                self.robot,
                self.point.value,
                [slide if sliding else turn for sliding in slides],
                1e-3 * float(self.voxel.value),
                joints=names,
                wrap="continuous",
            )
        except LinkworkError as error:
            self.status.content = str(error)
            return
        with self.stand.lock:
            self.graph = graph
            self.ghosts.hide()
        self.draw()

    def draw(self) -> None:
        """Vertices as balls, blue where the way from here is cheapest, red where it is dearest,
        grey without one."""
        graph = self.graph
        if graph is None or self.stand.removed:
            return
        with self.stand.lock:
            try:
                self.costs = graph.vertex_costs(self.stand.scene.q, self.cost.value)
            except LinkworkError as error:
                self.status.content = str(error)
                return
            self.drawn = np.arange(0, len(graph.vertices), 1 + len(graph.vertices) // MOST)
            costs = self.costs[self.drawn]
            reached = np.isfinite(costs)
            largest = float(costs[reached].max(initial=1e-12))
            colors = load_colors(np.where(reached, costs, 0.0) / max(largest, 1e-12))
            colors[~reached] = UNREACHED
            vertices, faces = triangles.ball(
                min(0.22 * graph.voxel_size, BALL * self.stand.scene.size), 8, 6
            )
            count = len(self.drawn)
            self._node = self.server.scene.add_batched_meshes_simple(
                f"{self.stand.scene.root}/graph",
                np.asarray(vertices, dtype=np.float32),
                np.asarray(faces),
                np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
                graph.vertices.position[self.drawn],
                batched_colors=linear(colors),
                lod="off",
                cast_shadow=False,
                receive_shadow=False,
            )
            self._node.on_click(lambda event: self.clicked(event.instance_index))
            self.recolor.disabled = self.hide.disabled = False
            self.status.content = (
                f"{len(graph.nodes)} nodes, {len(graph.voxels)} voxels, {len(graph.vertices)} "
                "vertices, "
                f"{len(graph.edges)} edges; red costs {largest:.3g}. Click a ball to see its "
                "branches."
            )

    def clicked(self, instance: int | None) -> None:
        """The branches of the voxel of a ball as ghosts, the cheapest first."""
        graph = self.graph
        if graph is None or instance is None or not 0 <= instance < len(self.drawn):
            return
        with self.stand.lock:
            voxel = graph.vertices.voxel[self.drawn[instance]]
            branches = np.flatnonzero(graph.vertices.voxel == voxel)
            branches = branches[np.argsort(self.costs[branches])]
            self.ghosts.show(
                whole_configurations(graph.subject, graph.vertices.q[branches], graph.columns)
            )
            prices = ", ".join(
                f"{cost:.3g}" if np.isfinite(cost) else "no way" for cost in self.costs[branches]
            )
            at = np.round(graph.voxels[voxel] * graph.voxel_size, 4).tolist()
            self.status.content = f"voxel at {at} m: {len(branches)} branches, cost {prices}"

    def remove(self) -> None:
        """Take it away."""
        if self._node is not None:
            self._node.remove()
        self._node, self.graph = None, None
        self.ghosts.hide()
        self.recolor.disabled = self.hide.disabled = True
        self.status.content = ""

"""Robot: the thin facade. A method is a signature, a short docstring and one call."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np

from linkwork import configurations, quantities
from linkwork.arguments import as_doubles, choice, flag, number
from linkwork.doors import with_door
from linkwork.errors import UnknownName, listed
from linkwork.gradient import Gradient, Reduce
from linkwork.gradient import gradient as gradient_of
from linkwork.inverse_methods import InverseMethods
from linkwork.kernel_counts import Kernels
from linkwork.looks import Looks
from linkwork.mechanism_methods import MechanismMethods
from linkwork.model import Model, edit
from linkwork.model.mounting import mounting
from linkwork.model.parametric import Edited, Parametric, unknown_variable
from linkwork.model.validation import sound
from linkwork.peers import NAMES, OtherName, with_other_names
from linkwork.quantities.functions import named_function
from linkwork.quantities.methods import QuantityMethods
from linkwork.results import JointLimits
from linkwork.subject import Subject

# Applications are imported by the methods that need them:
# who only wants poses waits for poses alone.
if TYPE_CHECKING:
    from linkwork.actuation.motions import Motions
    from linkwork.formats.dh import DHTable
    from linkwork.studies.bounds import ChristoffelBounds
    from linkwork.synthesis.linkage import Linkage
    from linkwork.synthesis.spatial import FiveLegs, SphericalFourBar
    from linkwork.synthesis.task import PlanarTask


@with_other_names
@functools.partial(with_door, methods=True)
class Robot(QuantityMethods, InverseMethods, Looks, MechanismMethods):
    """A robot: described once, every quantity about it is one call,
    for one configuration or for a million.

    Shapes: q (..., nq), v, a, tau (..., nv), with any leading batch dimensions, which broadcast. SI
    units, radians. Spatial vectors have the linear part first. Nothing is kept between calls but
    compiled code.
    """

    def __init__(
        self, model: Model, parametric: Parametric | None = None, live: Sequence[str] = ()
    ) -> None:
        super().__init__(Subject(sound(model), parametric, tuple(live)))

    @classmethod
    def from_dh(
        cls,
        rows: Sequence[Mapping[str, Any]],
        convention: str = "standard",
        check: str = "physical",
        name: str = "dh",
    ) -> Robot:
        """The robot of a DH table, "standard" or "modified" (Craig). See formats/dh.py.

        A row has a, d [m], alpha, theta [rad], joint "revolute" | "prismatic", and may have offset
        (added to q), mass, com and inertia (about the com, axes of the row's frame), parent
        (index of an earlier row; None: the base), limits (lower, upper), name and link. The frame
        of row 1 is the body "link1", and so on.
        """
        from linkwork.formats.dh import dh_model

        return cls(dh_model(rows, convention, check, name))

    @classmethod
    def from_linkage(
        cls,
        linkage: Linkage | SphericalFourBar | FiveLegs,
        task: PlanarTask | None = None,
        *,
        plane: str = "xz",
        live: bool = False,
        density: float | tuple[float, float, float] | None = None,
    ) -> Robot:
        """The robot of a linkage of `lw.synthesis`: every dimension a variable.
        See synthesis/robots.py.

        task      its positions become the configurations "position_1" ...
        plane     "xz" | "xy" | "yz": where the linkage lies
        live      every dimension stays an input of every kernel: designs are then `variables=`
                  batches
        density   mass of the bars [kg/m], or (kg/m^3, width, thickness); None: a robot without
                  masses
        """
        from linkwork.synthesis.robots import description

        built = description(linkage, task, plane=plane, density=density)
        return cls(built.build({}), built, live=tuple(built.defaults) if live else ())

    def to_dh(self, convention: str = "standard") -> DHTable:
        """DH rows of a robot of revolute and prismatic joints: what `from_dh` takes,
        with `.base` and `.tool`.

        Its own frames where they are DH frames, else frames made with common normals. See
        formats/dh_rows.py.
        """
        from linkwork.formats.dh_rows import dh_rows

        return dh_rows(
            self.model, choice(convention, ("standard", "modified"), "to_dh: convention")
        )

    # what it is

    @property
    def model(self) -> Model:
        """The description, as frozen data."""
        return self.subject.model

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def nq(self) -> int:
        """Number of configuration coordinates."""
        return self.subject.nq

    @property
    def nv(self) -> int:
        """Number of velocity coordinates (degrees of freedom of the tree)."""
        return self.subject.nv

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of every described body, those behind fixed joints included."""
        return tuple(body.name for body in self.model.bodies)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the moving, independent joints, in the order of their coordinates in q and v."""
        return self.subject.joints

    @property
    def frames(self) -> tuple[str, ...]:
        """Every name that a `frame` argument takes: bodies, named frames,
        and points as "body.point"."""
        points = (f"{body.name}.{label}" for body in self.model.bodies for label, _ in body.points)
        return (*self.subject.tree.frames, *points)

    @functools.cached_property
    def limits(self) -> JointLimits:
        """Position, velocity, effort and acceleration limits in the order of q and v."""
        return configurations.limits(self.subject)

    @property
    def motions(self) -> Motions:
        """The motions its description names: robot.motions["validation"].sample(t) -> q, v, a."""
        from linkwork.actuation.motions import Motions

        return Motions(self.subject)

    @property
    def kernels(self) -> Kernels:
        """The kernels made so far by what they compute, with operation counts:
        robot.kernels["christoffel"].operations stands beside
        robot.kernels.published["christoffel"].operations, the paper's count."""
        return Kernels(self.subject)

    def __repr__(self) -> str:
        return f'<Robot "{self.name}": {len(self.bodies)} bodies, nq = {self.nq}, nv = {self.nv}>'

    def __str__(self) -> str:
        return configurations.table(self.subject)

    def __dir__(self) -> list[str]:
        """Without the names of other tools, which only say ours."""
        kind = type(self)
        found = {name: inspect.getattr_static(kind, name, None) for name in super().__dir__()}
        return [name for name, value in found.items() if not isinstance(value, OtherName)]

    def __reduce__(self) -> tuple[Any, ...]:
        return Robot, (self.model, self.subject.parametric, self.subject.live)

    def index(self, name: str) -> slice:
        """Where a joint's coordinates stand in q."""
        return configurations.place(self.subject, name)

    # configurations

    def neutral(self) -> np.ndarray:
        """The zero configuration (nq,), quaternions at identity."""
        return configurations.neutral(self.subject)

    @property
    def home(self) -> np.ndarray:
        """Where it stands when nobody says otherwise (nq,): its configuration "home", else where
        its loops are closed first, else neutral. The viewer and pictures begin there."""
        from linkwork.loops import assembly

        return assembly.home(self.subject)

    def q(self, **joints: float | Sequence[float]) -> np.ndarray:
        """The neutral configuration with some joints set by name: robot.q(elbow=0.3)."""
        return configurations.named(self.subject, joints)

    def random(
        self, n: int | None = None, seed: int | None = None, assembled: bool = True
    ) -> np.ndarray:
        """Random configurations (nq,) or (n, nq) within the limits; without limits +-pi, +-1 m;
        uniform rotations.

        Those of a machine with loops close; assembled=False draws its joints alone.
        """
        if not flag(assembled, "random: assembled") or not self.model.elements:
            return configurations.random(self.subject, n, seed)
        from linkwork.loops import closed

        return closed.random_closed(self.subject, n, seed)

    # other robots made from this one

    def with_frame(self, name: str, body: str, xyz: Any = (0, 0, 0), rotation: Any = None) -> Robot:
        """The robot with one more named frame: at `xyz` [m] of the body (or frame),
        turned by a rotation matrix.

        xyz may be a whole pose: robot.with_frame("tip", "tool0", lw.pose((0, 0, 0.1), rpy=(0, 0,
        90), degrees=True))
        """
        return self._edited(
            edit.with_frame, name=name, body=body, placement=mounting(xyz, rotation)
        )

    def with_base(
        self, xyz: Any = (0, 0, 0), rotation: Any = None, floating: bool = False
    ) -> Robot:
        """The robot placed elsewhere in the world, or on a floating joint; xyz may be a whole
        pose."""
        return self._edited(edit.with_base, placement=mounting(xyz, rotation), floating=floating)

    def with_gravity(self, gravity: Sequence[float]) -> Robot:
        """The robot under another gravity vector in world axes [m/s^2]."""
        return self._edited(edit.with_gravity, gravity=tuple(float(g) for g in gravity))

    def locked(self, **joints: float | Sequence[float]) -> Robot:
        """The robot with these joints fixed at the given values."""
        # Plain numbers: an array would be written into the key of what is compiled with eight
        # digits only.
        exact = {name: as_doubles(q, f"locked: {name}").tolist() for name, q in joints.items()}
        return self._edited(edit.locked, joints=exact)

    def subchain(self, base: str, tip: str) -> Robot:
        """The chain of bodies from `base` (fixed to the world) to `tip` alone."""
        return self._edited(edit.subchain, base=base, tip=tip)

    def attach(
        self,
        other: Robot,
        frame: str,
        xyz: Any = (0, 0, 0),
        rotation: Any = None,
        prefix: str = "",
    ) -> Robot:
        """This robot with another one mounted on a body or frame, at a position or pose;
        its names get the prefix."""
        placement = mounting(xyz, rotation)
        return self._edited(
            edit.attach, other=other.model, frame=frame, prefix=prefix, placement=placement
        )

    def with_variables(self, **values: float) -> Robot:
        """The robot built again with other values of its variables [SI]."""
        parametric = self.subject.parametric
        present = dict(self.model.variables)
        for name in values:
            if parametric is None or name not in present:
                raise unknown_variable(self.model, parametric, name)
        if parametric is None:
            return self
        model = parametric.build(
            {**present, **{k: number(v, f"with_variables: {k}") for k, v in values.items()}}
        )
        return Robot(model, parametric, self.subject.live)

    def with_parameters(self, parameters: Any) -> Robot:
        """The robot with other inertial parameters: ten a body (10 nb,),
        in the order of `parameters()`.

        What `lw.studies.identify` found is taken whole: its friction and rotor inertias come along.
        """
        return self._edited(
            edit.with_parameters, **configurations.parameter_changes(self.subject, parameters)
        )

    # parameters of the dynamics

    def parameters(self) -> np.ndarray:
        """Ten inertial parameters of each body one after the other (10 nb,),
        in the order of `bodies`.

        Mass, first moment (x, y, z), inertia about the body's origin (xx, xy, yy, xz, yz, zz), in
        body axes.
        """
        return np.array(
            [x for body in self.model.bodies for x in body.mass_properties.parameters()],
            dtype=float,
        )

    def christoffel_bounds(
        self,
        kind: str = "certified",
        samples: int = 200_000,
        seed: int = 0,
        time_limit: float | None = None,
    ) -> ChristoffelBounds:
        """Bounds of the Christoffel symbols and of the Coriolis matrix over the joint ranges.
        See studies/bounds.py.

        kind="certified": nothing exceeds them, and more samples make them tighter; "sampled": the
        largest found.
        """
        from linkwork.studies.bounds import christoffel_bounds

        return christoffel_bounds(self.subject, kind, samples, seed, time_limit)

    # the mathematics itself

    def gradient(
        self,
        quantity: str,
        variable: str | Sequence[str],
        reduce: Reduce = "sum_squares",
        frame: str | None = None,
    ) -> Gradient:
        """A quantity reduced to one number, and its exact gradient by variables, in one kernel.
        See gradient.py.

        variable   of the description (live or not), or an input of the quantity such as "q";
                   several: a list
        reduce     "sum" | "sum_squares" | "norm" | "max" | "max_abs", or a function of CasADi
                   symbols to a scalar

        The result is called with the quantity's arguments:
        value, gradient = robot.gradient("gravity_torque", "upper_arm", "norm")(q,
        variables={"upper_arm": lengths})
        """
        return gradient_of(self.subject, quantity, variable, reduce, frame)

    def function(
        self,
        name: str,
        frame: str | None = None,
        payload: str | Sequence[str] = (),
        forces: str | Sequence[str] = (),
    ) -> casadi.Function:
        """A quantity as a CasADi function with named inputs (q, v, a, tau, ...),
        for optimisations of your own.

        payload, forces: bodies and frames whose payload or external force is an input too. Live
        variables are inputs. See quantities/functions.py.
        """
        return named_function(self.subject, _known_quantity(name), frame, payload, forces)

    def export_c(self, name: str, path: str | Path, frame: str | None = None) -> Path:
        """Write a quantity as a C file without dependencies (CasADi's code generator)."""
        from linkwork.formats.files import write_atomically

        path = Path(path)
        generator = casadi.CodeGenerator(path.name, {"with_header": False})
        generator.add(self.function(name, frame))
        write_atomically(path, generator.dump())
        return path

    def prepare(self, *names: str, frame: str | None = None) -> Robot:
        """Compile these quantities now (or load them from the cache),
        for single samples and batches."""
        for name in names:
            framed = quantities.quantity(_known_quantity(name)).frame
            quantities.kernel_of(self.subject, name, frame if framed else None).prepare()
        return self

    def _edited(self, function: Callable[..., Model], **arguments: Any) -> Robot:
        apply = functools.partial(function, **arguments)
        parametric = self.subject.parametric
        if parametric is not None:
            parametric = Edited(parametric, apply, f"{function.__name__} {arguments!r}")
        return Robot(apply(self.model), parametric, self.subject.live)


def _known_quantity(name: str) -> str:
    """The name of a quantity; a wrong one is refused with what was probably meant,
    and all that there are."""
    try:
        quantities.quantity(name)
    except UnknownName as error:
        known = [
            each
            for each in quantities.every_quantity()
            if each in quantities.QUANTITIES or hasattr(Robot, each)
        ]
        ours = NAMES.get(str(name), "").partition("(")[0]
        here = f'; here it is "{ours}"' if ours in known else ""
        raise UnknownName(f"{error}{here}; there are {listed(sorted(known), len(known))}") from None
    return name

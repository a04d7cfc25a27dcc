"""Words: what the keys of a .robot.yaml mean, for the JSON schema;
keys of elements say it beside their fields.

record (as `Record.what` names it) -> (what it is, {key: what the key says}). A test asks that no
key is left out.
"""

from __future__ import annotations

REMARKS = {
    "source": "Where the numbers come from: a paper with its key, a data sheet, a drawing.",
    "note": "Anything a reader should know; a list is lines.",
    "assumption": "What is supposed and not published; the entry then counts as assumed.",
    "correction": "What was corrected of the source, and why.",
}
WORDS: dict[str, tuple[str, dict[str, str]]] = {
    "robot": (
        "A whole robot or mechanism, written by hand.",
        {
            "name": "Name of the robot.",
            "description": "One line about it, shown by `linkwork robots`.",
            "bodies": "Rigid bodies by name.",
            "joints": "Joints by name; together they make a tree from the world outward.",
        },
    ),
    "set of units": (
        "Units of bare numbers in this file.",
        {
            "length": "m, mm, cm, in, ...; forces, stiffness, damping stay SI.",
            "angle": "rad or deg.",
            "mass": "kg or g.",
            "inertia": "Such as kg*mm^2; left out: mass times length squared.",
        },
    ),
    "variable": (
        "A named number: bare it is a length, with a unit anything, as ${...} an expression "
        "of others.",
        {
            "value": "The number, a number with its unit, or ${expression}.",
            "unit": "Unit of a bare value.",
        },
    ),
    "body": ("A rigid body; its axes are those of the joint that carries it.", {}),
    "inertia": (
        "Moments of inertia of a body.",
        {
            **{k: f"Moment I_{k}, positive." for k in ("xx", "yy", "zz")},
            **{k: f"Product I_{k} as it stands in the matrix." for k in ("xy", "xz", "yz")},
            "about": "com (left out), or joint: about the body's origin, moved to the centre of "
            "mass when read.",
        },
    ),
    "shape": (
        "A solid on a body.",
        {
            "kind": "box, sphere, cylinder, capsule or mesh; cylinders and capsules stand along z.",
            "start": "Of a capsule or cylinder: one end of its axis, instead of placement "
            "and length.",
            "end": "The other end of its axis.",
            "radius": "With start and end: its radius.",
            "name": "Name of the shape.",
        },
    ),
    "joint": (
        "A joint that carries one body.",
        {
            "type": "fixed, revolute, continuous, prismatic, helical, cylindrical, universal, "
            "planar, ball, floating."
        },
    ),
    "limit": (
        "Range and largest rates of a coordinate; what is left out is unlimited.",
        {
            "lower": "Smallest coordinate.",
            "upper": "Largest coordinate.",
            "velocity": "Largest speed.",
            "effort": "Largest torque or force [N m, N].",
            "acceleration": "Largest acceleration.",
        },
    ),
    "mimic": (
        "q = multiplier * q of the other joint + offset.",
        {
            "joint": "The joint that leads.",
            "multiplier": "1 where it is left out.",
            "offset": "0 where it is left out.",
        },
    ),
    "frame": (
        "A named frame on a body.",
        {"body": "The body it is fixed to.", "placement": "Where it is in axes of that body."},
    ),
    "placement": (
        "Position and rotation; one kind of rotation, or none.",
        {
            "xyz": "Position.",
            "point": "A named point of the parent instead of xyz.",
            "rpy": "Roll, pitch, yaw about fixed x, y, z, as in URDF.",
            "zxz": "Three turns about moving z, x, z.",
            "euler": "Turns about any sequence of moving axes.",
            "quaternion": "x, y, z, w of unit length.",
            "matrix": "Three rows.",
            "axis_angle": "A turn about an axis.",
            "dh": "A row of a Denavit-Hartenberg table.",
        },
    ),
    "rotation": (
        "A rotation, written one way.",
        {
            "axis": "Axis of the turn.",
            "angle": "Angle of the turn.",
            "sequence": 'Axes in order, such as "zyx".',
            "angles": "One angle an axis of the sequence.",
            "rpy": "Roll, pitch, yaw about fixed x, y, z.",
            "zxz": "Three turns about moving z, x, z.",
            "euler": "Turns about any sequence of moving axes.",
            "quaternion": "x, y, z, w of unit length.",
            "matrix": "Three rows.",
            "axis_angle": "A turn about an axis.",
        },
    ),
    "DH row": (
        "One row of a Denavit-Hartenberg table.",
        {
            "a": "Length along x.",
            "alpha": "Turn about x.",
            "d": "Offset along z.",
            "theta": "Turn about z.",
            "convention": "standard or modified.",
            "offset": "Added to the coordinate.",
            "joint": "revolute (left out) or prismatic.",
            "name": "Name of the joint.",
            "link": "Name of the body.",
            "parent": "Row it hangs on, from 0; left out: the row before.",
            "mass": "Mass of the link.",
            "com": "Its centre of mass in axes of the link's frame.",
            "inertia": "Its moments about the centre of mass.",
            "limits": "As of a joint.",
            "shapes": "Shapes of the link that are drawn and collide.",
            "damping": "Viscous friction.",
            "friction": "Dry friction.",
            "armature": "Rotor inertia seen by the joint.",
        },
    ),
    "DH table": (
        "A chain as a table.",
        {
            "convention": "standard or modified.",
            "base": "Placement of the first row.",
            "base_shapes": "Shapes of what the chain stands on.",
            "parent": "Body it stands on; left out: the world.",
            "rows": "One row a joint.",
        },
    ),
    "point": (
        "A point of a body.",
        {
            "body": "The body (or a bar).",
            "point": "A named point of it.",
            "at": "Or its position in axes of the body.",
        },
    ),
    "sharing rule": (
        "How what supports a body divides a load that equilibrium leaves open.",
        {
            "body": "The supported body.",
            "direction": "fx, fy, fz, mx, my or mz in axes of the body.",
            "parts": "support: share; shares sum to 1.",
            "others": "nothing (left out: other supports carry what equilibrium asks) or free.",
            "support": "A support whose weights are given instead.",
            "weights": "Six positive numbers, for fx .. mz; larger carries more.",
        },
    ),
    "motion": (
        "A named motion.",
        {
            "duration": "[s].",
            "joints": "joint: track.",
            "actuators": "actuator: track, as commands.",
        },
    ),
    "track": (
        "One coordinate over time, said one way.",
        {
            "start": "Value at the start.",
            "rate": "Rate at the start.",
            "acceleration": "A number, or [[time, value], ...]: constant from each time on.",
            "waypoints": "[[time, value], ...].",
            "interpolation": "Between waypoints: linear, cubic or quintic.",
            "polynomial": "Coefficients of t^0, t^1, ...",
            "pieces": "Polynomials one after the other.",
        },
    ),
    "piece": (
        "A polynomial from a time on.",
        {"time": "When it begins [s].", "polynomial": "Coefficients of powers of t since then."},
    ),
    "chain": (
        "A part that is written once.",
        {
            "variables": "Its own variables; a copy may set them.",
            "bodies": "As of a robot.",
            "joints": "As of a robot; one without a parent hangs where the chain is placed.",
            "frames": "As of a robot.",
            "elements": "As of a robot.",
        },
    ),
    "placed chain": (
        "Copies of a chain.",
        {
            "chain": "Which one.",
            "parent": "Body it hangs on; left out: the world.",
            "placement": "Where on that body.",
            "count": "How many copies.",
            "index": "Name of a variable that counts them from 0, for expressions.",
            "prefix": "Put before the names of a copy.",
            "suffix": "Put after them; * in a name says where it goes.",
            "mirror": "x, y or z: reflected, so that equal coordinates give mirrored postures.",
            "with": "Values of the chain's variables in this copy.",
        },
    ),
}


def described(what: str, key: str) -> str:
    """What a key of a record says; "" where no words are known."""
    return WORDS.get(what, ("", {}))[1].get(key) or REMARKS.get(key, "")

"""The words of MJCF: what linkwork reads, what has no part in kinematics and dynamics,
what it refuses.

Every other word is an error with the nearest one that is known: <freejiont/> must not silently fix
a body. The tables follow MuJoCo 4.0 and hold, besides, a few words of older versions that simulate
and do not describe.
"""

from __future__ import annotations

from functools import cache

from linkwork.errors import did_you_mean, listed
from linkwork.formats.xml import Element

ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
_ORIENTATION = " ".join(ORIENTATIONS)
JOINT_TYPES = ("hinge", "slide", "ball", "free")
GEOM_TYPES = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")

ACTUATORS = (
    *(
        "general",
        "motor",
        "position",
        "velocity",
        "intvelocity",
        "orientation",
        "pid",
        "damper",
        "cylinder",
    ),
    *("muscle", "adhesion", "dcmotor", "plugin"),
)
_ACTUATOR = (
    "actdim actearly actlimited actrange area armature bias biasprm biastype body class cogging "
    "controller "
    "cranklength cranksite ctrllimited ctrlrange damping dampratio delay diameter dynprm dyntype "
    "ffrange force "
    "forcelimited forcerange fpmax fvmax gain gainprm gaintype gear group imax inductance "
    "inheritrange input instance "
    "interp joint jointinparent ki kp kv lengthrange lmax lmin lugre motorconst name nominal "
    "nsample plugin posrange "
    "range refsite resistance saturation scale site slewmax slidersite tausmooth tendon thermal "
    "timeconst user "
    "velrange vmax"
)
_TENDON = (
    "name class group limited actuatorfrclimited range actuatorfrcrange solreflimit solimplimit "
    "solreffriction "
    "solimpfriction frictionloss springlength springyield width material margin stiffness damping "
    "armature rgba user"
)
_EQUALITY = "name class active solref solimp"
_BODY_PARTS = {
    **{
        tag: tag
        for tag in ("body", "frame", "replicate", "inertial", "joint", "freejoint", "geom", "site")
    },
    "plugin": "plugin",
    "attach": "attach",
}

# place -> (tags inside it and the place each one opens, attributes)
READ: dict[str, tuple[dict[str, str], str]] = {
    "mujoco": (
        {
            **{
                tag: tag
                for tag in (
                    "compiler",
                    "option",
                    "default",
                    "asset",
                    "worldbody",
                    "deformable",
                    "extension",
                )
            },
            **{tag: tag for tag in ("equality", "tendon", "actuator", "custom", "keyframe")},
        },
        "model",
    ),
    "compiler": (
        {},
        "alignfree angle assetdir autolimits balanceinertia boundinertia boundmass conflict "
        "coordinate discardvisual "
        "eulerseq fitaabb fusestatic inertiafromgeom inertiagrouprange meshdir passthrough "
        "savecanonical savecompiled "
        "saveinertial settotalmass strippath texturedir usethread convexhull",
    ),
    "option": (
        {"flag": "flag"},
        "actuatorgroupdisable ccd_iterations ccd_tolerance cone density gravity impratio "
        "integrator iterations "
        "jacobian ls_iterations ls_tolerance magnetic noslip_iterations noslip_tolerance "
        "o_friction o_margin o_solimp "
        "o_solref sdf_initpoints sdf_iterations sleep_tolerance solver timestep tolerance "
        "viscosity wind "
        "apirate collision mpr_iterations mpr_tolerance",
    ),
    "flag": (
        {},
        "actuation autoreset clampctrl constraint contact damper diagexact energy equality "
        "eulerdamp filterparent "
        "frictionloss fwdinv gravity invdiscrete ipc island limit midphase multiccd nativeccd "
        "override passive refsafe "
        "sensor sensornoise sleep speculative spring warmstart",
    ),
    "default": (
        {
            **{tag: tag for tag in ("default", "mesh", "material", "joint", "geom", "site")},
            **dict.fromkeys(ACTUATORS, "actuator element"),
            "equality": "default equality",
            "tendon": "default tendon",
        },
        "class",
    ),
    "default equality": ({}, _EQUALITY),
    "default tendon": ({}, _TENDON),
    "asset": ({"mesh": "mesh", "material": "material", "hfield": "hfield", "model": "model"}, ""),
    "model": ({}, "name file content_type"),
    "attach": ({}, "model body frame prefix"),
    "mesh": (
        {},
        "name class builtin content_type face file inertia material maxhullvert normal "
        "octree_maxdepth params refpos "
        "refquat scale smoothnormal texcoord vertex",
    ),
    "material": (
        {},
        "name class emission metallic reflectance rgba roughness shininess specular texrepeat "
        "texture texuniform",
    ),
    "hfield": ({}, "name content_type elevation file ncol nrow size"),
    "worldbody": (_BODY_PARTS, ""),
    "body": (
        _BODY_PARTS,
        f"name childclass pos {_ORIENTATION} mocap gravcomp fuse sleep simple user",
    ),
    "frame": (_BODY_PARTS, f"name childclass pos {_ORIENTATION}"),
    "replicate": (_BODY_PARTS, "count offset euler sep prefix childclass"),
    "inertial": ({}, f"pos {_ORIENTATION} mass diaginertia fullinertia"),
    "joint": (
        {},
        "name class type group pos axis springdamper springyield limited actuatorfrclimited "
        "solreflimit solimplimit "
        "solreffriction solimpfriction stiffness range actuatorfrcrange actuatorgravcomp margin "
        "ref springref armature "
        "damping frictionloss user",
    ),
    "freejoint": ({}, "name group align"),
    "geom": (
        {},
        "name class type contype conaffinity condim group priority size material friction mass "
        "density shellinertia "
        f"solmix solref solimp margin gap surfacevel adhesion fromto pos {_ORIENTATION} hfield "
        "mesh fitscale rgba "
        f"castshadow fluidshape fluidcoef user",
    ),
    "site": ({}, f"name class type group pos {_ORIENTATION} material mesh size fromto rgba user"),
    "plugin": ({}, "plugin instance"),
    "equality": (
        {
            **{tag: tag for tag in ("connect", "weld", "flex", "flexvert", "flexstrain")},
            "joint": "equality joint",
            "tendon": "equality tendon",
        },
        "",
    ),
    "connect": ({}, f"{_EQUALITY} body1 body2 anchor site1 site2"),
    "weld": ({}, f"{_EQUALITY} body1 body2 relpose anchor site1 site2 torquescale"),
    "equality joint": ({}, f"{_EQUALITY} joint1 joint2 polycoef"),
    "equality tendon": ({}, f"{_EQUALITY} tendon1 tendon2 polycoef"),
    **{tag: ({}, f"{_EQUALITY} flex cell") for tag in ("flex", "flexvert", "flexstrain")},
    "tendon": ({"spatial": "spatial", "fixed": "fixed"}, ""),
    "spatial": ({"site": "tendon site", "geom": "tendon geom", "pulley": "pulley"}, _TENDON),
    "fixed": ({"joint": "tendon joint"}, _TENDON),
    "tendon site": ({}, "site"),
    "tendon geom": ({}, "geom sidesite"),
    "tendon joint": ({}, "joint coef"),
    "pulley": ({}, "divisor"),
    "actuator": (dict.fromkeys(ACTUATORS, "actuator element"), ""),
    "actuator element": ({}, _ACTUATOR),
    "custom": ({"text": "text"}, ""),
    "text": ({}, "name data"),
    "keyframe": ({"key": "key"}, ""),
    "key": ({}, "name time qpos qvel act ctrl mpos mquat plastic"),
    "deformable": ({}, ""),
    "extension": ({}, ""),
}

# place -> tags inside it that neither move nor weigh: what is inside them is not looked at
WITHOUT_INFLUENCE: dict[str, str] = {
    "mujoco": "size statistic visual contact sensor",
    "compiler": "lengthrange",
    "default": "camera light pair texture",
    "asset": "texture skin",
    "mesh": "plugin",
    "material": "layer",
    **dict.fromkeys(("worldbody", "body", "frame", "replicate"), "camera light"),
    "geom": "plugin",
    "plugin": "config",
    "actuator element": "config",
    "custom": "numeric tuple",
    "deformable": "skin flex",
    "extension": "plugin",
}

# words that would change the mechanism if they were left out
_COMPILED = "load the file in MuJoCo and save it (mj_saveLastXML), then read what it saved"
REFUSED: dict[str, str] = {
    "composite": f"makes bodies that only MuJoCo can make; {_COMPILED}",
    "flexcomp": f"makes bodies that only MuJoCo can make; {_COMPILED}",
    "include": "includes nothing here: an include stands inside another element",
}


@cache
def _known_at(place: str) -> tuple[dict[str, str], dict[str, None], tuple[str, ...]]:
    """Tags with the places they open, attributes, and tags without influence on the mechanism,
    of a place."""
    tags, attributes = READ[place]
    return tags, dict.fromkeys(attributes.split()), tuple(WITHOUT_INFLUENCE.get(place, "").split())


def check_words(root: Element) -> None:
    """Refuse every tag and attribute in the expanded document that no table knows."""
    stack = [(root, "mujoco")]
    while stack:
        element, place = stack.pop()
        tags, known, quiet = _known_at(place)
        if not element.attributes.keys() <= known.keys():
            attribute = next(each for each in element.attributes if each not in known)
            near = did_you_mean(attribute, known)
            raise element.error(
                f'has an attribute "{attribute}", which MJCF does not know here{near}'
            )
        for child in element.children:
            inner = tags.get(child.tag)
            if inner is not None:
                if child.attributes or child.children:
                    stack.append((child, inner))
            elif child.tag in REFUSED:
                raise child.error(REFUSED[child.tag])
            elif child.tag not in quiet:
                choices = [*tags, *quiet]
                near = (
                    did_you_mean(child.tag, choices)
                    or f"; it may hold {listed(choices) or 'nothing'}"
                )
                raise child.error(f"is not a tag that MJCF knows inside <{element.tag}>{near}")

"""Linkages through positions: new, solve, fit, search, check, page, starts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import linkwork as lw
from linkwork.cli.answer import Answer, Table
from linkwork.cli.progress import working
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.files import write_atomically

GROUP = "synthesis"
"""Its commands are written `linkwork synthesis solve`."""
SHOWN, REPORTED = 25, 200
TaskPath = Annotated[
    Path, typer.Argument(help="A .task.yaml file; `linkwork synthesis new` writes one.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Write the picked linkage: .robot.yaml, .xml, .urdf (its open tree), .dxf and .svg "
        "(parts to cut), "
        ".png (a picture); .html: a report of all of them."
    ),
]
Pick = Annotated[int, typer.Option(help="Which linkage of the table --out writes, from 1.")]


def new(
    name: Annotated[str, typer.Argument(help="Name of the task; the file is NAME.task.yaml.")],
    force: Annotated[bool, typer.Option(help="Overwrite an existing file.")] = False,
) -> Answer:
    """Write an example task to start from.

    Example:  linkwork synthesis new hatch
    """
    from linkwork.synthesis.task_files import ENDING, EXAMPLE

    path = Path(f"{name}{ENDING}")
    if path.exists() and not force:
        raise InvalidInput(f"synthesis new: {path} exists; --force overwrites it")
    write_atomically(path, EXAMPLE.format(name=path.name.removesuffix(ENDING)))
    return Answer({"task": path.name.removesuffix(ENDING)}, wrote=[path])


def solve(task: TaskPath, out: Out = None, pick: Pick = 1) -> Answer:
    """Every four-bar that meets the positions exactly, or makers of a function; judged and ranked.

    The grounded link that drives better is the crank, unless the file says which one drives.

    Example:  linkwork synthesis solve hatch.task.yaml --out hatch.robot.yaml
    """
    from linkwork.synthesis import FunctionTask, better_driven, check, four_bars, read_task

    file = read_task(task)
    if isinstance(file.task, FunctionTask):
        return _of_function(
            file, file.options.get("starts", 400), file.options.get("seed", 0), out, pick
        )
    with working("solving"):
        driver = file.options.get("driver")
        exact = four_bars(file.task, driver=driver or "crank")
        links = exact.linkages
        # without a word in the file the link that drives better is the crank
        links, verdict = (
            (links, check(links, file.task)) if driver else better_driven(links, file.task)
        )
    title = (
        f"{file.name}: {exact.family}, {exact.roots} of {exact.expected} roots, {len(exact)} real"
    )
    return _answer(title, file, links, verdict, {}, out, pick)


def fit(
    task: TaskPath,
    topology: Annotated[
        str | None,
        typer.Option(
            help='"four-bar", "Stephenson III", "Watt I"; left out: the file\'s, or four-bar.'
        ),
    ] = None,
    starts: Annotated[
        int | None, typer.Option(help="Random starts; left out: the file's, or 4096.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Same seed, same answer.")] = None,
    out: Out = None,
    pick: Pick = 1,
) -> Answer:
    """The best four-bars or six-bars for more positions, or pairs of a function, than one can meet.

    Example:  linkwork synthesis fit leg.task.yaml --topology "Watt I" --out leg.html
    """
    from linkwork.synthesis import FunctionTask, check, read_task
    from linkwork.synthesis import fit as fitted

    file = read_task(task)
    options = file.options
    count = options.get("starts", 4096) if starts is None else starts
    chosen = options.get("topology", "four-bar") if topology is None else topology
    first = options.get("seed", 0) if seed is None else seed
    if isinstance(file.task, FunctionTask):
        if chosen != "four-bar":
            raise NotPossible(
                "synthesis fit: pairs of a function are fitted by four-bars, topology is "
                f'"{chosen}"'
            )
        return _of_function(file, min(count, 4096), first, out, pick)
    with working("fitting"):
        fits = fitted(
            file.task,
            chosen,
            count,
            first,
            bounds=options.get("bounds"),
            best=options.get("best", 10),
        )
        verdict = check(fits.linkages)
    extra = {"rms [m]": fits.rms, "worst [m]": fits.worst}
    if file.task.oriented.any():
        extra["angle [deg]"] = np.degrees(fits.angle_worst)
    title = f"{file.name}: {len(fits)} optima of {fits.starts} starts, {chosen}"
    return _answer(title, file, fits.linkages, verdict, extra, out, pick)


def _of_function(file: Any, starts: int, seed: int, out: Path | None, pick: int) -> Answer:
    from linkwork.synthesis import check, function_generator

    task = file.task
    with working("fitting"):
        generators = function_generator(
            task.inputs, task.outputs, task.scale, starts, seed, output=task.output
        )
        verdict = check(generators.linkages)
    unit = "m" if task.output == "slider" else "rad"
    met = "every pair met" if generators.exact else "least squares"
    title = f"{file.name}: {len(generators)} linkages for {len(task.inputs)} pairs, {met}"
    return _answer(
        title,
        file,
        generators.linkages,
        verdict,
        {f"rms [{unit}]": generators.rms, f"worst [{unit}]": generators.error},
        out,
        pick,
    )


def search(
    task: TaskPath,
    samples: Annotated[
        int | None, typer.Option(help="Draws; left out: the file's, or 10000.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Same seed, same answer.")] = None,
    out: Out = None,
    pick: Pick = 1,
) -> Answer:
    """Linkages without defects through positions within the tolerances.

    Example:  linkwork synthesis search hatch.task.yaml --samples 100000
    """
    from linkwork.synthesis import read_task
    from linkwork.synthesis import search as searched

    file = _positions(read_task(task), "search")
    count = file.options.get("samples", 10_000) if samples is None else samples
    with working("searching") as tick:
        zone = searched(
            file.task,
            count,
            file.options.get("seed", 0) if seed is None else seed,
            driver=file.options.get("driver", "crank"),
            progress=lambda share: tick(round(100 * share), 100),
        )
    title = f"{file.name}: {zone.samples} draws, {zone.pairs} four-bars judged, {len(zone)} kept"
    return _answer(title, file, zone.linkages, zone.verdict, {}, out, pick)


def check(
    task: TaskPath,
    ground: Annotated[str, typer.Option(help='Ground pivots at position 1, "x y x y" [m].')],
    moving: Annotated[str, typer.Option(help='Moving pivots at position 1, "x y x y" [m].')],
) -> Answer:
    """Judge a four-bar: circuit, branch and order defects, transmission angles.

    Example:  linkwork synthesis check hatch.task.yaml --ground "0 0 0.4 0" --moving "0.1 0.1 0.4
              0.2"
    """
    from linkwork.synthesis import check as judged
    from linkwork.synthesis import four_bar, read_task
    from linkwork.synthesis.linkage import Linkages

    file = _positions(read_task(task), "check")
    fixed, carried = _pivots(ground, "--ground"), _pivots(moving, "--moving")
    linkage = four_bar(
        fixed, carried, file.task.positions[0], driver=file.options.get("driver", "crank")
    )
    many = Linkages(linkage.topology, linkage.points[None])
    return _answer(file.name, file, many, judged(many, file.task), {}, None, 1)


def page(
    task: TaskPath,
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1.")] = 8080,
    background: Annotated[
        Path | None, typer.Option(help="A picture behind the plane, to scale.")
    ] = None,
    picture_width: Annotated[float, typer.Option(help="Width of the picture [m].")] = 1.0,
) -> Answer:
    """Drag positions in the browser; dyads, curves, linkages and verdicts follow.

    Example:  linkwork synthesis page hatch.task.yaml
    """
    from linkwork.synthesis import read_task
    from linkwork.view.synthesis_page import SynthesisPage

    file = _positions(read_task(task), "page")
    shown = SynthesisPage(
        file.task, file.name, port=port, picture=background, picture_width=picture_width
    )
    address = f"http://127.0.0.1:{shown.port}"
    return Answer(
        {"task": file.name, "address": address}, [f"{address}  (Ctrl-C ends it)"], then=shown.wait
    )


def starts(
    family: Annotated[
        str, typer.Argument(help='"triads", "spherical", "ss", or the poses of a mix: 1, 2, 3, 4.')
    ],
    seed: Annotated[int, typer.Option(help="Another seed is another generic member.")] = 1,
    out: Annotated[Path | None, typer.Option(help="An .npz file to write.")] = None,
) -> Answer:
    """Find all start solutions of a family anew by monodromy,
    and compare their number with those that are kept.

    Example:  linkwork synthesis starts 4 --seed 7
    """
    from linkwork.synthesis import bilinear, mixes
    from linkwork.synthesis.four_bars import starts as kept_mixes
    from linkwork.synthesis.triad_system import generic as generic_triad
    from linkwork.synthesis.triad_system import starts as kept_triads
    from linkwork.synthesis.triad_system import system as triad_system

    symmetry: Any = None
    if family == "triads":
        system, generic, kept = triad_system(), generic_triad(seed), kept_triads()
    elif family in ("1", "2", "3", "4"):
        poses = int(family)
        system, generic = mixes.system(poses), mixes.generic(poses, seed)
        symmetry, kept = mixes.symmetry(poses), kept_mixes(poses)
    elif family in bilinear.NAMES.values():
        k = next(k for k, name in bilinear.NAMES.items() if name == family)
        system, generic, kept = bilinear.system(k), bilinear.generic(k, seed), bilinear.starts(k)
    else:
        known = ("triads", "spherical", "ss", "1", "2", "3", "4")
        raise InvalidInput(
            f'synthesis starts: family is "{family}", expected one of {", ".join(known)}'
        )
    with working("monodromy"):
        fresh = system.monodromy(*generic, seed, symmetry)
    if out is not None:
        fresh.save(out)
    facts = {
        "found": len(fresh),
        "kept": len(kept),
        "loops": fresh.loops,
        "idle": fresh.idle,
        "hash": fresh.hash,
    }
    table = Table(f"starts of {family}", ("what", "value"), [(k, str(v)) for k, v in facts.items()])
    return Answer({"family": family, **facts}, [table], [] if out is None else [out])


def _positions(file: Any, command: str) -> Any:
    """The same file, if it has positions."""
    from linkwork.synthesis import PlanarTask

    if not isinstance(file.task, PlanarTask):
        raise NotPossible(
            f"synthesis {command}: the task has pairs of a function, expected positions; see "
            "solve, fit"
        )
    return file


def _pivots(text: str, name: str) -> np.ndarray:
    try:
        values = [float(x) for x in text.replace(",", " ").split()]
    except ValueError:
        values = []
    if len(values) != 4:
        raise InvalidInput(f'synthesis check: {name} is "{text}", expected four numbers "x y x y"')
    return np.array([complex(values[0], values[1]), complex(values[2], values[3])])


def _answer(
    title: str, file: Any, links: Any, verdict: Any, extra: dict, out: Any, pick: int
) -> Answer:
    """Linkages in the order of their verdicts; the one that is picked is written where --out
    says."""
    degrees = np.degrees(verdict.transmission_min)
    rank = np.lexsort((-degrees, ~verdict.good)) if not extra else np.arange(len(degrees))
    fixed = links.topology.bodies[links.topology.ground]
    pins = [point for point, *_ in links.topology.pins]
    place = lambda k, name: links.points[k, links.names.index(name)]
    pair = lambda z: [float(z.real), float(z.imag)]
    linkages = [
        {
            "topology": links.topology.name,
            "points": {name: pair(place(k, name)) for name in links.names},
            "ground": [pair(place(k, name)) for name in fixed],
            "moving": [pair(place(k, name)) for name in pins if name not in fixed],
            "tracer": pair(links.tracer[k]),
            "kind": str(verdict.kind[k]),
            "defect": str(verdict.reasons[k]),
            "transmission_min_deg": float(degrees[k]),
            "rotates": bool(verdict.rotates[k]),
            **{name.split(" ")[0]: float(x[k]) for name, x in extra.items()},
        }
        for k in rank
    ]
    # in tables every pin by its name; of six-bars and larger ones only the ground
    shown = pins if len(pins) <= 4 else [name for name in fixed if name in pins]
    label = lambda name: f"{'ground' if name in fixed else 'moving'} {name}"
    angle = "transmission, whole circuit [deg]" if extra else "transmission [deg]"
    header = ("#", *(label(name) for name in shown), "kind", angle, *extra, "defect")
    text = lambda p: f"{p.real:.5g} {p.imag:.5g}"
    rows = [
        (
            n + 1,
            *(text(place(k, name)) for name in shown),
            str(verdict.kind[k]),
            float(degrees[k]),
            *(float(x[k]) for x in extra.values()),
            str(verdict.reasons[k]),
        )
        for n, k in enumerate(rank)
    ]
    if out is not None:
        if out.suffix == ".html":
            from linkwork.view.synthesis_report import write_synthesis_report

            write_synthesis_report(
                out, title, file.task, links, verdict, header, rows[:REPORTED], rank
            )
        else:
            if not 1 <= pick <= len(rank):
                raise NotPossible(f"synthesis: --pick is {pick}, there are {len(rank)} linkages")
            _write(out, file, links.one(int(rank[pick - 1])))
    table = Table(title + (f", {SHOWN} shown" if len(rank) > SHOWN else ""), header, rows[:SHOWN])
    facts = {"task": file.name, "title": title, "linkages": linkages}
    return Answer(facts, [table], [] if out is None else [out])


def _write(out: Path, file: Any, linkage: Any) -> None:
    from linkwork.synthesis import PlanarTask, plates, save_picture

    task = file.task if isinstance(file.task, PlanarTask) else None
    if out.suffix == ".png":
        save_picture(out, linkage, task)
    elif out.suffix in (".dxf", ".svg"):
        size = float(linkage.size)
        width, hole = file.options.get("width", 0.05 * size), file.options.get("hole", 0.02 * size)
        plates(linkage, width, hole).save(out)
    else:
        loops = "open" if out.suffix == ".urdf" else "closed"
        lw.save(lw.Robot.from_linkage(linkage, task), out, loops=loops)

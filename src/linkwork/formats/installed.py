"""Installed descriptions: files of the package robot_descriptions that are already on this disk.

Importing one of its modules clones a repository when it is missing. So nothing is imported: the
module's text is read and its few constants are followed, with the local clone in the place of the
call that would fetch it.
"""

from __future__ import annotations

import ast
import importlib.util
import os
from pathlib import Path

_ENDING = "_description"


def installed_names() -> list[str]:
    """Names that the package knows, with a clone on this disk or not;
    empty where it is not installed."""
    folder = _package()
    if folder is None:
        return []
    return sorted(path.stem.removesuffix(_ENDING) for path in folder.glob(f"[!_]*{_ENDING}.py"))


def installed_file(name: str) -> Path | None:
    """The URDF or MJCF file of an installed description, None where there is none on this disk."""
    folder = _package()
    if folder is None or not name.isidentifier():
        return None
    module = folder / f"{name.removesuffix(_ENDING)}{_ENDING}.py"
    if not module.is_file():
        return None
    constants = _constants(module, _cache_paths(folder))
    for key in ("URDF_PATH", "MJCF_PATH"):
        path = constants.get(key)
        if path is not None and Path(path).is_file():
            return Path(path)
    return None


def _package() -> Path | None:
    try:
        spec = importlib.util.find_spec("robot_descriptions")
    except (ImportError, ValueError):
        return None
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def _cache_paths(folder: Path) -> dict[str, str]:
    """Repository name -> folder of its clone inside the cache, from the table in
    _repositories.py."""
    paths: dict[str, str] = {}
    for node in ast.walk(_parsed(folder / "_repositories.py")):
        if not isinstance(node, ast.Dict):
            continue
        for key, value in zip(node.keys, node.values):
            if isinstance(key, ast.Constant) and isinstance(value, ast.Call):
                words = {
                    k.arg: k.value.value
                    for k in value.keywords
                    if isinstance(k.value, ast.Constant)
                }
                if isinstance(words.get("cache_path"), str):
                    paths[str(key.value)] = str(words["cache_path"])
    return paths


def _constants(module: Path, cache_paths: dict[str, str]) -> dict[str, str]:
    """The module's constants that are strings, joined paths, or a local clone."""
    known: dict[str, str] = {}
    for node in _parsed(module).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        text = None if value is None else _text(value, known, cache_paths)
        if text is not None and len(targets) == 1 and isinstance(targets[0], ast.Name):
            known[targets[0].id] = text
    return known


def _text(node: ast.expr, known: dict[str, str], cache_paths: dict[str, str]) -> str | None:
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.Name(id=name):
            return known.get(name)
        case ast.Call(func=ast.Attribute(attr="join"), args=arguments):
            parts = [_text(each, known, cache_paths) for each in arguments]
            return (
                None
                if None in parts
                else os.path.join(*[part for part in parts if part is not None])
            )
        case ast.Call(func=ast.Name(id="_clone_to_cache"), args=[ast.Constant(value=name), *_]):
            cache = os.path.expanduser(
                os.environ.get("ROBOT_DESCRIPTIONS_CACHE", "~/.cache/robot_descriptions")
            )
            clone = os.path.join(cache, cache_paths.get(str(name), ""))
            return clone if name in cache_paths and os.path.isdir(clone) else None
    return None


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return ast.Module(body=[], type_ignores=[])

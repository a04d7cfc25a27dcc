"""Pages: the viewer in a real browser, as a person uses it: clicks, numbers, drags,
and pictures of what is drawn."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--no-first-run",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
]
ARTEFACTS = Path(__file__).parents[2] / "out" / "viewer"
FRAMES = 2500
"""Frames that the page draws until something that does not happen is given up:
250 are many on a free machine."""
HUNG = 600.0
"""Seconds without a single frame until a browser is given up."""
A_FRAME = "() => new Promise(drawn => requestAnimationFrame(() => drawn(true)))"
TRIES = 8
"""Drags until one that moves nothing is given up: a slow page may see the mouse too late,
and turns its camera."""
NO_NOTES = ".mantine-Notifications-root { display: none !important; }"
"""Without what viser lays over the scene, such as its word that rendering in software is slow."""


def launched(playwright: Any) -> Any:
    """A browser that draws in software; limits of time are there to end what hangs."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=1000 * HUNG)


class ViewerPage:
    """One page on one viewer."""

    def __init__(self, browser: Any, viewer: Any, size: tuple[int, int] = (900, 540)) -> None:
        self.viewer = viewer
        self.page = browser.new_page(viewport={"width": size[0], "height": size[1]})
        self.page.set_default_timeout(1000 * HUNG)
        self.errors: list[str] = []
        self.page.on("console", lambda m: self._note(m.text) if m.type == "error" else None)
        self.outside: list[str] = []
        self.page.on("request", lambda request: self._ask(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        # as many pixels on a slow machine: a page draws fewer by itself to keep up
        self.page.goto(f"{viewer.address}/?fixedDpr=1")
        self.page.add_style_tag(content=NO_NOTES)
        self.until(lambda: bool(viewer.server.get_clients()), "the page did not connect")

    def _ask(self, address: str) -> None:
        """Whatever the page asks of another place than this viewer: it must work without a
        network."""
        if not address.startswith(
            (self.viewer.address, self.viewer.address.replace("http", "ws"), "data:", "blob:")
        ):
            self.outside.append(address)

    def _note(self, text: str) -> None:
        """viser's page may still draw a control when its removal and a last value arrive together:
        no fault of ours."""
        if "non-existent component" not in text:
            self.errors.append(text)

    def until(self, holds: Callable[[], bool], otherwise: str, frames: int = FRAMES) -> None:
        """Wait until something holds, and until the change that made it hold is done with the rest
        of the scene."""
        if not self.holds_within(holds, frames):
            self._shoot("failed")
            raise AssertionError(
                f"{otherwise}; console: {self.errors}; {ARTEFACTS / 'failed.png'} shows the page"
            )
        with self.viewer.lock:
            pass

    def holds_within(self, holds: Callable[[], bool], frames: int) -> bool:
        """Whether something comes to hold while the page draws some frames."""
        for _ in range(frames):
            if holds():
                return True
            self.page.wait_for_timeout(40)
            self.page.wait_for_function(A_FRAME)
        return holds()

    def there(self, element: Any, what: str) -> Any:
        """An element once the page shows it: one that never comes is missed after FRAMES,
        not after HUNG."""
        self.until(lambda: element.count() > 0, f"{what} is not on the page")
        return element

    def draw(self, frames: int) -> None:
        """Wait until the page has drawn some frames, however slow they come."""
        for _ in range(frames):
            self.page.wait_for_timeout(20)
            self.page.wait_for_function(A_FRAME)

    def picture(self) -> np.ndarray:
        """(height, width, 3) of the scene alone, 0 .. 1."""
        import matplotlib.image

        png = self.page.screenshot(clip=self._canvas())
        return matplotlib.image.imread(io.BytesIO(png), format="png")[..., :3]

    def sees(self, shows: Callable[[np.ndarray], bool], otherwise: str) -> np.ndarray:
        """The first picture that shows something; a page that never does fails."""
        found: list[np.ndarray] = []

        def look() -> bool:
            found[:] = [self.picture()]
            return shows(found[0])

        self.until(look, otherwise, FRAMES // 4)  # a picture takes as long as some frames
        return found[0]

    def settle(self) -> None:
        """Wait until the browser's camera is where the viewer put it:
        until then it still tells where it was."""
        (client,) = self.viewer.server.get_clients().values()
        wanted = np.array(self.viewer.server.initial_camera.look_at)
        still, before = 0, np.zeros(3)

        def holds() -> bool:
            nonlocal still, before
            place, before = before, np.array(client.camera.position)
            there = np.allclose(client.camera.look_at, wanted, atol=1e-4) and np.array_equal(
                place, before
            )
            still = still + 1 if there else 0
            return still > 5

        self.until(holds, "the camera did not turn to the robot")

    def keep(self, name: str) -> None:
        """Keep a picture of the whole page as an artefact."""
        self._shoot(name)

    def _shoot(self, name: str) -> None:
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(ARTEFACTS / f"{name}.png"))

    def projected(self, point: np.ndarray) -> tuple[int, int]:
        """(row, column) of a world point in the picture, by a pinhole camera."""
        (client,) = self.viewer.server.get_clients().values()
        camera, box = client.camera, self._canvas()
        forward = np.array(camera.look_at) - np.array(camera.position)
        forward /= np.linalg.norm(forward)
        right = np.cross(forward, np.array(camera.up_direction))
        right /= np.linalg.norm(right)
        down = np.cross(forward, right)
        p = point - np.array(camera.position)
        scale = 0.5 * box["height"] / np.tan(camera.fov / 2) / (p @ forward)
        return round(box["height"] / 2 + scale * (p @ down)), round(
            box["width"] / 2 + scale * (p @ right)
        )

    def on_screen(self, point: np.ndarray) -> tuple[float, float]:
        """(x, y) of a world point on the page, for the mouse."""
        row, column = self.projected(point)
        box = self._canvas()
        return box["x"] + column, box["y"] + row

    def open(self, folder: str) -> None:
        """Unfold a folder of the shown tab."""
        header = self.there(
            self.page.locator("div[style*='cursor: pointer']:visible", has_text=folder), folder
        ).first
        inside = header.locator("xpath=following-sibling::div").first
        if inside.get_attribute("aria-hidden") == "true":
            header.click()
            self.until(
                lambda: inside.get_attribute("aria-hidden") != "true", f"{folder} does not unfold"
            )
            self.draw(10)  # it opens slowly, and what is below it moves

    def type_number(self, label: str, value: float) -> None:
        """Type into the number beside a slider."""
        row = self._label(label).locator(
            "xpath=ancestor::div[contains(@class, 'mantine-Flex-root')][1]"
        )
        field = row.locator("input.mantine-NumberInput-input")
        field.fill(f"{value:.6g}")
        field.press("Enter")

    def slide(self, label: str, keys: int) -> None:
        """Move a slider's thumb by arrow keys."""
        row = self._label(label).locator(
            "xpath=ancestor::div[contains(@class, 'mantine-Flex-root')][1]"
        )
        row.get_by_role("slider").focus()
        for _ in range(abs(keys)):
            self.page.keyboard.press("ArrowRight" if keys > 0 else "ArrowLeft")

    def tick(self, label: str) -> None:
        """Click a checkbox."""
        self.page.locator(f"[id='{self._label(label).get_attribute('for')}']").click()

    def choose(self, label: str, option: str) -> None:
        """Pick from a dropdown."""
        self.page.locator(f"[id='{self._label(label).get_attribute('for')}']").click()
        self.there(self.page.get_by_role("option", name=option, exact=True), option).click()

    def press(self, button: str) -> None:
        buttons = self.page.get_by_role("button", name=button, exact=True).locator("visible=true")
        self.there(buttons, f"button {button}").first.click()

    def drag_until(
        self, way: Callable[[int], tuple[Any, Any]], holds: Callable[[], bool], otherwise: str
    ) -> None:
        """Drag with the mouse until something holds; try -> where a drag starts and ends,
        on the page as it is then."""
        for turn in range(TRIES):
            self._drag(*way(turn))
            if self.holds_within(holds, 40 * (turn + 1)):
                break
        self.until(holds, otherwise, 40)

    def _drag(self, start: Any, end: Any) -> None:
        mouse, start, end = (
            self.page.mouse,
            np.asarray(start, dtype=float),
            np.asarray(end, dtype=float),
        )
        mouse.move(*start.tolist())
        self.draw(3)
        mouse.down()
        self.draw(2)
        for k in range(1, 9):
            mouse.move(*(start + (end - start) * k / 8).tolist())
            self.draw(2)
        mouse.up()

    def _label(self, text: str) -> Any:
        return self.there(
            self.page.locator("label", has_text=text).locator("visible=true"), text
        ).first

    def _canvas(self) -> dict[str, float]:
        box = self.page.locator("canvas").first.bounding_box()
        assert box is not None
        return dict(box)


def bluish(image: np.ndarray) -> np.ndarray:
    """Pixels of the bodies' dark blue."""
    return (image[..., 2] > image[..., 0] + 0.08) & (image[..., 0] < 0.45)


def is_drawn_at(image: np.ndarray, row: int, column: int, radius: int = 5) -> bool:
    """Whether a body's colour, of housings or of the pale tubes between,
    is within some pixels of a place.

    Tubes are bluer than red by 0.05 to 0.1, the lines and shadows of the ground by less than 0.03.
    """
    coloured = image[..., 2] > image[..., 0] + 0.05
    near = coloured[
        max(0, row - radius) : row + radius + 1, max(0, column - radius) : column + radius + 1
    ]
    return bool(near.any())


def drawn_pose(scene: Any, body: str) -> np.ndarray:
    """T_robot_body (4, 4) as the nodes of a scene have it, composed from body to body."""
    from linkwork.view.postures import matrix

    carriers = {joint.child: joint.parent for joint in scene.robot.model.joints}
    T, at = np.eye(4), body
    while at is not None:
        step = np.eye(4)
        step[:3, :3], step[:3, 3] = matrix(scene.frames[at].wxyz), scene.frames[at].position
        T, at = step @ T, carriers.get(at)
    return T

"""The duty of a motor in its torque-speed plane: what it may do, and what it does."""

from __future__ import annotations

import io

import numpy as np

from linkwork.errors import NotPossible
from linkwork.studies.sizing import Cycle, Option, motor_side, thermal_torque


def duty_picture(name: str, kind: str, option: Option, cycle: Cycle) -> bytes:
    """A PNG: the curve of a motor, its continuous torque, and the cycle with its rms point."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise NotPossible("picture needs matplotlib: pip install 'linkwork[plots]'") from None
    line = option.actuator
    speed, torque = (np.abs(x) for x in motor_side(line, option.ratio, cycle))
    held = thermal_torque(torque, cycle.lasting, line.thermal_time)
    force = "force [N]" if kind == "linear" and not line.gear_ratios else "torque [N m]"
    rate = "speed [m/s]" if kind == "linear" and not line.gear_ratios else "speed [rad/s]"
    across = np.linspace(0.0, line.speed, 400)
    allowed = line.allowed(across)

    figure = Figure(figsize=(7.0, 4.4), layout="constrained")
    axes = figure.add_subplot()
    axes.fill_between(across, 0.0, allowed, color="#e8eef4", zorder=0)
    axes.plot(
        [*across, line.speed], [*allowed, 0.0], color="#1f3a5f", linewidth=2.0, label="for moments"
    )
    axes.plot(
        [0.0, line.speed], [line.continuous] * 2, color="#66a182", linewidth=1.8, label="for ever"
    )
    axes.plot(
        speed, torque, color="#d1495b", linewidth=1.4, label=f"the cycle, {len(speed)} instants"
    )
    root_mean = float(np.sqrt(np.average(speed**2, weights=cycle.lasting)))
    axes.plot([root_mean], [held], "o", color="#d1495b", markersize=8, label="what heats it")
    axes.set_xlabel(f"{rate} of the {'motor' if line.gear_ratios else 'actuator'}")
    axes.set_ylabel(force)
    axes.set_xlim(0.0, 1.05 * max(line.speed, float(speed.max(initial=0.0))))
    axes.set_ylim(0.0, 1.12 * max(float(allowed.max()), float(torque.max(initial=0.0))))
    shares = (
        f"torque {option.torque:.0%}, heat {option.thermal:.0%}, speed {option.speed:.0%} of "
        "its limits"
    )
    matched = f", inertia ratio {option.inertia_ratio:.1f}" if option.inertia_ratio else ""
    axes.set_title(f"{name}: {option.name}\n{shares}{matched}, margin included", fontsize=10)
    axes.grid(color="#d5dae0", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper right", frameon=False, fontsize=9)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=150)
    return content.getvalue()

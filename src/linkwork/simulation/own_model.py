"""OwnModel: the mechanism that a law computes with, which need not be the one that moves."""

from __future__ import annotations

from typing import Any

from linkwork.engine import keys
from linkwork.errors import InvalidInput
from linkwork.simulation.numeric import NumericPlant
from linkwork.simulation.plant import Plant
from linkwork.simulation.plants import plant_of


class OwnModel:
    """Another robot or System with the same coordinates: other masses, no payload, no spring.

    Its equations are constants of the compiled loop; a law asks for `instead_of(plant)`, over
    symbols or numbers.
    """

    def __init__(self, mechanism: Any, plant: Plant, who: str) -> None:
        self.plant = plant_of(mechanism)
        if (self.plant.nq, self.plant.v_names) != (plant.nq, plant.v_names):
            raise InvalidInput(
                f"{who}: model is {self.plant.who} with the coordinates "
                f"{', '.join(self.plant.v_names)}, expected "
                f"those of {plant.who}: {', '.join(plant.v_names)}"
            )
        self._numeric: NumericPlant | None = None

    def decided_by(self) -> tuple[str, str]:
        """What decides its equations, for keys of compiled loops."""
        key = self.plant.key
        if key is None:
            raise keys.NoKey(f"{self.plant.who} has no key")
        return key, str(self.plant.identity[1])

    def instead_of(self, plant: Plant) -> Plant:
        if not isinstance(plant, NumericPlant):
            return self.plant
        if self._numeric is None:
            self._numeric = NumericPlant(self.plant)
        return self._numeric


def model_or_plant(model: OwnModel | None, plant: Plant) -> Plant:
    """What a law computes with: its own model, or the mechanism that moves, payloads included."""
    return plant if model is None else model.instead_of(plant)

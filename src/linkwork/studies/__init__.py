"""Design studies: bounds, actuator selection, static balancing, sweeps over live variables."""

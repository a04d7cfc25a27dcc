"""linkwork: kinematics, dynamics, control and design of robots and mechanisms.

A robot is described once; every quantity about it is then one call, for one configuration or for a million.
"""

__version__ = "0.1.0"

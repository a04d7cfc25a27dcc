"""MJCF: MuJoCo's format, reading what MuJoCo reads, writing what its rules allow."""

from linkwork.formats.mjcf.read import read_mjcf, read_mjcf_text
from linkwork.formats.mjcf.write import mjcf_text, write_mjcf

__all__ = ["mjcf_text", "read_mjcf", "read_mjcf_text", "write_mjcf"]

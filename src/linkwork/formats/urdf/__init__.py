"""URDF: reading everything published, writing what the format can hold."""

from linkwork.formats.urdf.read import read_urdf, read_urdf_text
from linkwork.formats.urdf.write import urdf_text, write_urdf

__all__ = ["read_urdf", "read_urdf_text", "urdf_text", "write_urdf"]

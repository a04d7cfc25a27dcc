"""SDF: the <model> of Gazebo's and Drake's files, read."""

from linkwork.formats.sdf.read import read_sdf, read_sdf_text

__all__ = ["read_sdf", "read_sdf_text"]

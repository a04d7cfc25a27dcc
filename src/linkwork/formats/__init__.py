"""Reading and writing of robot descriptions: the only room that knows a file format."""

from linkwork.doors import open_doors
from linkwork.formats.srdf import Semantics, read_srdf, read_srdf_text

__all__ = ["Semantics", "read_srdf", "read_srdf_text"]

open_doors(__name__)

"""What people see: the viewer in the browser, reports, figures."""

from linkwork.view.drawing import draw_columns, draw_motion, draw_robot
from linkwork.view.playback import Playback
from linkwork.view.report import report_html, write_report
from linkwork.view.report_figures import write_figures
from linkwork.view.viewer import Viewer

__all__ = [
    "Playback",
    "Viewer",
    "draw_columns",
    "draw_motion",
    "draw_robot",
    "report_html",
    "write_figures",
    "write_report",
]

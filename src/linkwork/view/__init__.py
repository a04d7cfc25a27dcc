"""What people see: the viewer in the browser, reports, figures."""

from linkwork.doors import open_doors
from linkwork.view.control_report import write_control_report
from linkwork.view.drawing import draw_columns, draw_motion, draw_picture, draw_robot
from linkwork.view.film import record
from linkwork.view.picture import picture, robot_html
from linkwork.view.plan_report import write_plan_report
from linkwork.view.playback import Playback
from linkwork.view.recording import recorded
from linkwork.view.report import report_html, write_report
from linkwork.view.report_figures import write_figures
from linkwork.view.show import Inline, as_html, show
from linkwork.view.viewer import Viewer

__all__ = [
    "Inline",
    "Playback",
    "Viewer",
    "as_html",
    "draw_columns",
    "draw_motion",
    "draw_picture",
    "draw_robot",
    "picture",
    "record",
    "recorded",
    "report_html",
    "robot_html",
    "show",
    "write_control_report",
    "write_figures",
    "write_plan_report",
    "write_report",
]

open_doors(__name__)

"""The report on a model: everything there is to say of it, in one file to hand over.

A model comes in, perhaps with an older version and a float twin; a page with the interactive
picture and every table goes out, or Markdown. Rooms below say what is so; this one puts it in
order.
"""

from .content import ReportContent
from .report import report, write_report

__all__ = ["ReportContent", "report", "write_report"]

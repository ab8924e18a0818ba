"""Structured logs: one JSON object a line, with the time, the level, the message and what came with it."""

from __future__ import annotations

import json
import logging
import sys
import time

USUAL = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        more = {name: value for name, value in vars(record).items() if name not in USUAL}
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"
        entry = {"time": stamp, "level": record.levelname.lower(), "from": record.name, "says": record.getMessage()}
        entry.update(more)
        if record.exc_info:
            entry["trace"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str)


def to_stderr(level: str = "info") -> None:
    """All of ours and the web server's from now on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    others = "info" if level == "debug" else "warning"  # at debug they write every handshake, with its token
    for name, lowest in (("knob_core", level), ("uvicorn", others), ("websockets", others)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(lowest.upper())

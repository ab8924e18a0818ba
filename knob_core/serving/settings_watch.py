"""A settings file of the console that a service follows: its knobs are turned for all when it changes on disk."""

from __future__ import annotations

import logging
from pathlib import Path

from knob_core import files
from knob_core import settings as settings_file
from knob_core.serving.knob_control import KnobControl

log = logging.getLogger(__name__)


def without_folders(error: Exception, path: Path | None = None) -> str:
    """What an error says, for clients: of a file of the server no more than its name."""
    text = str(error)
    if isinstance(error, OSError) and error.errno is not None:
        text = files.CAUSES.get(error.errno) or error.strerror or type(error).__name__
    return text if path is None else text.replace(str(path), path.name)


class SettingsWatch:
    """One file; what is wrong with it stands in `problems` until it is right again."""

    def __init__(self, path: Path, problems: dict[str, str]) -> None:
        self.path, self.problems = path, problems
        self._stamp = self._read_stamp()
        self._gone = f"{path.name} cannot be found any more, the knobs stay"

    def reload_if_edited_since(self, moment: float, knobs: KnobControl) -> None:
        """Turn the knobs, where the file is newer than a Unix time."""
        if self._stamp is not None and self._stamp[0] > moment * 1e9:
            self._stamp = None
            self.reload(knobs)

    def reload(self, knobs: KnobControl) -> bool:
        """Turn the knobs, where the file changed; whether it did. A bad file is reported, and the knobs stay."""
        stamp = self._read_stamp()
        if stamp is None:
            self.problems["settings"] = self._gone
            return False
        if self.problems.get("settings") == self._gone:
            del self.problems["settings"]
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        try:
            knobs.turn(settings_file.as_dict(settings_file.load(self.path)), f"file {self.path.name}")
            self.problems.pop("settings", None)
        except (ValueError, OSError) as error:
            log.error("the settings file was not taken", extra={"cause": str(error)})
            self.problems["settings"] = f"{self.path.name} was not taken: {without_folders(error, self.path)}"
        return True

    def _read_stamp(self) -> tuple[int, int] | None:
        """Time and size."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

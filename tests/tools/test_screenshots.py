"""Which pictures are taken: every page, light and dark, and by name."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from knob_core.assets import ROOT
from tools import screenshots
from tools.screenshots import SHOTS, chosen


def test_every_page_is_in_the_list_light_and_dark() -> None:
    files = {path.stem for path in (ROOT / "app" / "app_pages").glob("*.py")} - {"__init__", "console"}
    wanted = {(page, scheme) for page in (*files, "") for scheme in ("light", "dark")}
    assert {(shot.page, shot.scheme) for shot in SHOTS} == wanted
    assert len({shot.name for shot in SHOTS}) == len(SHOTS)


def test_names_choose() -> None:
    assert chosen([]) == SHOTS
    assert [shot.name for shot in chosen(["console", "results-dark"])] == [
        "console-light",
        "console-dark",
        "console-tablet",
        "results-dark",
    ]
    with pytest.raises(ValueError, match="name is 'nothing', expected the beginning of one of console-light"):
        chosen(["nothing"])


@pytest.mark.parametrize(("arguments", "code"), [(["--help"], 0), (["nothing"], 2)])
def test_the_command_explains_itself_without_a_browser(
    arguments: list[str], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(screenshots, "served", None)  # a picture would call it
    with pytest.raises(SystemExit) as ended:
        screenshots.main(arguments)
    assert ended.value.code == code
    said = capsys.readouterr()
    assert "console-light" in said.out + said.err


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can be asked for this")
def test_a_server_ends_with_the_process_that_started_it_even_if_that_is_killed() -> None:
    code = (
        "import os, time; from tools.screenshots import started;"
        "print(started(['sleep', '600'], dict(os.environ)).pid, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = Path(f"/proc/{int(parent.stdout.readline())}/stat")
    assert child.exists()
    parent.kill()
    parent.wait()
    for _ in range(600):
        if not child.exists() or child.read_text().split(") ")[1][0] == "Z":  # gone, or nobody has collected it yet
            return
        time.sleep(0.1)
    raise AssertionError("the child is still running a minute after its parent was killed")

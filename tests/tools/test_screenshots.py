"""Which pictures are taken: every page, light and dark, and by name."""

from __future__ import annotations

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

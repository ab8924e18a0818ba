"""Who may do what."""

from __future__ import annotations

from pathlib import Path

import pytest

from knob_core.serving import access

LINE = "operator olga 0123456789abcdef"


@pytest.mark.parametrize("text", ["", "\n", "# operator olga 0123456789abcdef\n\n"])
def test_a_named_file_without_a_token_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Else everybody would be operator, and whoever named the file would think otherwise."""
    monkeypatch.delenv(access.VARIABLE, raising=False)
    file = tmp_path / "tokens.txt"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"tokens\.txt has no token, expected lines `role name token`"):
        access.load_tokens(file)
    file.write_text(f"{text}{LINE}\n")
    assert [caller.name for caller in access.load_tokens(file).values()] == ["olga"]


def test_a_variable_of_comments_alone_is_refused_and_an_empty_one_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(access.VARIABLE, f"# {LINE}; # {LINE}")
    with pytest.raises(ValueError, match="KNOB_SERVE_TOKENS has no token"):
        access.load_tokens(None)
    monkeypatch.setenv(access.VARIABLE, " ")
    assert access.load_tokens(None) == {}

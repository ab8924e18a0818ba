"""Who may do what."""

from __future__ import annotations

from pathlib import Path

import pytest

from knob_core.serving import access, assembly, options

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


def rules(**given: list[str]) -> access.Access:
    return assembly.access_of(options.from_table(given))


@pytest.mark.parametrize(
    ("allowed", "sent"),
    [
        ("MyHost.Local", "MyHost.Local:8600"),
        ("myhost.local.", "MYHOST.local"),
        ("10.0.0.7", "10.0.0.7:8600"),
        ("FE80::1", "[fe80::1]:8600"),
        ("[fe80::1]", "[FE80::1]"),
        ("*", "any.where"),
    ],
)
def test_an_allowed_host_is_answered_however_it_is_written(allowed: str, sent: str) -> None:
    assert rules(allow_host=[allowed]).host_problem(sent) is None
    if allowed != "*":
        assert rules(allow_host=[allowed]).host_problem("elsewhere.example") is not None


@pytest.mark.parametrize(
    ("allowed", "sent"),
    [
        ("https://Page.example/", "https://page.example"),
        ("https://page.example:8443", "https://page.example:8443"),
        ("null", "null"),
        ("*", "https://any.where"),
    ],
)
def test_an_allowed_origin_is_answered_however_it_is_written(allowed: str, sent: str) -> None:
    assert rules(allow_origin=[allowed]).origin_problem(sent, "127.0.0.1") is None
    if allowed != "*":
        assert rules(allow_origin=[allowed]).origin_problem(f"{sent}.evil", "127.0.0.1") is not None


def test_a_page_of_the_service_itself_is_answered_in_either_case() -> None:
    assert rules().origin_problem("http://myhost.local:8600", "MyHost.Local:8600") is None
    assert rules().origin_problem("http://", "") is not None


@pytest.mark.parametrize("name", ["https://a.example", "a.example/", "a.example:8600", "", "[", "a b@c"])
def test_a_host_that_no_request_can_have_is_refused(name: str) -> None:
    with pytest.raises(
        ValueError, match=r"--allow-host is .*, expected a name or an address without https://, port and"
    ):
        rules(allow_host=[name])


@pytest.mark.parametrize("origin", ["https://a.example/page", "a.example", "https://", "https://[", "https://a?b"])
def test_an_origin_that_no_browser_sends_is_refused(origin: str) -> None:
    with pytest.raises(
        ValueError, match=r"--allow-origin is .*, expected https://NAME or https://NAME:PORT, without a"
    ):
        rules(allow_origin=[origin])

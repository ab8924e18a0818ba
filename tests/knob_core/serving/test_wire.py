"""Over the wire: answers equal `KnobStream` in process, frame by frame, whatever streams, sockets and knobs do."""

from __future__ import annotations

import asyncio
import io
import json
import time
from typing import Any

import numpy as np
import pytest
from PIL import Image
from services import CLASSES, logits, running

from knob_core import wrap
from knob_core.client import AsyncStream, Lost, Service, ServiceError, Stream
from knob_core.runtime import KnobStream
from knob_core.serving.access import Access, Caller
from knob_core.serving.engine import Engine, Limits
from knob_core.serving.knob_control import KnobControl
from knob_core.settings import Settings, to_toml

FIELDS = ("label", "p_max", "g", "u", "u_star", "missing", "age", "zeta", "omega_n")


def check(frames: list[tuple[Any, float | None]], answers: list[Any], knobs: KnobControl, id: str, group: str) -> None:
    """The answers are those of a KnobStream whose knobs stood where each answer says."""
    reference = None
    assert [answer["frame"] for answer in answers] == list(range(1, len(frames) + 1))
    for (frame, elapsed), answer in zip(frames, answers, strict=True):
        table = knobs.at(answer["revision"])
        assert table is not None
        settings = table.acting(id, group)
        reference = reference or KnobStream(wrap.classifier(), settings=settings)
        reference.settings = settings
        wanted = reference.step(frame, elapsed=elapsed)
        for name in FIELDS:
            assert answer[name] == getattr(wanted, name), (id, answer["frame"], name)
        assert answer["probabilities"] == wanted.probabilities.tolist()


def test_fifty_streams_with_knobs_turned_and_sockets_that_break() -> None:
    """Streams join and leave; sockets are cut in the middle of frames; another client turns knobs all the while."""
    rng = np.random.default_rng(0)

    async def camera(service: Any, k: int) -> tuple[str, str, list[Any], list[Any], AsyncStream]:
        draw = np.random.default_rng(100 + k)
        id, group = f"cam-{k}", ("north", "south", "")[k % 3]
        await asyncio.sleep(draw.uniform(0, 0.5))  # they join when they like
        stream = AsyncStream(service.url, id, group=group, probabilities=True)
        frames: list[Any] = []
        answers: list[Any] = []
        for part in range(4):
            batch = [(logits(draw), float(draw.choice([1, 1, 2, 3.5])) if part == 3 else None) for _ in range(8)]
            frames += batch
            if part == 1:  # a socket that breaks with frames on their way
                for frame, elapsed in batch[:4]:
                    await stream.send(frame, elapsed=elapsed)
                stream._socket.transport.abort()
                answers += [await stream.reply() for _ in range(4)]
                batch = batch[4:]
            for frame, elapsed in batch:
                answers.append(await stream.step(frame, elapsed=elapsed))
            if part == 2:
                await stream.close()  # goes away for a while
                await asyncio.sleep(draw.uniform(0, 0.2))
        await (stream.leave() if k % 5 == 0 else stream.close())
        return id, group, frames, answers, stream

    async def turner(service: Any, done: asyncio.Event) -> None:
        client = Service(service.url)
        while not done.is_set():
            knobs = {"zeta": float(rng.uniform(0.1, 3)), "omega_n": float(rng.uniform(0.05, 2))}
            scope = ({}, {"group": "north"}, {"stream": "cam-7"})[int(rng.integers(3))]
            if rng.random() < 0.2:
                knobs = {"memory": str(rng.choice(["plain", "attentive", "off"]))}
            await asyncio.to_thread(client.turn, **knobs, **scope)
            await asyncio.sleep(0.01)

    async def scene(service: Any) -> list[Any]:
        done = asyncio.Event()
        turning = asyncio.create_task(turner(service, done))
        cameras = await asyncio.gather(*(camera(service, k) for k in range(50)))
        done.set()
        await turning
        return cameras

    engine = Engine(wrap.classifier(), limits=Limits(queue=8), name="logits")
    with running(engine) as service:
        cameras = asyncio.run(scene(service))
        listed = {info["stream"] for info in Service(service.url).streams()}
    assert engine.knobs.table.revision > 10
    for k, (id, group, frames, answers, _) in enumerate(cameras):
        check(frames, answers, engine.knobs, id, group)
        assert (id in listed) == (k % 5 != 0)


def picture(rng: np.random.Generator, kind: str = "PNG", size: tuple[int, int] = (40, 50)) -> tuple[bytes, np.ndarray]:
    """A file, and its pixels as they are decoded."""
    file = io.BytesIO()
    Image.fromarray(rng.integers(0, 256, (*size, 3), dtype=np.uint8)).save(file, kind)
    return file.getvalue(), np.asarray(Image.open(io.BytesIO(file.getvalue())).convert("RGB"))


def test_pictures_of_all_kinds_over_sockets_and_http() -> None:
    from knob_core.serving import models

    rng = np.random.default_rng(1)
    model = models.load("knob-ode-s0", "cpu")
    engine = Engine(model.source, limits=Limits(), name=model.name, classes=model.classes)
    reference = KnobStream("knob-ode-s0", device="cpu")
    with running(engine) as service, Stream(service.url, "cam", probabilities=True) as stream:
        given: list[tuple[Any, Any]] = [picture(rng, kind) for kind in ("PNG", "JPEG", "WEBP")]
        given += [(pixels, pixels) for _, pixels in [picture(rng, size=(32, 32)), picture(rng, size=(200, 90))]]
        given += [(None, None)]
        for sent, pixels in given:
            answer, wanted = stream.step(sent), reference.step(pixels)
            assert answer["label"] == wanted.label and answer["name"] == model.classes[wanted.label]  # type: ignore[index]
            assert np.allclose(answer["probabilities"], wanted.probabilities, rtol=0, atol=1e-6)
            assert answer["missing"] == (sent is None)
        client = Service(service.url)
        assert Image.open(io.BytesIO(client.picture("cam"))).size == (23, 50)  # every fourth pixel of 90 x 200
        one = client.step("single", given[0][0], probabilities=True)
        fresh = KnobStream("knob-ode-s0", device="cpu")
        assert np.allclose(one["probabilities"], fresh.step(given[0][1]).probabilities, rtol=0, atol=1e-6)  # type: ignore[typeddict-item]
        detail = client.stream("cam")
        assert detail["frames"] == 6 and len(detail["history"]["g"]) == 6 and detail["picture"]
        assert client.stream("cam", since=4)["history"]["frame"] == [5, 6]


def test_frames_of_many_streams_at_once_keep_each_streams_order() -> None:
    rng = np.random.default_rng(2)
    with running() as service:
        client = Service(service.url)
        frames = [{"stream": f"s{k % 3}", "logits": logits(rng).tolist(), "probabilities": True} for k in range(9)]
        bad: list[Any] = [{"stream": "s0", "logits": "x"}, {"stream": "s/0", "logits": [1, 2]}, 7, {"stream": "s0"}]
        for entry in bad:  # and nothing of such a request is stepped
            with pytest.raises(ServiceError, match=r"[Ee]xpected") as wrong:
                client.step_many([*frames, entry])
            assert wrong.value.status == 400
        few = {"stream": "s0", "logits": [1.0, 2.0]}
        pictures = {"stream": "s1", "picture": "AAAA"}
        answers: list[Any] = [*client.step_many(frames), *client.step_many([few, pictures])]
        for k in range(3):
            reference = KnobStream(wrap.classifier())
            for frame, answer in zip(frames[k::3], answers[k:9:3], strict=True):
                wanted = reference.step(np.array(frame["logits"]))
                assert answer["probabilities"] == wanted.probabilities.tolist()
        assert [(answer["type"], answer["code"]) for answer in answers[9:]] == [("refused", "bad_frame")] * 2


def test_sync_client_goes_on_by_itself_and_run_keeps_the_order() -> None:
    rng = np.random.default_rng(3)
    frames = [logits(rng) for _ in range(40)]
    with running() as service:
        stream = Stream(service.url, "a", probabilities=True)
        answers: list[Any] = []
        for k, reply in enumerate(stream.run(frames)):
            answers.append(reply)
            if k in (5, 20):
                service.cut()
        stream.close()
        check([(frame, None) for frame in frames], answers, service.engine.knobs, "a", "")
        again = Stream(service.url, "a", probabilities=True)  # another process later: numbers go on
        assert again.step(frames[0])["frame"] == 41
        service.cut()
        again.leave()  # over a connection of its own
        assert Service(service.url).streams() == [] or Service(service.url).streams()[0]["stream"] != "a"


def test_answers_that_arrived_before_a_break_are_not_lost() -> None:
    rng = np.random.default_rng(4)
    with running() as service, Stream(service.url, "a") as stream:
        for _ in range(3):
            stream.send(logits(rng))
        while Service(service.url).stream("a")["frame"] < 3:
            time.sleep(0.01)
        service.cut()
        assert stream.send(logits(rng)) == 4
        assert [stream.reply()["frame"] for _ in range(4)] == [1, 2, 3, 4]  # type: ignore[typeddict-item]


def test_a_client_whose_stream_another_one_opened_does_not_take_it_back() -> None:
    frame = np.zeros(CLASSES)
    with running() as service:
        first, second = Stream(service.url, "a"), Stream(service.url, "a")
        for stream in (first, second):
            stream.step(frame)
        for _ in range(2):
            with pytest.raises(Lost, match="another client has opened the stream 'a'"):
                first.step(frame)
            assert second.step(frame)["type"] == "answer"

        async def third() -> None:
            async with AsyncStream(service.url, "a") as stream:
                await stream.step(frame)
                other = AsyncStream(service.url, "a")
                await other.step(frame)
                with pytest.raises(Lost, match="another client has opened the stream 'a'"):
                    await stream.step(frame)
                await other.close()

        asyncio.run(third())
        second.close()


def test_no_proxy_is_told_what_goes_to_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token for a local service would travel to whatever the environment names as a proxy."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody answers there
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with running() as service:
        assert Service(service.url).about()["streams"] == 0
        with Stream(service.url, "a", give_up=2.0) as stream:
            assert stream.step(np.zeros(CLASSES, np.float32))["type"] == "answer"


def test_knobs_over_http() -> None:
    with running() as service:
        client = Service(service.url)
        first = client.knobs()
        assert client.turn(zeta=2, omega_n=0.1)["all"]["zeta"] == 2.0
        assert client.turn(group="north", zeta=0.5)["groups"] == {"north": {"zeta": 0.5}}
        assert client.turn(stream="a", memory="off")["streams"] == {"a": {"memory": "off"}}
        with pytest.raises(ServiceError, match="if_revision is 1, but the knobs are at revision 4") as refused:
            client.turn(zeta=1, if_revision=1)
        assert refused.value.status == 409
        reverted = client.revert(first["revision"])
        assert {**reverted, "revision": 1} == first and reverted["revision"] == 5
        assert [line["scope"] for line in client.knob_log()] == ["all", "group north", "stream a", "revert 1"]
        for change, words in (({"zeta": -1}, "zeta is -1"), ({"speed": 1}, "unknown names speed"), ({}, "expected an")):
            with pytest.raises(ServiceError, match=words):
                client.turn(**change)
        client.turn(group="north", zeta=0.5)
        assert client.turn(zeta=1.5, clear=True)["groups"] == {}
        with pytest.raises(ServiceError, match="has no knobs of its own"):
            client.release(group="north")


def test_a_settings_file_of_the_console_is_accepted_and_followed(tmp_path: Any) -> None:
    path = tmp_path / "knob.toml"
    path.write_text(to_toml(Settings(zeta=1.7)))
    with running(settings=path) as service:
        client = Service(service.url)
        assert client.load(path)["all"]["zeta"] == 1.7
        path.write_text(to_toml(Settings(zeta=0.3)) + "\n")
        service.maintenance.tick()
        assert client.knobs()["all"]["zeta"] == 0.3 and client.knob_log()[-1]["by"] == "file knob.toml"
        path.write_text("zeta = 'high'")
        service.maintenance.tick()
        assert client.knobs()["all"]["zeta"] == 0.3 and "was not taken" in client.about()["problems"]["settings"]
        path.write_text(to_toml(Settings(zeta=0.4)))
        service.maintenance.tick()
        assert client.knobs()["all"]["zeta"] == 0.4 and not client.about()["problems"]
        path.rename(tmp_path / "elsewhere.toml")
        service.maintenance.tick()
        assert "knob.toml cannot be found any more" in client.about()["problems"]["settings"]
        client.turn(zeta=0.6)
        (tmp_path / "elsewhere.toml").rename(path)
        service.maintenance.tick()
        assert client.knobs()["all"]["zeta"] == 0.6 and not client.about()["problems"]


TOKENS = {
    "v" * 20: Caller("vera", "viewer"),
    "c" * 20: Caller("cam", "camera"),
    "o" * 20: Caller("olga", "operator"),
}


def test_roles() -> None:
    with running(access=Access(TOKENS)) as service:
        for token, cause in ((None, "a token is needed"), ("x" * 20, "the token is not known")):
            with pytest.raises(ServiceError, match=cause) as refused:
                Service(service.url, token).streams()
            assert refused.value.status == 401
        viewer, camera, operator = (Service(service.url, token) for token in TOKENS)
        assert viewer.about()["role"] == "viewer" and viewer.knobs()["revision"] == 1
        for client in (viewer, camera):
            with pytest.raises(ServiceError, match="this needs operator"):
                client.turn(zeta=1)
        operator.turn(zeta=1)
        assert operator.knob_log()[-1]["by"] == "olga"
        with pytest.raises(Lost, match="vera is viewer, and this needs camera"):
            Stream(service.url, "a", token="v" * 20).step(np.zeros(CLASSES))
        assert Stream(service.url, "a", token="c" * 20).step(np.zeros(CLASSES))["frame"] == 1


def test_without_tokens_a_service_that_others_could_reach_answers_this_machine_only() -> None:
    """On Ray Serve the proxies' address is not ours to choose: then it counts who comes."""
    shut = Access(from_here_only=True)
    assert shut.client_problem("127.0.0.1") is shut.client_problem("::1") is shut.client_problem(None) is None
    assert "192.0.2.7 is another machine" in str(shut.client_problem("192.0.2.7"))
    assert Access().client_problem("192.0.2.7") is None


def test_hosts_and_origins() -> None:
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    with running(access=Access(origins=frozenset(["https://page.example"]))) as service:
        address = service.url.replace("http", "ws") + "/v1/streams/a/socket"
        port = service.url.rsplit(":", 1)[1]
        for origin, good in (
            (f"http://127.0.0.1:{port}", True), ("https://page.example", True), (None, True),
            ("https://evil.example", False), ("null", False), ("http://[", False), ("http://[x]", False),
        ):  # fmt: skip
            if good:
                with connect(address, origin=origin) as socket:
                    assert json.loads(socket.recv())["type"] == "hello"
            else:
                with pytest.raises(InvalidStatus) as refused:
                    connect(address, origin=origin)
                assert refused.value.response.status_code == 403
        from urllib.request import Request, urlopen

        with pytest.raises(Exception, match="403"):
            urlopen(Request(service.url + "/v1/streams", headers={"Host": "evil.example"}))

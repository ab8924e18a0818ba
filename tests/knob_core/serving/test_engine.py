"""The engine without a network: answers are those of a KnobStream for each stream, whatever shares a batch."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from knob_core import wrap
from knob_core.runtime import KnobStream
from knob_core.runtime.sources import Branch, source_of
from knob_core.serving import stepper
from knob_core.serving.backbone import Backbone
from knob_core.serving.engine import Engine, Full, Limits, Refusal
from knob_core.serving.maintenance import Maintenance
from knob_core.serving.messages import REPLACED, RESTART, Frame
from knob_core.serving.served_stream import RECENT, Policy
from knob_core.settings import Settings
from knob_core.wrap.probabilities import ProbabilitiesWarning

K = 10  # sums of 8 numbers and more may be taken in another order
FIELDS = ("label", "p_max", "g", "u", "u_star", "missing", "age", "zeta", "omega_n")


def engine(**more: Any) -> Engine:
    limits = Limits(**{"queue": 64, **more.pop("limits", {})})
    return Engine(wrap.classifier(), more.pop("settings", None), limits, **more)


def logits(rng: np.random.Generator, **more: Any) -> Frame:
    return Frame("logits", rng.normal(0, 3, K), probabilities=True, **more)


class Client:
    """Keeps what its stream was told."""

    def __init__(self, engine: Engine, id: str, group: str = "", policy: Policy | None = None) -> None:
        self.told: list[Any] = []
        self.engine, self.id, self.group, self.policy = engine, id, group, policy
        self.sink = self.told.append
        self.join()

    def join(self, after: int | None = None) -> Any:
        return self.engine.join(self.id, self.group, self.policy, self.sink, after)

    def answers(self) -> list[Any]:
        return [told for told in self.told if told["type"] == "answer"]


def same(answer: dict[str, Any], wanted: Any, exactly: bool = True) -> None:
    for name in FIELDS:
        assert answer[name] == getattr(wanted, name), name
    assert answer["probabilities"] == wanted.probabilities.tolist()


def follow(reference: KnobStream, frame: Frame, settings: Settings) -> Any:
    reference.settings = settings
    return reference.step(frame.content, elapsed=frame.elapsed, time=frame.time)


SOURCES: dict[str, tuple[Callable[[], Any], str, int]] = {
    "one branch": (wrap.classifier, "logits", K),
    "two branches": (wrap.two_branch, "branches", 2 * K + 1),
}


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("slew", [None, 0.1])
def test_every_stream_is_a_knob_stream_of_its_own(kind: str, slew: float | None) -> None:
    """Streams join and leave, frames share batches, knobs are turned for all, for groups and for one."""
    make, name, size = SOURCES[kind]
    rng = np.random.default_rng(0)
    served = Engine(make(), Settings(), Limits(queue=64, max_batch=16), slew=slew)
    clients = {f"s{k}": Client(served, f"s{k}", group="ab"[k % 2]) for k in range(12)}
    sent: dict[str, list[Frame]] = {id: [] for id in clients}
    for round_ in range(60):
        if round_ % 7 == 3:
            changes = {"zeta": float(rng.uniform(0.1, 3)), "omega_n": float(rng.uniform(0.05, 2))}
            served.knobs.turn(changes, "tester", **({}, {"group": "a"}, {"stream": "s3"})[round_ // 7 % 3])
        if round_ in (20, 40):
            served.knobs.turn({"memory": ("plain", "off")[round_ // 20 - 1]}, "tester", group="b")
        if round_ == 30:
            served.forget("s5")
            del clients["s5"], sent["s5"]
            clients["late"] = Client(served, "late", group="b")
            sent["late"] = []
        for id in rng.permutation(sorted(clients)):
            for _ in range(rng.integers(0, 3)):
                elapsed = float(rng.choice([1, 1, 1, 2.5, 7]))
                content = rng.normal(0, 3, size)
                if rng.random() < 0.1:
                    content[0] = np.nan
                frame = Frame(name, content, elapsed=elapsed, probabilities=True)  # type: ignore[arg-type]
                served.submit(id, frame)
                sent[id].append(frame)
        while served.step_waiting():
            pass
    for id, client in clients.items():
        answers = client.answers()
        first = served.knobs.at(answers[0]["revision"])
        assert first is not None
        reference = KnobStream(make(), settings=first.acting(id, client.group), slew=slew)
        assert [answer["frame"] for answer in answers] == list(range(1, len(sent[id]) + 1))
        for frame, answer in zip(sent[id], answers, strict=True):
            table = served.knobs.at(answer["revision"])
            assert table is not None
            reference.settings = table.acting(id, client.group)
            given: Any = frame.content
            if name == "branches":
                given = (given[:K], given[K:-1], given[-1])
                given = tuple(np.asarray(x)[None] for x in given)
                wanted = reference.step(given, elapsed=frame.elapsed)
                for field in FIELDS:
                    assert answer[field] == np.asarray(getattr(wanted, field)).reshape(-1)[0], field
                assert answer["probabilities"] == wanted.probabilities[0].tolist()
            else:
                same(answer, reference.step(given, elapsed=frame.elapsed))


def test_two_frames_of_a_stream_in_one_batch_keep_their_order() -> None:
    rng, served = np.random.default_rng(1), engine()
    one, other = Client(served, "one"), Client(served, "other")
    frames = [logits(rng) for _ in range(5)]
    for frame in frames:
        served.submit("one", frame)
    served.submit("other", logits(rng))
    assert served.step_waiting() == 6 and len(other.answers()) == 1
    reference = KnobStream(wrap.classifier())
    for frame, answer in zip(frames, one.answers(), strict=True):
        same(answer, reference.step(frame.content))


def test_the_newest_frames_win_and_dropped_ones_are_told_and_count_as_elapsed() -> None:
    rng, served = np.random.default_rng(2), engine(limits={"queue": 2})
    client = Client(served, "a")
    frames = [logits(rng) for _ in range(5)]
    for frame in frames:
        served.submit("a", frame)
    served.step_waiting()
    dropped = [number for told in client.told if told["type"] == "dropped" for number in told["frames"]]
    assert dropped == [1, 2, 3] and [answer["frame"] for answer in client.answers()] == [4, 5]
    assert served.listing()[0]["dropped"] == 3
    served.submit("a", logits(rng))
    for frame in (more := [logits(rng) for _ in range(3)]):
        served.submit("a", frame)
    served.step_waiting()
    reference = KnobStream(wrap.classifier())
    reference.step(frames[3].content)
    reference.step(frames[4].content)
    same(client.answers()[2], reference.step(more[1].content, elapsed=3))  # two were dropped before it


def test_a_stream_that_refuses_keeps_its_frames() -> None:
    rng, served = np.random.default_rng(3), engine(limits={"queue": 2})
    client = Client(served, "a", policy="refuse")
    served.submit("a", logits(rng))
    served.submit("a", logits(rng))
    with pytest.raises(Refusal, match="2 frames of this stream wait already"):
        served.submit("a", logits(rng))
    served.step_waiting()
    assert [answer["frame"] for answer in client.answers()] == [1, 2]
    assert served.listing()[0]["refused"] == 1


def test_a_socket_that_comes_back_goes_on_and_gets_the_answers_it_missed() -> None:
    rng, served = np.random.default_rng(4), engine()
    client = Client(served, "a")
    frames = [logits(rng) for _ in range(6)]
    for frame in frames[:3]:
        served.submit("a", frame)
    served.step_waiting()
    served.submit("a", frames[3])  # waits while the socket drops, so it is lost; the client sends it again
    served.part("a", client.sink)
    assert not served.step_waiting()
    heard = len(client.told)
    hello = client.join(after=1)
    assert (hello["frame"], hello["resumed"]) == (3, "memory")
    assert [told["frame"] for told in client.told[heard + 1 :]] == [2, 3]
    for frame in frames[3:]:
        served.submit("a", frame)
    served.step_waiting()
    reference = KnobStream(wrap.classifier())
    wanted = [reference.step(frame.content) for frame in frames]
    for answer, known in zip(client.answers()[-3:], wanted[3:], strict=True):
        same(answer, known)


def test_hello_comes_first_also_where_a_batch_ends_while_a_socket_joins() -> None:
    served, rng = engine(), np.random.default_rng(0)
    first, second = Client(served, "a"), Client(served, "b")
    served.submit("a", logits(rng))
    served.step_waiting()  # what the first step compiles would take longer than the batch is waited for
    served.submit("a", logits(rng))
    items = served._gather(0)  # the frame is in a batch
    served.part("a", first.sink)
    batch = threading.Thread(target=lambda: (setattr(served, "_gather", lambda wait: items), served.step_waiting()))

    def deliver(replies: Any) -> None:
        if threading.current_thread() is not batch:  # the socket's thread is held up, and the batch ends
            batch.start()
            batch.join(0.2)
        for sink, reply in replies:
            sink(reply)

    served.deliver = deliver
    served.join("a", sink=second.sink)
    batch.join()
    assert [told["type"] for told in second.told[1:]] == ["hello", "answer"]


def test_a_second_socket_replaces_the_first_and_the_first_cannot_close_it() -> None:
    served = engine()
    first, second = Client(served, "a"), Client(served, "a")
    assert first.told[-1]["type"] == "closing" and "another socket" in first.told[-1]["cause"]
    served.part("a", first.sink)
    served.submit("a", logits(np.random.default_rng(0)))
    served.step_waiting()
    assert len(second.answers()) == 1 and not first.answers()


def test_a_closing_message_says_the_close_code() -> None:
    served = engine()
    replaced, ended, stopped = Client(served, "a"), Client(served, "b"), Client(served, "c")
    Client(served, "a")
    served.forget("b", "another socket is not the cause")
    served.say_goodbye("the service stops")
    codes = [client.told[-1]["code"] for client in (replaced, ended, stopped)]
    assert codes == [REPLACED, RESTART, RESTART]


def test_capacity_idle_and_grace() -> None:
    served = engine(limits={"capacity": 2, "grace": 10, "idle": 100})
    first, _ = Client(served, "a"), Client(served, "b")
    with pytest.raises(Full, match="2 streams are open"):
        served.join("c")
    served.submit("a", logits(np.random.default_rng(0)))
    served.step_waiting()
    now = served.streams["a"].seen
    served.part("a", first.sink)
    assert served.expire(now + 9) == []
    assert served.expire(now + 11) == ["a"] and len(served.streams) == 1
    hello = first.join()
    assert (hello["resumed"], hello["frame"]) == ("new", 0)
    assert set(served.expire(now + 200)) == {"a", "b"}


def test_rows_are_used_again_and_start_at_rest() -> None:
    rng, served = np.random.default_rng(5), engine()
    for k in range(300):
        client = Client(served, f"s{k}")
        frame = logits(rng)
        served.submit(client.id, frame)
        served.step_waiting()
        same(client.answers()[0], KnobStream(wrap.classifier()).step(frame.content))
        served.forget(client.id)
    assert served.stepper._rows.state is not None and served.stepper._rows.state.streams == 64


def test_streams_that_leave_without_a_frame_are_not_kept() -> None:
    served = engine()
    for k in range(20):
        Client(served, f"s{k}")
        served.forget(f"s{k}")
    assert served.step_waiting() == 0 and not served._leaving


@pytest.mark.parametrize(
    ("frame", "cause"),
    [
        (Frame("logits", np.zeros(1)), "logits has 1 numbers"),
        (Frame("logits", np.array([1e7, 0])), "numbers above 1e\\+06"),
        (Frame("logits", np.array([1e307, 0, -np.inf])), "numbers above 1e\\+06"),
        (Frame("branches", np.zeros(11)), "does not take branches"),
        (Frame("raw", np.zeros((4, 4, 3), np.uint8)), "takes logits, not pictures"),
    ],
)
def test_what_cannot_be_a_frame_is_refused_at_the_door(frame: Frame, cause: str) -> None:
    served = engine()
    Client(served, "a")
    with pytest.raises(Refusal, match=cause):
        served.submit("a", frame)


def test_a_clock_that_goes_back_is_refused_and_others_go_on() -> None:
    rng, served = np.random.default_rng(6), engine()
    bad, good = Client(served, "bad"), Client(served, "good")
    for at in (10.0, 9.0):
        served.submit("bad", logits(rng, time=at))
        served.submit("good", logits(rng, time=at + 5 * (at == 9.0)))
        served.step_waiting()
    assert [told["type"] for told in bad.told] == ["hello", "answer", "refused"]
    assert "time makes" in bad.told[-1]["cause"] and len(good.answers()) == 2


def test_a_model_that_fails_is_told_and_leaves_the_state() -> None:
    broken = False

    def model(frames: np.ndarray) -> np.ndarray:
        if broken:
            raise RuntimeError("out of memory")
        return np.asarray(frames, np.float64).reshape(len(frames), -1)[:, :K]

    served = Engine(wrap.classifier(model))
    client = Client(served, "a")
    rng = np.random.default_rng(7)
    pictures = [rng.integers(0, 9, (2, 2, 3), dtype=np.uint8) for _ in range(3)]
    for k, picture in enumerate(pictures):
        broken = k == 1
        served.submit("a", Frame("raw", picture, probabilities=True))
        served.step_waiting()
    assert [told["type"] for told in client.told] == ["hello", "answer", "refused", "answer"]
    assert client.told[2]["cause"] == "the model failed: RuntimeError; the service's log says more"
    reference = KnobStream(wrap.classifier(model))
    broken = False
    reference.step(pictures[0])
    same(client.answers()[-1], reference.step(pictures[2]))


def test_frames_that_the_model_refused_count_as_answered_for_a_client_that_comes_back() -> None:
    """It is sent the last replies only: of the others it must learn that they will not come."""

    def model(frames: np.ndarray) -> np.ndarray:
        raise RuntimeError("out of memory")

    served = Engine(wrap.classifier(model))
    client = Client(served, "a")
    for _ in range(RECENT + 4):
        served.submit("a", Frame("raw", np.zeros((2, 2, 3), np.uint8)))
        served.step_waiting()
    hello = client.join(after=0)
    assert hello["again"] == list(range(5, RECENT + 5)) and hello["answered"] == RECENT + 4


def huge_where_white(frames: np.ndarray) -> np.ndarray:
    """A model may give numbers that are finite and too large to compute with."""
    z = np.zeros((len(frames), K))
    z[:, 0] = frames[:, 0, 0, 0] / 255 * 1e308
    z[:, 1] = -z[:, 0]
    return z


def test_a_step_that_fails_is_told_and_streams_with_other_knobs_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails_where_white(old: Any, part: Branch, *rest: Any) -> Any:
        if part.z_static.max() > 100:
            raise ValueError("it is white")
        return advance(old, part, *rest)

    advance = stepper.advance
    monkeypatch.setattr(stepper, "advance", fails_where_white)
    brightness = lambda pictures: pictures.reshape(len(pictures), -1)[:, :K].astype(float)  # noqa: E731
    served = Engine(wrap.classifier(brightness))
    bad, good = Client(served, "bad"), Client(served, "good")
    served.knobs.turn({"memory": "off"}, "tester", stream="good")
    for shade in (0, 255):
        served.submit("bad", Frame("raw", np.full((2, 2, 3), shade, np.uint8)))
        served.submit("good", Frame("raw", np.zeros((2, 2, 3), np.uint8)))
        served.step_waiting()
    assert [told["type"] for told in bad.told] == ["hello", "answer", "refused"]
    assert bad.told[-1]["cause"] == "the step failed: ValueError; the service's log says more"
    assert len(good.answers()) == 2
    served.submit("bad", Frame("raw", np.zeros((2, 2, 3), np.uint8)))
    served.step_waiting()
    assert bad.told[-1]["type"] == "answer"


def test_replies_come_in_the_order_of_the_frames_also_where_a_later_one_is_refused() -> None:
    served = Engine(wrap.classifier(huge_where_white))
    client = Client(served, "a")
    for value in (0, 255):
        served.submit("a", Frame("raw", np.full((2, 2, 3), value, np.uint8)))
    assert served.step_waiting() == 2
    assert [(reply["type"], reply["frame"]) for reply in client.told[-2:]] == [("answer", 1), ("refused", 2)]


def test_where_a_whole_batch_fails_every_frame_of_it_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, served = np.random.default_rng(8), engine()
    clients = [Client(served, id) for id in "ab"]
    for client in clients:
        served.submit(client.id, logits(rng))

    def fails(*_: Any) -> None:
        raise OverflowError("int too large to convert to float")

    with monkeypatch.context() as patched:
        patched.setattr(served.stepper, "step", fails)
        assert served.step_waiting() == 2
    for client in clients:
        assert (client.told[-1]["type"], client.told[-1]["frame"]) == ("refused", 1)
        assert client.told[-1]["cause"] == "the batch failed: OverflowError; the service's log says more"
        served.submit(client.id, logits(rng))
    served.step_waiting()
    assert [client.told[-1]["type"] for client in clients] == ["answer", "answer"]


def test_a_reply_that_cannot_be_delivered_keeps_no_other_from_its_own(caplog: pytest.LogCaptureFixture) -> None:
    rng, served, told = np.random.default_rng(8), engine(), []

    def fails(reply: Any) -> None:
        raise ValueError("Out of range float values are not JSON compliant")

    served.submit("a", logits(rng), fails)
    served.submit("b", logits(rng), told.append)
    assert served.step_waiting() == 2 and len(told) == 1
    assert "a reply was not delivered" in caplog.text and "not JSON compliant" in caplog.text


def test_frames_that_a_client_sends_again_are_not_counted_as_lost_too() -> None:
    rng, served = np.random.default_rng(9), engine(limits={"queue": 2})
    client = Client(served, "a")
    frames = [logits(rng, number=number) for number in range(1, 6)]
    served.submit("a", frames[0])
    served.step_waiting()
    for frame in frames[1:]:  # two of them give way to newer ones
        served.submit("a", frame)
    assert [told["type"] for told in client.told[2:]] == ["dropped", "dropped"]
    assert client.join()["frame"] == 1  # the connection broke: what comes after frame 1 is the client's to say
    client.told.clear()
    served.submit("a", frames[1])
    served.step_waiting()
    reference = KnobStream(wrap.classifier())
    reference.step(frames[0].content)
    same(client.answers()[0], reference.step(frames[1].content))


def test_a_frame_that_is_sent_again_has_one_reply() -> None:
    """Dropped before a break, answered after it: whoever comes back once more is sent the answer only."""
    rng, served = np.random.default_rng(10), engine(limits={"queue": 1})
    client = Client(served, "a")
    for number in (1, 2):
        served.submit("a", logits(rng, number=number))
    assert client.join(after=0)["again"] == []
    served.submit("a", logits(rng, number=1))
    served.step_waiting()
    client.told.clear()
    assert client.join(after=0)["again"] == [1] and client.told[-1]["type"] == "answer"


def test_wrong_order_is_refused() -> None:
    rng, served = np.random.default_rng(8), engine()
    Client(served, "a")
    served.submit("a", logits(rng, number=7))
    with pytest.raises(Refusal, match="number is 7, expected more than 7"):
        served.submit("a", logits(rng, number=7))


@pytest.mark.parametrize("id", ["", "a/b", "x" * 65, "ä", "a b", "a\n"])
def test_ids_are_plain(id: str) -> None:
    with pytest.raises(ValueError, match="expected 1 to 64 of the letters"):
        engine().join(id)


def test_small_pictures_wait_as_bytes_and_share_a_batch_with_shrunk_ones() -> None:
    """A batch of both kinds is one call of the model, with the numbers that each kind has alone."""
    source = source_of("knob-ode-s0", "cpu")
    calls: list[np.ndarray] = []
    backbone = Backbone(source)
    rng = np.random.default_rng(0)
    pictures = [rng.integers(0, 256, size, dtype=np.uint8) for size in ((32, 32, 3), (48, 40, 3), (32, 32, 3))]
    kept = [backbone.prepare(picture) for picture in pictures]
    assert [x.dtype for x in kept] == [np.uint8, np.float32, np.uint8] and {x.shape for x in kept} == {(3, 32, 32)}

    class Counting:
        def __call__(self, frames: np.ndarray) -> Branch:
            calls.append(frames)
            return source(frames)

    backbone.source = Counting()  # type: ignore[assignment]
    branch, causes = backbone([Frame("raw", x) for x in kept])
    assert causes == [None] * 3 and len(calls) == 1 and branch is not None
    for k, picture in enumerate(pictures):
        assert np.allclose(branch.z_dyn[k], source(picture[None]).z_dyn[0], rtol=0, atol=1e-5)


def test_a_frame_that_came_without_a_socket_is_answered_when_a_socket_takes_its_stream() -> None:
    served, told = engine(), []
    served.submit("a", logits(np.random.default_rng(0)), told.append)
    Client(served, "a")
    (answer,) = told
    assert (answer["type"], answer["code"]) == ("refused", "order")
    assert answer["cause"] == "another socket was opened for this stream"
    assert served.step_waiting() == 0


def test_a_frame_that_came_without_a_socket_is_answered_when_its_stream_is_ended() -> None:
    served, told = engine(), []
    served.submit("a", logits(np.random.default_rng(0)), told.append)
    served.forget("a")
    assert [answer["cause"] for answer in told] == ["the stream was ended"]


def test_names_of_groups_that_nobody_turned_take_no_memory() -> None:
    table = engine().knobs.table
    for i in range(100):
        assert table.acting(f"s{i}", f"g{i}") is table.base
    assert not table._acting


def test_a_refused_frame_opens_no_stream_and_moves_none() -> None:
    """Else anybody could give a stream another group's knobs, or fill the capacity, with frames that are not taken."""
    rng, served = np.random.default_rng(3), engine(limits={"capacity": 2})
    Client(served, "a", "doors")
    with pytest.raises(Refusal, match="has an open socket"):
        served.submit("a", logits(rng), lambda reply: None, group="evil")
    assert served.streams["a"].group == "doors"
    for k in range(5):
        with pytest.raises(Refusal, match="expected at most"):
            served.submit(f"bad-{k}", Frame("logits", np.full(K, 1e9)), lambda reply: None)
    assert list(served.streams) == ["a"] and served.refused == 6
    served.submit("b", logits(rng), lambda reply: None, group="doors")
    assert served.streams["b"].group == "doors"
    served.submit("b", logits(rng), lambda reply: None, group="gates")
    assert served.streams["b"].group == "gates"


def spread(rng: np.random.Generator) -> np.ndarray:
    """Probabilities of K classes, one of them .7."""
    p = np.full(K, 0.3 / (K - 1))
    p[rng.integers(K)] = 0.7
    return p


def test_a_client_that_sends_probabilities_as_logits_is_told() -> None:
    rng, served = np.random.default_rng(4), engine()
    told: list[Any] = []
    send = lambda z: served.submit("a", Frame("logits", z), told.append)  # noqa: E731
    for frames in (7, 7):
        for _ in range(frames):
            send(spread(rng))
        send(rng.normal(0, 3, K))  # begins anew
    for _ in range(7):
        send(spread(rng))
    send(np.full(K, np.nan))  # a gap says nothing
    for _ in range(3):
        with pytest.raises(Refusal, match=r"logits look like probabilities.*expected logits") as refused:
            send(spread(rng))
        assert refused.value.code == "bad_frame"
    served.submit("b", Frame("logits", spread(rng)), told.append)  # each stream counts its own
    send(rng.normal(0, 3, K))
    while served.step_waiting():
        pass
    assert len(told) == 7 + 1 + 7 + 1 + 7 + 1 + 1 + 1


def test_a_model_that_gives_probabilities_stands_among_the_problems(caplog: pytest.LogCaptureFixture) -> None:
    """Its frames are answered; a model that gives logits again ends it."""
    rng = np.random.default_rng(5)
    gives = [spread]
    source = wrap.classifier(lambda pictures: np.stack([gives[0](rng) for _ in pictures]))
    served = Engine(source)
    problems: dict[str, str] = {}
    told: list[Any] = []
    kept = Maintenance(served, problems)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProbabilitiesWarning)  # the source's own
        for frames in (7, 3):
            for _ in range(frames):
                served.submit("a", Frame("raw", np.zeros((4, 4, 3), np.uint8)), told.append)
                served.step_waiting()
            kept.tick()
            assert ("model" in problems) == (len(told) >= 8)
    assert "the model's logits look like probabilities" in problems["model"]
    assert [record.getMessage() for record in caplog.records] == [problems["model"]]
    gives[0] = lambda rng: rng.normal(0, 3, K)
    served.submit("a", Frame("raw", np.zeros((4, 4, 3), np.uint8)), told.append)
    served.step_waiting()
    kept.tick()
    assert not problems and all(reply["type"] == "answer" for reply in told)


@pytest.mark.parametrize("branches", [1, 2])
def test_a_frame_of_which_the_model_makes_a_huge_logit_is_refused_alone(branches: int) -> None:
    """It would pass into the stream's state, where a switch may make NaN of it later."""

    def model(pictures: Any) -> Any:
        z = np.tile(np.arange(K, dtype=np.float64), (len(pictures), 1))
        z[:, 3] = np.where(pictures[:, 0, 0, 0] == 1, -2e100, np.where(pictures[:, 0, 0, 0] == 2, -np.inf, 1e100))
        return z if branches == 1 else (np.zeros_like(z), z, np.zeros(len(z)))

    served = Engine(wrap.classifier(model) if branches == 1 else wrap.two_branch(model))
    clients = [Client(served, id) for id in "abc"]
    for k, client in enumerate(clients):
        served.submit(client.id, Frame("raw", np.full((4, 4, 3), k, np.uint8)))
    assert served.step_waiting() == 3
    assert [client.told[-1]["type"] for client in clients] == ["answer", "refused", "answer"]
    assert clients[1].told[-1]["cause"] == "the model gave the logit -2e+100, expected at most 1e+100 in size"
    assert clients[1].told[-1]["code"] == "model"

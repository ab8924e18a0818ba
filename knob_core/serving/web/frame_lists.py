"""`POST /v1/frames`: frames of many streams in one request.

JSON holds the interpreter while it is parsed or written, so how much of it is taken follows from what a client needs:
a batch of 64 camera pictures of 80 KB in base64, or 1000 frames of ten logits; in the answer, a thousand probabilities
for each of 100 frames.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from knob_core.serving import decode
from knob_core.serving.access import Caller
from knob_core.serving.engine import Full, Refusal
from knob_core.serving.messages import Frame, Header, Reply, as_text, checked_header, parsed, require_id
from knob_core.serving.web.guard import body
from knob_core.serving.web.service import INLINE, Service

ANSWER_WITHIN = 30.0  # s
MOST_FRAMES = 1000  # of one request
MOST_COMMAS = 50_000  # of one request: about as many numbers
MOST_BYTES = 128_000_000  # of all large requests that are not answered yet
MOST_PROBABILITIES = 100_000  # of one answer
WRITING = 0.002  # s of writing an answer before others' turn
MOST_LOGITS = 1_000_000  # bytes of a request to a service that takes no pictures
PICTURES = 4  # of the largest size that a request may hold the bytes of
AT_ONCE = 32  # frames that are taken before others' are
Listed = tuple[str, str, Frame | tuple[Header, bytes]]


async def many_frames(request: Request, service: Service, caller: Caller) -> Response:
    """Frames of many streams, in the order in which each stream's are listed."""
    content = await body(request, most_bytes(service))
    size = len(content)
    if size > INLINE and service.unanswered and service.unanswered + size > MOST_BYTES:
        raise Full(f"{service.unanswered:,} bytes of lists of frames are not answered yet, try again")
    service.unanswered += size
    try:
        return await _answered(service, content)
    finally:
        service.unanswered -= size


async def _answered(service: Service, content: bytes) -> Response:
    if len(content) <= INLINE:
        entries, listed = read(content, service.max_frame)
    else:
        entries, listed = await service.lists.run(read, content, service.max_frame)
    require_short_answer(listed, service.engine.stepper.backbone.num_classes)
    elsewhere = await service.step_elsewhere(entries)
    answers = await stepped(service, listed) if elsewhere is None else elsewhere
    return Response(await written(answers), media_type="application/json")


def most_bytes(service: Service) -> int:
    """Of one request."""
    return service.max_frame * PICTURES if service.engine.stepper.backbone.takes_pictures else MOST_LOGITS


def read(content: bytes, max_frame: int) -> tuple[list[Any], list[Listed]]:
    """(entries, the same checked); a request that is wrong anywhere does nothing."""
    commas = content.count(b",")  # a fiftieth of the time that it takes to parse as many numbers
    if commas > MOST_COMMAS:
        raise ValueError(f"the body has {commas:,} commas, expected at most {MOST_COMMAS:,}: send fewer frames at once")
    entries = parsed(content).get("frames")
    if not isinstance(entries, list) or not 1 <= len(entries) <= MOST_FRAMES:
        raise ValueError(f"frames is expected to be a list of 1 to {MOST_FRAMES} objects")
    return entries, [_listed(entry, max_frame) for entry in entries]


def require_short_answer(listed: list[Listed], classes: int | None) -> None:
    """Refuse frames whose probabilities are too many for one answer; `classes` of a picture are those of the model."""
    count = 0
    for _, _, given in listed:
        if not isinstance(given, Frame):
            count += (classes or 0) if given[0].get("probabilities") else 0
        elif given.probabilities and given.content is not None:
            count += len(given.content)
    if count > MOST_PROBABILITIES:
        raise ValueError(
            f"the answer would have {count:,} probabilities, expected at most {MOST_PROBABILITIES:,}: "
            "send fewer frames at once, or ask for the probabilities of fewer"
        )


async def written(answers: list[Any]) -> bytes:
    """As JSON. A thousand probabilities take a millisecond, so others' turns come in between."""
    texts, until = [], time.monotonic() + WRITING
    for answer in answers:
        texts.append(as_text(answer))
        if time.monotonic() > until:
            await asyncio.sleep(0)
            until = time.monotonic() + WRITING
    return f'{{"answers":[{",".join(texts)}]}}'.encode()


async def step_here(service: Service, entries: list[Any]) -> list[Any]:
    """Replies to entries that another replica has read."""
    return await stepped(service, [_listed(entry, service.max_frame) for entry in entries])


async def stepped(service: Service, listed: list[Listed]) -> list[Any]:
    """Replies to frames, in their order."""
    replies: list[asyncio.Future[Reply] | dict[str, Any]] = []
    for place, (id, group, given) in enumerate(listed):
        if place % AT_ONCE == AT_ONCE - 1:
            await asyncio.sleep(0)
        try:
            frame, picture = (given, None) if isinstance(given, Frame) else await service.frame(id, *given)
            await service.recall(id)
            replies.append(submitted(service, id, frame, picture, group))
        except ValueError as error:
            code = error.code if isinstance(error, Refusal) else "full" if isinstance(error, Full) else "bad_frame"
            replies.append({"type": "refused", "stream": id, "frame": None, "cause": str(error), "code": code})
    waiting = [reply for reply in replies if not isinstance(reply, dict)]
    if waiting:
        await asyncio.wait_for(asyncio.gather(*waiting), ANSWER_WITHIN)
    return [reply if isinstance(reply, dict) else reply.result() for reply in replies]


def _listed(entry: Any, max_frame: int) -> Listed:
    """(stream, group, logits or a picture that is still to be decoded) of an entry of the list."""
    if not isinstance(entry, dict) or ("picture" in entry) == ("logits" in entry):
        raise ValueError("an entry of frames is expected to be an object with a stream and a picture or logits")
    id = require_id("stream", entry.get("stream"))
    group = require_id("group", entry["group"]) if "group" in entry else ""
    rest = {name: value for name, value in entry.items() if name not in ("stream", "group", "picture")}
    if "logits" in entry:
        return id, group, decode.of_logits(rest)
    return id, group, (checked_header({**rest, "kind": "picture"}), _picture(entry["picture"], max_frame))


def _picture(text: Any, max_frame: int) -> bytes:
    if isinstance(text, str) and len(text) > (most := -(-max_frame // 3) * 4):
        raise ValueError(f"picture has {len(text):,} characters of base64, expected at most {most:,}")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise ValueError("picture is expected to be a JPEG, PNG or WebP file in base64") from None


def submitted(service: Service, id: str, frame: Frame, picture: Any, group: str) -> asyncio.Future[Reply]:
    """The reply to come."""
    if service.draining or not service.ready:
        raise Full("the service is starting or stopping")
    answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
    sink = lambda reply: None if answer.done() else answer.set_result(reply)  # noqa: E731
    service.engine.submit(id, frame, sink, group, picture)
    return answer

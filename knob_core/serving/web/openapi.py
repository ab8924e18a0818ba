"""The OpenAPI description of a service, from one table of its requests and the messages' own types."""

from __future__ import annotations

import functools
import json
import types
import typing
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

from knob_core.memories import KINDS
from knob_core.serving import messages
from knob_core.settings import LIMITS, MODES

ID: dict[str, Any] = {"type": "string", "pattern": r"^[A-Za-z0-9._:\-]{1,64}$"}
WHOLE: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": 2**53 - 1}
KNOBS: dict[str, Any] = {
    **{name: {"type": "number", "minimum": low, "maximum": high} for name, (low, high) in LIMITS.items()},
    "on": {"type": "boolean"},
    "memory": {"enum": list(KINDS)},
    "mode": {"enum": list(MODES)},
    "if_revision": WHOLE,
}
LOGIT: dict[str, Any] = {"type": "number", "minimum": -messages.MAX_LOGIT, "maximum": messages.MAX_LOGIT}
LOGITS: dict[str, Any] = {"type": "array", "items": LOGIT, "minItems": 2}
FRAME: dict[str, Any] = {
    "logits": LOGITS,
    "number": WHOLE,
    "elapsed": {"type": "number", "minimum": messages.ELAPSED[0], "maximum": messages.ELAPSED[1]},
    "probabilities": {"type": "boolean"},
}
SCHEMAS = (
    messages.Answer, messages.Refused, messages.Dropped, messages.Closing, messages.StreamInfo,
    messages.History, messages.Knobs, messages.KnobState, messages.KnobChange, messages.Problem,
)  # fmt: skip


def schema_of(kind: Any) -> dict[str, Any]:
    """JSON schema of a type of `messages`."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is NotRequired:
        return schema_of(arguments[0])
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(x) for x in arguments]}
    if origin is list:
        return {"type": "array", "items": schema_of(arguments[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(arguments[1])}
    if typing.is_typeddict(kind):
        return {"$ref": f"#/components/schemas/{kind.__name__}"}
    plain = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}
    return {"type": plain[kind]} if kind in plain else {}


def object_of(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    required = [name for name, hint in hints.items() if get_origin(hint) is not NotRequired]
    properties = {name: schema_of(hint) for name, hint in hints.items()}
    return {"type": "object", "properties": properties, "required": required, "description": kind.__doc__}


def _json(schema: dict[str, Any], says: str = "done") -> dict[str, Any]:
    return {"description": says, "content": {"application/json": {"schema": schema}}}


def _other(kind: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": "done", "content": {kind: {"schema": schema}}}


def _ref(kind: Any) -> dict[str, Any]:
    return schema_of(kind)


def _one(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {name: schema}, "required": [name]}


def _many(name: str, kind: Any) -> dict[str, Any]:
    return _one(name, {"type": "array", "items": _ref(kind)})


def _path(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": ID}


def _query(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema}


def _body(schema: dict[str, Any], **others: dict[str, Any]) -> dict[str, Any]:
    kinds = {"application/json": {"schema": schema}, **{kind: {"schema": other} for kind, other in others.items()}}
    return {"required": True, "content": kinds}


def _request(
    says: str, good: dict[int, dict[str, Any]], *, errors: tuple[int, ...] = (), role: str | None = "viewer",
    parameters: tuple[dict[str, Any], ...] = (), body: dict[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    refused = (*errors, *((401, 403) if role else ()))
    problems = {str(status): _json(_ref(messages.Problem), CAUSES[status]) for status in sorted(set(refused))}
    found: dict[str, Any] = {
        "summary": says,
        "responses": {**{str(status): answer for status, answer in good.items()}, **problems},
    }
    if role:
        found["security"], found["description"] = [{"token": []}, {}], f"Needs the role {role}."
    if parameters:
        found["parameters"] = list(parameters)
    if body is not None:
        found["requestBody"] = body
    return found


CAUSES = {
    400: "what was sent is wrong", 401: "a token is needed", 403: "not allowed", 404: "not known", 409: "conflict",
    413: "too large", 415: "unknown kind of content",
    500: "the model failed", 503: "full, starting or stopping",
}  # fmt: skip
PICTURE: dict[str, Any] = {"type": "string", "format": "binary"}
CHANGE: dict[str, Any] = {
    "type": "object", "properties": KNOBS, "additionalProperties": False, "minProperties": 1,
    "anyOf": [{"required": [name]} for name in KNOBS if name != "if_revision"],
}  # fmt: skip
REVERT: dict[str, Any] = {
    "type": "object",
    "properties": dict.fromkeys(("revision", "if_revision"), WHOLE),
    "required": ["revision"],
    "additionalProperties": False,
}
ONE_FRAME: dict[str, Any] = {
    "type": "object", "properties": FRAME, "required": ["logits"], "additionalProperties": False,
}  # fmt: skip
LISTED: dict[str, Any] = {
    "type": "object",
    "properties": {**FRAME, "stream": ID, "group": ID, "picture": {"type": "string", "contentEncoding": "base64"}},
    "required": ["stream"],
    "oneOf": [{"required": ["logits"]}, {"required": ["picture"]}],
    "additionalProperties": False,
}
MANY_FRAMES: dict[str, Any] = _one("frames", {"type": "array", "items": LISTED, "minItems": 1})
FRAME_ERRORS = (400, 409, 413, 500, 503)


def paths() -> dict[str, Any]:
    state = {200: _json(_ref(messages.KnobState))}
    turn_body = _body(CHANGE, **{"application/toml": {"type": "string"}})
    clear = _query("clear", {"type": "boolean"})

    def turning(says: str, *parameters: dict[str, Any]) -> dict[str, Any]:
        more: Any = {"errors": (400, 409, 413), "role": "operator", "parameters": parameters, "body": turn_body}
        return {"patch": _request(f"turn {says}", state, **more), "put": _request(f"set all of {says}", state, **more)}

    def releasing(says: str, parameter: dict[str, Any]) -> dict[str, Any]:
        errors = (400, 404)
        return {"delete": _request(says, state, errors=errors, role="operator", parameters=(parameter,))}

    stream, group, id = _path("stream"), _path("group"), _path("id")
    answer = _json(_ref(messages.Answer))
    return {
        "/v1/streams/{id}/frames": {
            "post": _request(
                "one frame of a stream", {200: answer}, errors=(*FRAME_ERRORS, 415), role="camera",
                parameters=(id, _query("probabilities", {"type": "boolean"}), _query("group", ID)),
                body=_body(ONE_FRAME, **dict.fromkeys(PICTURES, PICTURE)),
            )
        },
        "/v1/frames": {
            "post": _request(
                "frames of many streams", {200: _json(_one("answers", {"type": "array", "items": {
                    "anyOf": [_ref(messages.Answer), _ref(messages.Refused), _ref(messages.Dropped)]}}))},
                errors=(400, 503), role="camera", body=_body(MANY_FRAMES),
            )
        },
        "/v1/service": {"get": _request("what this service is", {200: _json({"type": "object"})})},
        "/v1/streams": {"get": _request("all streams", {200: _json(_many("streams", messages.StreamInfo))})},
        "/v1/streams/{id}": {
            "get": _request(
                "one stream with its history", {200: _json(_ref(messages.StreamInfo))}, errors=(400, 404),
                parameters=(id, _query("since", {"type": "integer", "minimum": 0, "maximum": 10**15 - 1})),
            ),
            "delete": _request(
                "forget a stream", {204: {"description": "done"}}, errors=(404,), role="operator", parameters=(id,)
            ),
        },
        "/v1/streams/{id}/picture": {
            "get": _request(
                "the last picture, small", {200: _other("image/webp", PICTURE)}, errors=(404,), parameters=(id,)
            )
        },
        "/v1/knobs": {"get": _request("all knobs", state), **turning("the knobs for all", clear)},
        "/v1/knobs/groups/{group}": {
            **turning("the knobs of a group", group), **releasing("take a group's own knobs back", group)
        },
        "/v1/knobs/streams/{stream}": {
            **turning("the knobs of a stream", stream), **releasing("take a stream's own knobs back", stream)
        },
        "/v1/knobs/revert": {
            "post": _request(
                "all knobs as they were at a revision", state, errors=(400, 404, 409, 413), role="operator",
                body=_body(REVERT),
            )
        },
        "/v1/knobs/log": {
            "get": _request("who turned what, and when", {200: _json(_many("changes", messages.KnobChange))})
        },
        "/metrics": {"get": _request("for Prometheus", {200: _other("text/plain", {"type": "string"})})},
        "/openapi.json": {"get": _request("this description", {200: _json({"type": "object"})}, role=None)},
        "/healthz": {"get": _request("alive", {200: _json({"type": "object"})}, role=None)},
        "/readyz": {"get": _request("ready for frames", {200: _json({"type": "object"})}, errors=(503,), role=None)},
    }  # fmt: skip


PICTURES = ("image/jpeg", "image/png", "image/webp", "application/octet-stream")


@functools.cache
def document() -> bytes:
    """All of it as JSON, made once: anybody may ask for it, as often as they like."""
    found = {
        "openapi": "3.1.0",
        "info": {"title": "Knob service", "version": str(messages.VERSION), "description": "Frames in, answers out."},
        "paths": paths(),
        "components": {
            "schemas": {kind.__name__: object_of(kind) for kind in SCHEMAS},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    return json.dumps(found).encode()

"""The network side of a service: WebSockets and HTTP on Starlette, run by uvicorn."""

from knob_core.serving.web.app import build

__all__ = ["build"]

"""Several processes that compute what one would: gradients averaged, batch statistics over the whole batch.

Started by `torchrun`; nccl between GPUs, gloo between CPUs. Without torchrun everything here is a no-op.
Sums come in another order: in float64 the loss of an epoch is that of one process to 1e-9, in mixed precision, where
rounding to 8 bits makes more of it, to 1e-2 (tests).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import timedelta
from typing import cast

import torch
import torch.distributed as dist
import torch.distributed.nn.functional as dist_nn
from torch import Tensor, nn

from knob_core import devices

PATIENCE = timedelta(days=365)  # a lock is waited for as long as another run holds it
_patient: dist.ProcessGroup | None = None  # for that: the usual group gives up after half an hour, and a GPU would spin


def start(device: torch.device) -> tuple[int, int]:
    """Join the other processes, if any: (rank, number of processes)."""
    global _patient
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world > 1 and not dist.is_initialized():
        if device.type == "cuda":
            torch.cuda.set_device(device)  # NCCL takes the current GPU for barriers, which else is the first one
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        _patient = dist.new_group(backend="gloo", timeout=PATIENCE)
    return (dist.get_rank(), world) if world > 1 else (0, 1)


def own_device(name: str = "auto") -> torch.device:
    """The device of that name; "auto" is a GPU where there is one. Processes of one machine take a GPU each."""
    device = devices.pick(name)
    alone = device.type != "cuda" or device.index is not None
    return device if alone else torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))


def stop() -> None:
    if dist.is_initialized():
        dist.destroy_process_group()


def wait_for_all() -> None:
    if dist.is_initialized():
        dist.barrier()


@contextmanager
def held_by_first(lock: AbstractContextManager[None]) -> Iterator[None]:
    """A block under a lock that the first process holds for all: the others wait until it does, or end if it cannot."""
    with ExitStack() as held:
        error: OSError | None = None
        if not dist.is_initialized() or dist.get_rank() == 0:
            try:
                held.enter_context(lock)
            except OSError as found:
                error = found
        refused = torch.tensor(int(error is not None))
        if dist.is_initialized():
            dist.broadcast(refused, src=0, group=_patient)
        if refused:
            raise error or OSError("stopped with the first process, whose own line says why")
        yield


def average(tensor: Tensor) -> Tensor:
    """The mean over processes, without gradient."""
    if not dist.is_initialized():
        return tensor
    total = tensor.detach().clone()
    dist.all_reduce(total)
    return total / dist.get_world_size()


def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Replace every gradient by its mean over processes, in one message."""
    if not dist.is_initialized():
        return
    gradients = [p.grad for p in parameters if p.grad is not None]
    flat = average(torch.cat([gradient.flatten() for gradient in gradients]))
    for gradient, part in zip(gradients, flat.split([gradient.numel() for gradient in gradients]), strict=True):
        gradient.copy_(part.view_as(gradient))


class WholeBatchNorm(nn.modules.batchnorm._BatchNorm):
    """Batch normalisation over all processes' samples, on any device (torch's own works on GPUs only).

    In mixed precision the input has 16 bits; statistics and arithmetic keep those of the weights, as in torch's own.
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"input must have at least 2 axes, got {input.dim()}")

    def forward(self, input: Tensor) -> Tensor:
        if not (self.training and dist.is_initialized()):
            return super().forward(input)
        assert self.running_mean is not None and self.running_var is not None
        x = input.to(torch.promote_types(input.dtype, self.running_mean.dtype))
        axes = [0, *range(2, x.dim())]
        world = dist.get_world_size()
        # Centred in two messages: E[x^2] - E[x]^2 would cancel digits.
        mean = cast(Tensor, dist_nn.all_reduce(x.mean(axes))) / world
        shape = (1, -1, *[1] * (x.dim() - 2))
        centred = x - mean.view(shape)
        variance = cast(Tensor, dist_nn.all_reduce(centred.square().mean(axes))) / world
        with torch.no_grad():
            count = x.numel() // x.shape[1] * world
            momentum = 0.1 if self.momentum is None else self.momentum
            self.running_mean.lerp_(mean, momentum)
            self.running_var.lerp_(variance * count / (count - 1), momentum)
            if self.num_batches_tracked is not None:
                self.num_batches_tracked += 1
        normal = centred * (variance + self.eps).rsqrt().view(shape)
        if self.affine:
            normal = normal * self.weight.view(shape) + self.bias.view(shape)
        return normal.to(input.dtype)


def share_batch_statistics(module: nn.Module) -> nn.Module:
    """Exchange every batch normalisation for one over all processes; parameters and buffers stay the same tensors."""
    for name, child in module.named_children():
        if isinstance(child, nn.modules.batchnorm._BatchNorm):
            whole = WholeBatchNorm(child.num_features, child.eps, child.momentum, child.affine)
            whole.weight, whole.bias = child.weight, child.bias
            whole.running_mean, whole.running_var = child.running_mean, child.running_var
            whole.num_batches_tracked = child.num_batches_tracked
            setattr(module, name, whole)
        else:
            share_batch_statistics(child)
    return module

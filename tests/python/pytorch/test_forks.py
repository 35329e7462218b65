# SPDX-License-Identifier: Apache-2.0
"""A child that is forked while another thread starts or closes a dumper."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import torch
from models import mlp

from msprobe.pytorch import AclGraphDumper, patches

MakeConfig = Callable[..., Path]


def test_a_child_closes_its_dumper_whoever_held_the_patches(make_config: MakeConfig) -> None:
    held, forked = threading.Event(), threading.Event()

    def hold() -> None:
        with patches.patching:
            held.set()
            assert forked.wait(60)

    model = mlp()
    dumper = AclGraphDumper(make_config(level="mix"))
    dumper.start(model)
    model(torch.ones(2, 8))
    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # ends a child that hangs
        dumper.close()
        os._exit(0 if "forward" not in model.__dict__ else 1)
    forked.set()
    thread.join()
    _, status = os.waitpid(child, 0)
    dumper.close()
    assert os.waitstatus_to_exitcode(status) == 0

# SPDX-License-Identifier: Apache-2.0
"""torch_npu's graphs on hostnpu: capture, replay, several streams, callbacks, updates, conditions, and what capture forbids."""

from __future__ import annotations

import gc
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
import torch_npu
from torch_npu.npu import _launch_host_func

DEVICE = "npu"


def fresh(*values: float) -> torch.Tensor:
    tensor = torch.tensor(values, device=DEVICE)
    torch.npu.synchronize()
    return tensor


@pytest.fixture
def subscribed() -> torch.npu.Stream:
    """A stream whose callbacks torch_npu's own report thread runs."""
    stream = torch.npu.Stream()
    torch_npu.npu._subscribe_report(stream)
    yield stream
    torch_npu.npu._unsubscribe_report(stream)


def test_replay_computes_with_new_inputs() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4)).npu().eval()
    x = torch.randn(2, 8).npu()
    graph = torch.npu.NPUGraph()
    with torch.no_grad():
        model(x)
        with torch.npu.graph(graph):
            y = model(x)
        for seed in range(3):
            new = torch.randn(2, 8, generator=torch.Generator().manual_seed(seed))
            x.copy_(new)
            graph.replay()
            torch.npu.synchronize()
            expected = torch.nn.Sequential(*model).cpu()(new)
            torch.testing.assert_close(y.cpu(), expected)
            model.npu()


def test_capture_alone_computes_nothing() -> None:
    x = fresh(1.0)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        x.add_(1)
    torch.npu.synchronize()
    assert x.cpu().tolist() == [1.0]


def test_callback_in_a_graph(subscribed: torch.npu.Stream) -> None:
    calls: list[object] = []
    x = fresh(0.0)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph, stream=subscribed):
        x.add_(1)
        _launch_host_func(subscribed, calls.append, 5)
        x.mul_(2)
    assert calls == []
    for _ in range(2):
        graph.replay()
        torch.npu.synchronize()
    assert calls == [5, 5]
    assert x.cpu().tolist() == [6.0]


def test_callback_without_subscription() -> None:
    with pytest.raises(RuntimeError, match="107015"):
        _launch_host_func(torch.npu.Stream(), lambda _: None, None)


def test_fork_and_join() -> None:
    x, side = fresh(1.0, 1.0), torch.npu.Stream()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        a = x * 2
        side.wait_stream(torch.npu.current_stream())
        with torch.npu.stream(side):
            b = a + 1
        c = a * 3
        torch.npu.current_stream().wait_stream(side)
        y = b + c
    x.fill_(5)
    graph.replay()
    torch.npu.synchronize()
    assert y.cpu().tolist() == [41.0, 41.0]


def test_unjoined_stream() -> None:
    x, side = fresh(1.0), torch.npu.Stream()
    graph = torch.npu.NPUGraph()
    with pytest.raises(RuntimeError, match="107025"), torch.npu.graph(graph):
        a = x * 2
        side.wait_stream(torch.npu.current_stream())
        with torch.npu.stream(side):
            _ = a + 1


def test_copy_to_host_in_capture() -> None:
    x = fresh(1.0)
    with pytest.raises(RuntimeError, match="107030"), torch.npu.graph(torch.npu.NPUGraph()):
        (x * 2).cpu()


def test_device_synchronisation_in_capture() -> None:
    x = fresh(1.0)
    with pytest.raises(RuntimeError, match="107027"), torch.npu.graph(torch.npu.NPUGraph()):
        _ = x * 2
        torch.npu.synchronize()


def test_copy_to_host_in_relaxed_capture() -> None:
    """Allowed, but on another stream: the copy synchronises its stream first."""
    x, other = fresh(3.0), torch.npu.Stream()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph, capture_error_mode="relaxed"):
        y = x * 2
        with torch.npu.stream(other):
            assert x.cpu().tolist() == [3.0]
    graph.replay()
    torch.npu.synchronize()
    assert y.cpu().tolist() == [6.0]


def test_capture_after_a_failed_one() -> None:
    x = fresh(1.0)
    with pytest.raises(RuntimeError), torch.npu.graph(torch.npu.NPUGraph()):
        (x * 2).cpu()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        y = x * 2
    graph.replay()
    torch.npu.synchronize()
    assert y.cpu().tolist() == [2.0]


def test_shared_pool_and_release_of_memory() -> None:
    x = torch.ones(1024, device=DEVICE)
    torch.npu.synchronize()
    first, second = torch.npu.NPUGraph(), torch.npu.NPUGraph()
    with torch.npu.graph(first):
        y = x * 2
    with torch.npu.graph(second, pool=first.pool()):
        z = y + 1
    x.fill_(3)
    first.replay()
    second.replay()
    torch.npu.synchronize()
    assert z.cpu()[0] == 7
    del first, second, y, z
    gc.collect()
    torch.npu.synchronize()


def test_random_numbers_change_with_each_replay() -> None:
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        y = torch.randn(8, device=DEVICE)
    results = []
    for _ in range(2):
        graph.replay()
        torch.npu.synchronize()
        results.append(y.cpu().clone())
    assert not torch.equal(*results)


def test_debug_dump(tmp_path: Path) -> None:
    x, path = fresh(1.0), tmp_path / "graph.json"
    graph = torch.npu.NPUGraph()
    graph.enable_debug_mode()
    with torch.npu.graph(graph):
        torch.relu(x * 2)
    graph.debug_dump(str(path))
    assert [task["name"] for task in json.loads(path.read_text())] == ["aclnnMuls", "aclnnRelu"]


def test_make_graphed_callables() -> None:
    module = torch.nn.Linear(4, 4).npu()
    x = torch.randn(2, 4, device=DEVICE, requires_grad=True)
    graphed = torch.npu.make_graphed_callables(module, (x,))
    graphed(x).sum().backward()
    expected = x.detach().cpu().sum(0).expand(4, 4)
    torch.testing.assert_close(module.weight.grad.cpu(), expected)


def test_accelerator_graph() -> None:
    x = fresh(1.0)
    graph = torch.accelerator.Graph()
    with graph:
        y = x + 1
    x.fill_(9)
    graph.replay()
    torch.npu.synchronize()
    assert y.cpu().tolist() == [10.0]


def test_task_group_update_with_external_event() -> None:
    x, y, updates, event = fresh(1.0), fresh(0.0), torch.npu.Stream(), torch.npu.ExternalEvent()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        stream = torch.npu.current_stream()
        event.wait(stream)
        event.reset(stream)
        torch.npu.graph_task_group_begin(stream)
        torch.mul(x, 2, out=y)
        handle = torch.npu.graph_task_group_end(stream)
        y.add_(1)
    results = []
    for factor in (2, 5, 9):
        graph.replay()
        with torch.npu.stream(updates):
            torch.npu.graph_task_update_begin(updates, handle)
            torch.mul(x, factor, out=y)
            torch.npu.graph_task_update_end(updates)
            event.record(updates)
        torch.npu.synchronize()
        results.append(y.item())
    assert results == [3.0, 6.0, 10.0]


def test_conditional_node() -> None:
    x, predicate = fresh(1.0), torch.tensor(True, device=DEVICE)
    torch.npu.synchronize()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        y = x * 2
        graph.begin_capture_to_if_node(predicate)
        y.add_(100)
        graph.end_capture_to_conditional_node()
    results = []
    for value in (True, False, True):
        predicate.fill_(value)
        graph.replay()
        torch.npu.synchronize()
        results.append(y.item())
    assert results == [102.0, 2.0, 102.0]


def test_graph_on_the_second_device() -> None:
    # A stream is given, as torch_npu's own capture stream belongs to the device of the process's first graph.
    with torch.npu.device(1):
        x = torch.ones(3, device=DEVICE)
        torch.npu.synchronize()
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph, stream=torch.npu.Stream()):
            y = x * 3
        x.fill_(2)
        graph.replay()
        torch.npu.synchronize()
        assert y.device.index == 1
        assert y.cpu().tolist() == [6.0] * 3


def test_threads_capture_at_the_same_time() -> None:
    """Without torch.npu.graph, which synchronises all devices before it begins: an error while another thread captures."""
    barrier = threading.Barrier(2)

    def work(index: int) -> list[float]:
        torch.npu.set_device(index)
        x = torch.full((2,), float(index + 1), device=DEVICE)
        stream = torch.npu.Stream()
        torch.npu.current_stream().synchronize()
        graph = torch.npu.NPUGraph()
        barrier.wait()
        with torch.npu.stream(stream):
            graph.capture_begin(capture_error_mode="thread_local")
            barrier.wait()
            y = x * 10
            barrier.wait()
            graph.capture_end()
        barrier.wait()
        graph.replay()
        torch.npu.current_stream().synchronize()
        return y.cpu().tolist()

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, range(2))) == [[10.0, 10.0], [20.0, 20.0]]


def test_graph_destroyed_gives_its_callbacks_and_memory_back() -> None:
    """Many graphs in turn: nothing may pile up."""
    x = torch.ones(1 << 18, device=DEVICE)
    torch.npu.synchronize()

    def once() -> None:
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            y = x + 1
        graph.replay()
        torch.npu.synchronize()
        assert y.cpu()[0] == 2

    once()
    gc.collect()
    torch.npu.empty_cache()
    free = torch.npu.mem_get_info()[0]
    for _ in range(20):
        once()
    gc.collect()
    torch.npu.empty_cache()
    assert torch.npu.mem_get_info()[0] == free

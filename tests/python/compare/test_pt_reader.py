# SPDX-License-Identifier: Apache-2.0
"""Files that torch.save wrote, read by the C++ core: every dtype, every layout, and what is refused."""

from __future__ import annotations

import io
import math
import struct
import zipfile

import pytest
import torch
from pt_files import PtTool
from torch.nested import nested_tensor

INTEGERS = [torch.uint8, torch.int8, torch.uint16, torch.int16, torch.uint32, torch.int32, torch.uint64, torch.int64]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
FLOATS8 = [torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz, torch.float8_e8m0fnu]
COMPLEX = [torch.complex32, torch.complex64, torch.complex128]
DTYPES = [torch.bool, *INTEGERS, *FLOATS, *FLOATS8, *COMPLEX]


def sample(dtype: torch.dtype) -> torch.Tensor:
    """Twelve values, the extremes of the type among them."""
    if dtype == torch.bool:
        return torch.tensor([True, False, True, True] * 3)
    if dtype in INTEGERS:
        info = torch.iinfo(dtype)
        return torch.tensor([info.min, info.max, 0, 1, 7, 100] * 2, dtype=dtype)
    if dtype in COMPLEX:
        parts = torch.tensor([0.5, -1.25, 3.0, float("nan"), float("inf"), 0.1] * 4, dtype=torch.float64)
        return torch.complex(parts[::2], parts[1::2]).to(dtype)
    if dtype in FLOATS8:
        return torch.arange(12, dtype=torch.uint8).mul(21).view(dtype)
    return torch.tensor(
        [0.1, -2.5, 1e-3, 0.0, -0.0, float("nan"), float("inf"), -float("inf"), 3.25, 1e4, 1 / 3, 7], dtype=dtype
    )


def values_of(tensor: torch.Tensor) -> list:
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.dtype in FLOATS8:
        tensor = tensor.to(torch.float32)
    if tensor.dtype == torch.complex32:
        tensor = tensor.to(torch.complex64)
    return tensor.contiguous().flatten().tolist()


def number(text: str):
    if text in {"True", "False"}:
        return text == "True"
    if text.startswith("("):
        return complex(text)
    return float(text) if any(c in text for c in ".enf") else int(text)


def same(text: str, value) -> bool:
    """Floats are written with as many digits as their own type needs, so they are compared after rounding to float32."""
    read = number(text)
    if isinstance(value, complex):
        return all(same_float(a, b) for a, b in [(read.real, value.real), (read.imag, value.imag)])
    return same_float(read, value) if isinstance(value, float) else read == value


def same_float(read: float, value: float) -> bool:
    if math.isnan(read) or math.isnan(value):
        return math.isnan(read) and math.isnan(value)
    rounded = [struct.unpack("f", struct.pack("f", x))[0] if abs(x) < 3e38 else x for x in (read, value)]
    return read == value or rounded[0] == rounded[1]


def check(tool, tensor, path, **save_options):
    torch.save(tensor, path, **save_options)
    read = tool.read(path)
    assert read["dtype"] == str(tensor.dtype)
    assert read["sizes"] == list(tensor.shape)
    assert read["strides"] == list(tensor.stride())
    assert read["requires_grad"] == tensor.requires_grad
    expected = values_of(tensor)
    assert len(read["values"]) == len(expected)
    assert all(map(same, read["values"], expected)), (read["values"], expected)
    return read


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(tool, tmp_path, dtype):
    check(tool, sample(dtype), tmp_path / "x.pt")


def test_values_are_exact(tool, tmp_path):
    torch.save(torch.tensor([2**63 - 1, -(2**63), 2**53 + 1]), tmp_path / "i.pt")
    assert tool.read(tmp_path / "i.pt")["values"] == ["9223372036854775807", "-9223372036854775808", "9007199254740993"]
    torch.save(torch.tensor([2**64 - 1], dtype=torch.uint64), tmp_path / "u.pt")
    assert tool.read(tmp_path / "u.pt")["values"] == ["18446744073709551615"]
    doubles = torch.randn(100, dtype=torch.float64) * torch.tensor(10.0, dtype=torch.float64) ** torch.randint(
        -300, 300, (100,)
    )
    torch.save(doubles, tmp_path / "d.pt")
    assert [float(text) for text in tool.read(tmp_path / "d.pt")["values"]] == doubles.tolist()


def test_packed_fp4_has_two_values_a_byte(tool, tmp_path):
    torch.save(torch.tensor([0x10, 0xF7], dtype=torch.uint8).view(torch.float4_e2m1fn_x2), tmp_path / "x.pt")
    read = tool.read(tmp_path / "x.pt")
    assert read["sizes"] == [2]
    assert read["values"] == ["0.0", "0.5", "6.0", "-6.0"]


LAYOUTS = {
    "transposed": lambda x: x.t(),
    "sliced": lambda x: x[1:, ::2],
    "column": lambda x: x[:, 1],
    "expanded": lambda x: x[:, :1].expand(3, 5),
    "expanded scalar": lambda x: x[0, 0].expand(2, 3, 4),
    "windows": lambda x: x.flatten().unfold(0, 4, 2),
    "permuted": lambda x: x.reshape(3, 2, 2).permute(2, 0, 1),
    "zero dimensions": lambda x: x[1, 1],
    "empty": lambda x: x[:0],
    "empty inside": lambda x: x.reshape(3, 4, 1)[:, 2:2],
    "ones": lambda x: x.reshape(1, 3, 1, 4, 1),
    "offset": lambda x: x[2:],
}


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64, torch.int8, torch.complex128], ids=str)
def test_every_layout(tool, tmp_path, layout, dtype):
    check(tool, LAYOUTS[layout](sample(dtype).reshape(3, 4)), tmp_path / "x.pt")


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_every_protocol(tool, tmp_path, protocol):
    check(tool, torch.randn(3, 300), tmp_path / "x.pt", pickle_protocol=protocol)
    check(tool, torch.nn.Parameter(torch.randn(3)), tmp_path / "x.pt", pickle_protocol=protocol)


def test_conjugated_and_negated_views(tool, tmp_path):
    x = sample(torch.complex64)
    check(tool, x.conj(), tmp_path / "conj.pt")
    check(tool, x.conj().imag, tmp_path / "neg.pt")
    check(tool, x.conj().real, tmp_path / "real.pt")
    check(tool, sample(torch.complex128).reshape(3, 4).conj().t(), tmp_path / "both.pt")


def test_parameters_gradients_and_attributes(tool, tmp_path):
    check(tool, torch.randn(3, requires_grad=True), tmp_path / "x.pt")
    check(tool, torch.nn.Parameter(torch.randn(3)), tmp_path / "x.pt")
    check(tool, torch.nn.Parameter(torch.randn(3), requires_grad=False), tmp_path / "x.pt")
    check(tool, torch.nn.Buffer(torch.randn(3)), tmp_path / "x.pt")
    for tensor in (torch.randn(3), torch.nn.Parameter(torch.randn(3))):
        tensor.note = "text"
        tensor.numbers = [1, 2.5, {"a": (None, True)}]
        check(tool, tensor, tmp_path / "x.pt")


def test_files_without_checksums(tool, tmp_path):
    torch.serialization.set_crc32_options(False)
    try:
        check(tool, torch.randn(3, 4), tmp_path / "x.pt")
    finally:
        torch.serialization.set_crc32_options(True)


def test_a_storage_that_others_share_is_read_where_the_tensor_lies(tool, tmp_path):
    base = torch.arange(1000.0)
    check(tool, base[900:903], tmp_path / "x.pt")


class OneWay(io.RawIOBase):
    """A stream that cannot go back: a zip archive in it has the sizes of entries behind their data."""

    def __init__(self) -> None:
        self.bytes = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        self.bytes += data
        return len(data)


def rewrite(path, change=lambda name, data: data, method=zipfile.ZIP_STORED, stream=False, force_zip64=False):
    """Packs the file's entries anew, as another tool would."""
    with zipfile.ZipFile(path) as archive:
        entries = [(info.filename, change(info.filename, archive.read(info))) for info in archive.infolist()]
    out = OneWay() if stream else io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in entries:
            with archive.open(name, "w", force_zip64=force_zip64) as entry:
                entry.write(data)
    path.write_bytes(out.bytes if stream else out.getvalue())


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("force_zip64", [False, True])
def test_archives_of_other_tools(tool, tmp_path, method, stream, force_zip64):
    path = tmp_path / "x.pt"
    tensor = torch.randn(300, 1000).round(decimals=1)
    torch.save(tensor.t(), path)
    rewrite(path, method=method, stream=stream, force_zip64=force_zip64)
    read = tool.read(path)
    assert read["strides"] == [1, 1000]
    assert list(map(float, read["values"][:300])) == pytest.approx(tensor[:, 0].tolist())


def test_other_methods_are_refused(tool, tmp_path):
    torch.save(torch.ones(100), tmp_path / "x.pt")
    rewrite(tmp_path / "x.pt", method=zipfile.ZIP_LZMA)
    with pytest.raises(
        PtTool.Refused, match=r"x\.pt', byte \d+: zip entries must be stored or deflated, got '.*data.pkl' with method 14"
    ):
        tool.read(tmp_path / "x.pt")


@pytest.mark.parametrize(
    "dtype", [torch.int8, torch.int16, torch.float32, torch.bfloat16, torch.float64, torch.complex64], ids=str
)
def test_big_endian_files(tool, tmp_path, dtype):
    path = tmp_path / "x.pt"
    tensor = sample(dtype).reshape(3, 4).t()
    torch.save(tensor, path)
    width = tensor.element_size() // (2 if tensor.is_complex() else 1)

    def swap(name, data):
        if name.endswith("byteorder"):
            return b"big"
        if "/data/" in name:
            return b"".join(data[at : at + width][::-1] for at in range(0, len(data), width))
        return data

    rewrite(path, swap)
    read = tool.read(path)
    assert all(map(same, read["values"], values_of(tensor)))


@pytest.mark.parametrize("tag", ["cpu", "npu:0", "cuda:3", "npu", "xpu:1"])
def test_any_device(tool, tmp_path, tag):
    path = tmp_path / "x.pt"
    torch.save(torch.arange(3.0), path)

    def move(name, data):
        return (
            data.replace(b"X\3\0\0\0cpu", b"X" + struct.pack("<I", len(tag)) + tag.encode())
            if name.endswith("data.pkl")
            else data
        )

    rewrite(path, move)
    read = tool.read(path)
    assert read["location"] == tag
    assert read["values"] == ["0.0", "1.0", "2.0"]


class Evil:
    def __reduce__(self):
        return (eval, ("1 / 0",))


REFUSED = {
    "list": (lambda: [torch.ones(1)], "one tensor by itself, got a list"),
    "dictionary": (lambda: {"a": torch.ones(1)}, "one tensor by itself, got a dictionary"),
    "two tensors": (lambda: [torch.ones(1), torch.zeros(1)], "one tensor, got a second"),
    "number": (lambda: 3, "one tensor by itself, got an integer"),
    "storage": (lambda: torch.ones(1).untyped_storage(), "one tensor by itself, got a storage"),
    "quantised": (lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8), "got a quantised tensor"),
    "sparse": (lambda: torch.eye(3).to_sparse(), "got a sparse tensor"),
    "sparse rows": (lambda: torch.eye(3).to_sparse_csr(), "got a sparse tensor"),
    "meta": (lambda: torch.empty(3, device="meta"), "got a meta tensor"),
    "nested": (lambda: nested_tensor([torch.ones(2), torch.ones(3)]), "got a nested tensor"),
    "bits": (lambda: torch.zeros(4, dtype=torch.uint8).view(torch.bits8), "got the dtype torch.bits8"),
    "code": (Evil, "no use for '(__builtin__|builtins).eval'"),
    "module": (lambda: torch.nn.Linear(2, 2), "no use for 'torch.nn.modules.linear.Linear'"),
}


@pytest.mark.filterwarnings("ignore")  # some of these are beta or deprecated
@pytest.mark.parametrize("what", REFUSED, ids=str)
def test_what_is_no_plain_tensor_is_refused(tool, tmp_path, what):
    make, reason = REFUSED[what]
    torch.save(make(), tmp_path / "x.pt")
    with pytest.raises(PtTool.Refused, match=rf"x\.pt', byte \d+: .*{reason}"):
        tool.read(tmp_path / "x.pt")


def test_the_format_before_zip_is_refused_with_what_to_do(tool, tmp_path):
    torch.save(torch.ones(3), tmp_path / "x.pt", _use_new_zipfile_serialization=False)
    with pytest.raises(PtTool.Refused, match=r"byte 0: .*before torch 1\.6.*write it again with"):
        tool.read(tmp_path / "x.pt")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_programs_are_refused(tool, tmp_path):
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), tmp_path / "x.pt")
    with pytest.raises(PtTool.Refused, match="TorchScript program"):
        tool.read(tmp_path / "x.pt")


def test_every_cut_is_told(tool, tmp_path):
    path = tmp_path / "x.pt"
    torch.save(torch.randn(10), path)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(PtTool.Refused, match=r"x\.pt', byte \d+: "):
            tool.read(path)


def test_names_stay_inside_the_folder(tool, tmp_path):
    folder = tmp_path / "dump"
    (folder / "deep").mkdir(parents=True)
    torch.save(torch.ones(1), folder / "deep" / "x.pt")
    torch.save(torch.ones(1), tmp_path / "outside.pt")
    (folder / "out.pt").symlink_to(tmp_path / "outside.pt")
    (folder / "up.pt").symlink_to("../outside.pt")
    (folder / "up").symlink_to("..")
    (folder / "in.pt").symlink_to("deep/x.pt")
    assert tool.ask(inside=folder, name="deep/x.pt")["values"] == ["1.0"]
    assert tool.ask(inside=folder, name="in.pt")["values"] == ["1.0"]
    for name in [
        "../outside.pt",
        "deep/../../outside.pt",
        str(tmp_path / "outside.pt"),
        "out.pt",
        "up.pt",
        "up/outside.pt",
        "",
        "deep/..",
    ]:
        with pytest.raises(PtTool.Refused, match=r"must (lie inside|not lead out of|have a name)"):
            tool.ask(inside=folder, name=name)
    for name, reason in [("deep", "a folder"), ("none.pt", "No such file")]:
        with pytest.raises(PtTool.Refused, match=reason):
            tool.ask(inside=folder, name=name)

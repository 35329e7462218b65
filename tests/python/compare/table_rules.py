# SPDX-License-Identifier: Apache-2.0
"""The rules of docs/compare.md for tables of statistics once more, in plain Python: what the program's CSV must be, cell for cell.

Rows in, rows out, no care for speed. Nothing here knows how the program does it.
"""

from __future__ import annotations

import json
import math
import re

COLUMNS = [
    *("NPU Name", "Bench Name", "NPU Dtype", "Bench Dtype", "NPU Tensor Shape", "Bench Tensor Shape"),
    *("NPU Requires_grad", "Bench Requires_grad", "Max diff", "Min diff", "Mean diff", "L2norm diff"),
    *("MaxRelativeErr", "MinRelativeErr", "MeanRelativeErr", "NormRelativeErr", "NPU max", "NPU min", "NPU mean", "NPU l2norm"),
    *("Bench max", "Bench min", "Bench mean", "Bench l2norm", "Requires_grad Consistent", "Result", "Err_message"),
]
STATISTICS = ["Max", "Min", "Mean", "Norm"]
INPUTS_OFF = {"_reduce_scatter_base", "_all_gather_base", "all_to_all_single", "batch_isend_irecv"}
ALL_OFF = {
    *("empty", "empty_like", "numpy", "to", "__setitem__", "empty_with_format"),
    *("new_empty_strided", "new_empty", "empty_strided"),
}
REALS = {f"torch.{name}" for name in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")} | {
    "<class 'float'>"
}
WHOLES = {f"torch.{name}" for name in ("bool", "uint8", "int8", "int16", "int32", "int64")} | {
    "<class 'int'>",
    "<class 'bool'>",
}


class Row:
    def __init__(self, op: str, name: str, section: str, leaf: dict | None) -> None:
        self.op, self.name, self.section = op, name, section
        self.grad, self.is_tensor, self.leaf = "N/A", False, leaf
        if leaf is None:
            self.dtype = self.shape = "N/A"
            self.numbers: list[object] = [None] * 4
            self.value = None
            return
        self.value = leaf.get("value")
        self.numbers = [leaf.get(key) for key in STATISTICS]
        grad = leaf.get("requires_grad")
        self.grad = "N/A" if grad is None else str(grad)
        if leaf.get("dtype"):
            self.dtype, self.shape, self.is_tensor = leaf["dtype"], str(leaf.get("shape")), True
        elif leaf["type"] == "torch.Size":
            self.dtype, self.shape = "torch.Size", str(self.value)
        elif leaf["type"] == "slice":
            self.dtype, self.shape = "slice", f"({len(self.value)},)"
        elif leaf["type"] == "torch.ProcessGroup":
            self.dtype, self.shape, self.numbers = leaf["type"], "[]", [str(leaf["group_ranks"])] * 4
            self.value = leaf["group_ranks"]
        elif name.rsplit(".", maxsplit=1)[-1] in ("src", "dst", "group_src", "group_dst"):
            self.dtype, self.shape, self.numbers = leaf["type"], "[]", [str(self.value)] * 4
        else:
            self.dtype, self.shape, self.numbers = str(type(self.value)), "[]", [self.value] * 4


def rows_of(data: dict) -> list[Row]:
    rows: list[Row] = []

    def walk(op: str, name: str, section: str, value: object) -> None:
        if value is None or (isinstance(value, dict) and isinstance(value.get("type"), str)):
            rows.append(Row(op, name, section, value))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                walk(op, f"{name}.{index}", section, item)
        elif isinstance(value, dict):
            for key, item in value.items():
                walk(op, f"{name}.{key}", section, item)

    for op, sections in data.items():
        for key in ("input_args", "input_kwargs", "input"):
            if key in sections:
                walk(op, f"{op}.input", "input", sections[key])
        for key in ("parameters", "output"):
            if key in sections:
                walk(op, f"{op}.{key}", key, sections[key])
    return rows


def keys_of(data: dict, rows: list[Row]) -> list[str]:
    """Row names, the calls of the backward pass numbered by their order."""
    counts: dict[str, int] = {}
    ops: dict[str, str] = {}
    for op in data:
        ops[op] = op
        if found := re.fullmatch(r"(.*\.)\d+(\.backward)|(.*\.backward\.)\d+()", op):
            before, after = [part for part in found.groups() if part is not None]
            number = counts[before + after] = counts.get(before + after, -1) + 1
            ops[op] = f"{before}{number}{after}"
    return [ops[row.op] + row.name.removeprefix(row.op) for row in rows]


def kind(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return "other"
    if isinstance(value, str):
        if value == "N/A":
            return "na"
        try:
            value = float(value)
        except ValueError:
            return "device" if any(word in value for word in ("npu", "cpu", "cuda")) else "other"
    if math.isnan(value):
        return "nan"
    return "number" if not math.isinf(value) else ("+inf" if value > 0 else "-inf")


def number(value: object) -> float | int:
    return float(value) if isinstance(value, str) else value


def statistic_text(value: object) -> str:
    if isinstance(value, float):
        return "Nan" if math.isnan(value) else (f" {value}" if math.isinf(value) else repr(value))
    return "Nan" if isinstance(value, str) and value.lower() == "nan" else str(value)


def difference(n: object, b: object) -> tuple[str, str, float | None]:
    """The texts of both columns, and the relative error as a fraction where there is a percentage."""
    left, right = kind(n), kind(b)
    if left == right and left in ("na", "nan", "+inf", "-inf"):
        return "0", "0", None
    if "na" in (left, right):
        return "N/A", "N/A", None
    if left == right == "number":
        n, b = number(n), number(b)
        if n == b:
            return "0", "0", None
        diff = float(n - b)
        if b == 0:
            return repr(diff), "inf", None
        percent = abs(diff / float(b) * 100)
        return repr(diff), f"{percent!r}%", percent / 100
    if left in ("device", "other") or right in ("device", "other"):
        if type(n) is type(b) and n == b:
            return "0", "0", None
        return ("N/A",) * 2 + (None,) if left == right == "device" else ("Diff", "Diff", None)
    if "nan" in (left, right):
        return "Nan", "Nan", None
    return ("inf" if left == "+inf" or right == "-inf" else "-inf"), "inf", None


def told(value: object) -> str:
    words = {"nan": "NaN", "+inf": "+Inf", "-inf": "-Inf"}
    if kind(value) in words:
        return words[kind(value)]
    return "null" if value is None else (f"'{value}'" if isinstance(value, str) else statistic_text(value))


class Judge:
    """One op's rows, pairs of a target and a golden row."""

    def __init__(self, pairs: list[tuple[Row, Row | None]]) -> None:
        self.pairs = pairs
        inputs = [pair for pair in pairs if pair[0].section != "output"]
        part = inputs[0][0].name.split(".")[1] if inputs else ""
        self.off, self.outputs_only = part in ALL_OFF, part in INPUTS_OFF
        matched = [pair for pair in inputs if pair[1]]
        self.norm = max([0.0] + [difference(n.numbers[3], b.numbers[3])[2] or 0.0 for n, b in matched])
        self.scaled = [max([0.0] + [self.scale(n, b, index) for n, b in matched]) for index in range(3)]

    @staticmethod
    def scale(n: Row, b: Row, index: int) -> float:
        """How large a difference of Max, Min or Mean is beside what golden holds; -1: it cannot be said."""
        diff, _, _ = difference(n.numbers[index], b.numbers[index])
        if diff == "0":
            return 0.0
        if {kind(n.numbers[index]), kind(b.numbers[index])} != {"number"}:
            return -1.0 if diff == "N/A" else math.inf
        magnitudes = [abs(number(value)) if kind(value) == "number" else -1 for value in b.numbers]
        scale = max(magnitudes[:2])
        if index == 2:
            count = math.prod(json.loads(b.shape)) if b.shape.startswith("[") else 1
            scale = magnitudes[3] / math.sqrt(count) if count > 0 and magnitudes[3] >= 0 else -1
        return -1.0 if scale < 0 else (math.inf if scale == 0 else abs(float(diff)) / scale)

    def messages(self, n: Row, b: Row) -> list[str]:
        if self.off or (self.outputs_only and n.section != "output"):
            return []
        kinds = [(kind(left), kind(right)) for left, right in zip(n.numbers, b.numbers, strict=True)]
        texts = []
        special = {"nan", "+inf", "-inf"}
        if special & {kinds[0][0], kinds[1][0]} and not special & {kinds[0][1], kinds[1][1]}:
            texts.append("error: There is nan/inf/-inf in the maximum or minimum value of NPU.")
        _, norm, fraction = difference(n.numbers[3], b.numbers[3])
        judged_output = n.section == "output" and not self.outputs_only
        if judged_output and self.norm < 0.1 and (norm == "inf" or (fraction or 0) > 0.5):
            texts.append("error: The NormRelativeErr of output is greater than 0.5.")
        if n.grad != b.grad:
            texts.append("error: The Required_Grad of NPU and Bench are inconsistent")
        scalar = n.section != "output" and not self.outputs_only and self.values_differ(n, b)
        if scalar:
            texts.append("error: The scalar parameters of NPU and Bench are inconsistent.")
        if n.dtype != b.dtype:
            texts.append("error: The dtype of NPU and Bench are inconsistent.")
        if n.shape != b.shape:
            texts.append("error: The shape of NPU and Bench are inconsistent.")
        if judged_output and ((fraction or 0) > 0.1 if self.norm == 0 else (fraction or 0) / self.norm > 10):
            texts.append("warning: The norm relative error of output is 10 times that of input.")
        return texts + self.all_four(n, b, kinds, scalar, judged_output)

    def all_four(self, n: Row, b: Row, kinds: list[tuple[str, str]], scalar: bool, judged_output: bool) -> list[str]:
        """Messages that the original tool does not have."""
        texts = []
        for index in range(4 if n.is_tensor or b.is_tensor else 1):
            diff, _, _ = difference(n.numbers[index], b.numbers[index])
            if (diff in ("Diff", "Nan") or (diff in ("inf", "-inf") and kinds[index] != ("number", "number"))) and not scalar:
                name = STATISTICS[index] if n.is_tensor or b.is_tensor else "value"
                texts.append(f"error: The {name} of NPU is {told(n.numbers[index])} where Bench has {told(b.numbers[index])}.")
        if judged_output and n.is_tensor and b.is_tensor and n.dtype in REALS and b.dtype in REALS:
            for index in range(3):
                if kinds[index] == ("number", "number") and self.scaled[index] < 0.1 and self.scale(n, b, index) > 0.5:
                    of = "root mean square" if index == 2 else "largest magnitude"
                    texts.append(f"error: The {STATISTICS[index]} of output differs by more than half of Bench's {of}.")
        return texts

    @staticmethod
    def values_differ(n: Row, b: Row) -> bool:
        if n.is_tensor or b.is_tensor or None in (n.leaf, b.leaf):
            return False
        if n.numbers[0] is None:
            return n.value != b.value
        return difference(n.numbers[0], b.numbers[0])[0] not in ("0", "N/A")


def one_row(n: Row | None, b: Row | None, result: str, messages: list[str]) -> list[str]:
    sides = [[row.name, row.dtype, row.shape, row.grad] if row else ["N/A"] * 4 for row in (n, b)]
    cells = [cell for pair in zip(*sides, strict=True) for cell in pair]
    if n and b:
        both = [difference(left, right) for left, right in zip(n.numbers, b.numbers, strict=True)]
        cells += [diff for diff, _, _ in both] + [relative for _, relative, _ in both]
    else:
        cells += ["N/A"] * 8
    for row in (n, b):
        cells += [statistic_text(value) for value in row.numbers] if row else ["N/A"] * 4
    return [*cells, str(cells[6] == cells[7]), result, json.dumps(messages)]


def types_match(n: Row, b: Row) -> bool:
    known = REALS | WHOLES | {"N/A"}
    return n.dtype == b.dtype or (n.dtype in known and b.dtype in known)


def natural(name: str) -> list[object]:
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name)]


def table(target: dict, golden: dict) -> list[list[str]]:
    """The rows of the CSV without its header, for two values of `data`."""
    left, right = rows_of(target), rows_of(golden)
    by_key = dict(zip(keys_of(golden, right), right, strict=True))
    lines: list[list[str]] = []
    used: dict[str, Row | None] = {}
    by_op: dict[str, list[tuple[Row, Row | None, Row | None]]] = {}
    for row, key in zip(left, keys_of(target, left), strict=True):
        partner = by_key.get(key)
        refused = partner if partner and not types_match(row, partner) else None
        if partner:
            used[partner.name] = row if refused else None
        by_op.setdefault(row.op, []).append((row, None if refused else partner, refused))
    for triples in by_op.values():
        judge = Judge([(row, partner) for row, partner, _ in triples])
        for row, partner, refused in triples:
            if partner:
                messages = judge.messages(row, partner)
                levels = {message.split(":")[0] for message in messages}
                result = "error" if "error" in levels else "warning" if "warning" in levels else "pass"
            else:
                result, messages = "unmatched", []
                if not judge.off and not judge.outputs_only and {"nan", "+inf", "-inf"} & {kind(v) for v in row.numbers[:2]}:
                    messages.append("error: There is nan/inf/-inf in the maximum or minimum value of NPU.")
                why = (
                    "Bench has no row of this name." if not refused else f"dtype {row.dtype} of NPU v {refused.dtype} of Bench."
                )
                messages.append(f"No bench data matched: {why}")
            lines.append(one_row(row, partner, result, messages))
    for row in sorted(right, key=lambda row: natural(row.name)):
        if row.name not in used or used[row.name]:
            other = used.get(row.name)
            why = f"dtype {other.dtype} of NPU v {row.dtype} of Bench." if other else "NPU has no row of this name."
            lines.append(one_row(None, row, "unmatched", [f"No NPU data matched: {why}"]))
    return lines

# SPDX-License-Identifier: Apache-2.0
"""Pages in Chinese: every word of the page's own, the finding with its limits, ranks; messages of the table are explained."""

from __future__ import annotations

import re

import cli_runs
import page_dumps
import pages
import pytest
from test_compare_page import quiet

# What is no word: names, numbers, types, columns of the CSV, statistics and marks of the field.
NAMES = (
    "msprobe English Module layers attn mlp Linear norm1 norm2 DecoderLayer Attention NaN Inf CSV ULP MD5 md5 forward acl float32 "
    "bfloat16 True False requires_grad top-k argmax softmax Max Min Norm Mean MaxRelativeErr MaxAbsErr Cosine hard"
)
NO_WORDS = re.compile(
    r"[\w./-]*[./_]\w[\w./-]*|\b(?:rank\d*|step\d*|NPU \w+|Bench \w+|" + NAMES.replace(" ", "|") + r")\b",
    re.ASCII,
)


def english(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]{3,}", NO_WORDS.sub(" ", text))


def words(browser, *without: str) -> list[str]:
    """English words of what is in sight and in labels, but for the parts named."""
    code = f"""(() => {{
      document.querySelectorAll('details').forEach(each => {{ each.open = true; }});
      const copy = document.querySelector('#page').cloneNode(true);
      copy.querySelectorAll('{", ".join(without)}').forEach(each => each.remove());
      const labels = [...copy.querySelectorAll('[title], [aria-label], [placeholder]')].filter(each => !each.closest('button.pair'));
      const texts = [];
      const walker = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) texts.push(walker.currentNode.textContent);
      return texts.join(' ') + ' ' + labels.map(each => [each.title, each.ariaLabel, each.placeholder].join(' ')).join(' ');
    }})()"""
    return english(browser.evaluate(code=code))


DATA = (".row", ".head", ".choice", ".tree", ".records td", ".metrics", ".save", ".detail h2", ".dumps dd", ".detail .side li")


@pytest.mark.parametrize("kind", ["pair", "whole", "tensor", "md5", "dtypes", "view"])
def test_no_english_word_is_left(browser, tmp_path, page, whole_page, kind):
    if kind == "tensor":
        page_dumps.tensor_sides(tmp_path)
    elif kind == "md5":
        page_dumps.checksum_sides(tmp_path, other_from=100)
    elif kind == "dtypes":
        page_dumps.half_sides(tmp_path, fault_at=9)
    made = {"pair": page, "whole": whole_page}.get(kind)
    if kind == "view":
        made = pages.viewed(tmp_path, page.parents[1] / "target")
    made = made or pages.compared(tmp_path)
    browser.show(made, "#row=17", locale="zh-CN")
    assert browser.evaluate(code="document.documentElement.lang") == "zh-CN"
    assert words(browser, *DATA) == []
    browser.picture_of(f"chinese_{kind}")
    browser.click(selector=".language")
    browser.wait(code="document.documentElement.lang === 'en'")
    assert len(words(browser, *DATA)) > 20, "the check sees words where there are some"
    quiet(browser, made)


def test_the_finding_and_its_limits(browser, page, whole_page):
    browser.show(page, locale="zh-CN")
    (verdict,) = browser.text(selector=".verdict p")
    assert verdict.startswith("首个故障：最早见于 Module.layers.9.attn.q.Linear.forward.0 的输出 0：范数 78.97")
    assert "请查看 layers.9.attn.q 内部。" in verdict
    limits = browser.evaluate(code="[...document.querySelectorAll('.top details li')].map(line => line.textContent)")
    browser.click(selector=".language")
    browser.wait(code="document.documentElement.lang === 'en'")
    told = browser.evaluate(code="[...document.querySelectorAll('.top details li')].map(line => line.textContent)")
    assert len(limits) == len(told) >= 2
    for mine, other in zip(limits, told, strict=True):
        assert re.findall(r"Module[\w.]+", mine) == re.findall(r"Module[\w.]+?(?=[. ;:,]*(?: |$))", other), (mine, other)
    browser.show(whole_page, locale="zh-CN")
    (verdict,) = browser.text(selector=".verdict p")
    assert verdict.startswith(
        "rank1（Module.layers.9.attn.q.Linear.forward.0） 最早出现差异，按执行顺序中的位置判断：没有记录集合通信。"
    )
    assert "步 1 rank1: 首个故障" in verdict


def test_a_healthy_pair(browser, tmp_path):
    pages.write_sides(tmp_path, "", fault_at=None)
    browser.show(pages.compared(tmp_path), locale="zh-CN")
    assert browser.text(selector=".verdict p")[0].startswith("没有超过噪声 8 倍的跳变；噪声最终为 B = ")


def test_every_rule_of_the_table_is_explained():
    """All texts of the rules, those with numbers in them too, as the program has them."""
    root = pages.ROOT
    rules = (root / "csrc/compare/rules.cpp").read_text(encoding="utf-8")
    fixed = re.findall(r'return "((?:error|warning|note): [^"]+)";', rules)
    signs = (root / "csrc/report/dump_signs.cpp").read_text(encoding="utf-8")
    fixed += re.findall(r'"((?:error|warning): [^"]+)"', signs)
    assert len(fixed) > 16
    filled = [
        "error: The entry of NPU is broken: it is a text.",
        "error: The entry of Bench is broken: it is a text.",
        "error: The Max of NPU is nan where Bench has 1.5.",
        "error: The value of NPU is None where Bench has 3.",
        "error: The Max of output differs by more than half of Bench's largest magnitude.",
        "error: The Mean of output differs by more than half of Bench's root mean square.",
        "error: NPU has 3 NaN, 0 +Inf, 0 -Inf where Bench has 0 NaN, 0 +Inf, 0 -Inf.",
        "error: The saved tensors were not compared: no such file",
        "No bench data matched: Bench has no row of this name.",
        "No NPU data matched: NPU has no row of this name.",
        "No bench data matched: dtype torch.float32 of NPU v torch.Size of Bench.",
        "No NPU data matched: 16 rows of Bench before it have its name.",
        "note: Matched by -fm under different names.",
        "note: NPU: slow; Bench: no note",
    ]
    source = (root / "web/src/messages.ts").read_text(encoding="utf-8")
    patterns = [
        re.compile(pattern.replace(r"\/", "/"), re.DOTALL)
        for pattern in re.findall(r"^  \[/(\^.*\$)/, \"", source, re.MULTILINE)
    ]
    assert len(patterns) > 30
    for text in [*fixed, *filled]:
        said = re.sub("^(error|warning|note): ", "", text)
        assert any(pattern.search(said) for pattern in patterns), text


def test_messages_stay_and_are_explained(browser, page):
    browser.show(page, "#name=Module.layers.9.attn.q.Linear.forward.0.output.0", locale="zh-CN")
    (why,) = browser.text(selector=".detail .side ul")
    assert why.splitlines()[:2] == [
        "error: The NormRelativeErr of output is greater than 0.5.",
        "错误：输出的范数相对误差大于 0.5，而输入的都小于 0.1。",
    ]


def test_warnings_are_in_chinese(browser, tmp_path):
    data = {side: pages.model(side, fault_at=None) for side in ("target", "golden")}
    for record in page_dumps.records(data["target"]):
        del record["requires_grad"]
    page_dumps.both(tmp_path, data.__getitem__)
    page = pages.compared(tmp_path)
    browser.show(page, locale="zh-CN")
    lines = browser.evaluate(code="[...document.querySelectorAll('.top details li')].map(line => line.textContent)")
    assert "一侧完全没有记录 requires_grad：不使用 requires_grad 的规则" in lines
    assert cli_runs.only_file(page.parent, "*.html") == page

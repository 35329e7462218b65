// SPDX-License-Identifier: Apache-2.0
// What the program says of rows and of whole comparisons (csrc/compare/rules.cpp, messages.cpp, pair_run.cpp, match.cpp;
// csrc/report/dump_signs.cpp), explained in Chinese. What stays in English are parts of names and numbers, and reasons of the system.
import { language } from "./texts";

/** The texts of a cell of Err_message. */
export function messagesOf(cell: string): string[] {
  try {
    return (JSON.parse(cell) as unknown[]).map(String);
  } catch {
    return cell === "" ? [] : [cell];
  }
}

type Told = [pattern: RegExp, chinese: string];

// Maps: what is looked up may be anybody's text.
const STATISTICS = new Map([["Max", "最大值"], ["Min", "最小值"], ["Mean", "均值"], ["Norm", "范数"], ["value", "值"]]);
const LEVELS = new Map([["error", "错误"], ["warning", "警告"], ["note", "备注"]]);

// $1, $2, ... are what stands in brackets.
const KNOWN: Told[] = [
  [/^There is nan\/inf\/-inf in the maximum or minimum value of NPU\.$/, "目标的最大值或最小值中有 NaN 或 Inf，而标杆的没有。"],
  [/^The NormRelativeErr of output is greater than 0\.5\.$/, "输出的范数相对误差大于 0.5，而输入的都小于 0.1。"],
  [/^The input\/parameters of One Thousandth Err Ratio > 0\.9 while the output < 0\.6\.$/, "输入的千分之一误差比例都大于 0.9，而输出的小于 0.6。"],
  [/^The Required_Grad of NPU and Bench are inconsistent$/, "两侧的 requires_grad 不同。"],
  [/^The scalar parameters of NPU and Bench are inconsistent\.$/, "两侧的标量参数不同。"],
  [/^The dtype of NPU and Bench are inconsistent\.$/, "两侧的数据类型不同。"],
  [/^The shape of NPU and Bench are inconsistent\.$/, "两侧的形状不同。"],
  [/^The norm relative error of output is 10 times that of input\.$/, "输出的范数相对误差是输入的 10 倍以上，或者输入相同而输出大于 0.1。"],
  [/^The input\/parameters of Cosine > 0\.9, and input\/parameters - output > 0\.1$/, "输入的余弦相似度都大于 0.9，而输出的比它们低 0.1 以上。"],
  [/^The CRC-32 value of NPU differs from that of the bench\.$/, "两侧的校验值不同。"],
  [/^The parameter of NPU does not match the bench\.$/, "只有一侧有校验值。"],
  [/^Neither NPU nor Bench has an md5 here; nothing was compared\.$/, "两侧都没有校验值，没有比对。"],
  [/^Neither NPU nor Bench has a saved tensor here; only the statistics were compared\.$/, "两侧都没有保存这个张量，只比对了统计量。"],
  [/^The entry of NPU is broken: (.*)$/, "目标的记录无法读取：$1"],
  [/^The entry of Bench is broken: (.*)$/, "标杆的记录无法读取：$1"],
  [/^The (Max|Min|Mean|Norm|value) of NPU is (.*) where Bench has (.*)\.$/, "目标的$1为 $2，标杆为 $3。"],
  [/^The (Max|Min|Mean) of output differs by more than half of Bench's (?:largest magnitude|root mean square)\.$/, "输出的$1相差超过标杆的最大幅值（均值则为均方根）的一半，而输入相差小于 0.1。"],
  [/^NPU has (.*) where Bench has (.*)\.$/, "目标有 $1，标杆有 $2。"],
  [/^The saved tensors were not compared: (.*)$/, "保存的张量没有比对：$1"],
  [/^No (?:bench|NPU) data matched: (?:Bench|NPU) has no row of this name\.$/, "未匹配：另一侧没有同名的行。"],
  [/^No (?:bench|NPU) data matched: dtype (.*) of NPU v (.*) of Bench\.$/, "未匹配：类型无法相比，目标为 $1，标杆为 $2。"],
  [/^No NPU data matched: (\d+) rows of Bench before it have its name\.$/, "未匹配：此前标杆已有 $1 行同名。"],
  [/^Matched by -fm under different names\.$/, "由 -fm 匹配，两侧名称不同。"],
  [/^NPU: (.*); Bench: (.*)$/, "采集时的备注，目标：$1；标杆：$2"],
  [/^'(.*)' holds no entries: there is nothing to compare, and no table was written$/, "'$1' 中没有数据：无可比对，也没有写出结果表"],
  [/^.*records no requires_grad at all, .*$/, "一侧完全没有记录 requires_grad：不使用 requires_grad 的规则"],
  [/^-dm was given: .*$/, "已给出 -dm：按映射和相同的名称匹配，忽略 -fm 和 -cm"],
  [/^-fm was given: .*$/, "已给出 -fm：按它匹配，忽略 -cm"],
  [/^no row of target has a partner in golden: .*$/, "目标没有任何一行能在标杆中匹配：两份数据来自同一个模型吗？名称必须相同，或用 -fm、-dm、-cm 说明对应关系"],
  [/^data map: no row of (target|golden) has the name (.*); names are those of rows.*$/, "映射文件：没有名为 $2 的行；名称应为行的名称，如 Functional.linear.0.forward.input.0"],
  [/^(\d+) rows of golden are left without a partner, since (\d+) before them have the same name, as (.*): names come from data_name.*$/, "标杆有 $1 行未匹配，因为此前已有 $2 行同名，如 $3：有 data_name 时名称取自 data_name"],
  [/^It has NaN or Inf\.$/, "含有 NaN 或 Inf。"],
  [/^It is all zero\.$/, "全为零。"],
  [/^99 % of it or more are zero\.$/, "99 % 以上为零。"],
  [/^It has the same value everywhere\.$/, "处处是同一个值。"],
  [/^Nearly every element has the largest magnitude\.$/, "几乎所有元素都取最大幅值。"],
  [/^It reaches the largest number of its type\.$/, "达到其类型的最大值。"],
];

/** In the language of the page; "" where the page has no other words for it, or is in English. */
export function explained(message: string): string {
  if (language() !== "zh") {
    return "";
  }
  const [, level = "", said = ""] = /^(?:(error|warning|note): )?(.*)$/s.exec(message) ?? [];
  for (const [pattern, chinese] of KNOWN) {
    const found = pattern.exec(said);
    if (found) {
      const words = chinese.replace(/\$(\d)/g, (_, place: string) => {
        const part = found[Number(place)] ?? "";
        return STATISTICS.get(part) ?? part;
      });
      return level === "" ? words : `${LEVELS.get(level) ?? level}：${words}`;
    }
  }
  return "";
}

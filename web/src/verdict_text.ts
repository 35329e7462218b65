// SPDX-License-Identifier: Apache-2.0
// Where two runs part, in Chinese, from the parts of the verdict; English comes from the program (csrc/compare/divergence_text.cpp).
import { shortNumber } from "./columns";
import { modulePath } from "./modules";
import { type Across, type Link, real, type Spot, type Verdict } from "./model";

type Real = number | string | null | undefined;
const number = (value: Real): string => shortNumber(real(value), 3);
const precise = (value: Real): string => shortNumber(real(value), 6);

// The words of csrc/compare/divergence_words.h.
const GRADES: Record<string, string> = { "first fault": "首个故障", "first suspect": "首个疑点", hint: "迹象" };
const SECTIONS: Record<string, string> = { input: "输入", output: "输出", parameter: "参数" };
const STATISTICS: Record<string, string> = { Max: "最大值", Min: "最小值", Mean: "均值", Norm: "范数", "relative L2 error": "相对 L2 误差" };
const LIMIT = 8;
const ELEMENTS_LIMIT = 5;
const SATURATED = 0.04;
const ROOT = "__root__";

const statistic = (of: Spot): string => STATISTICS[of.statistic] ?? of.statistic;

function moduleName(call: string): string {
  const path = modulePath(call);
  const name = path.slice(1).join(".");
  return name === ROOT || name === "" ? "整个模型" : name;
}

function seen(spot: Spot): string {
  const both = spot.target !== null && spot.golden !== null ? `${statistic(spot)} ${precise(spot.target)}，标杆 ${precise(spot.golden)}` : "";
  switch (spot.finding) {
    case "shapes differ":
      return spot.target_shape === null ? "形状与标杆不同" : `形状 ${spot.target_shape}，标杆 ${spot.golden_shape ?? ""}`;
    case "missing on one side":
      return spot.target_dtype === null ? "只有标杆有这个张量" : "只有目标有这个张量";
    case "integers differ":
      return `本应相等的整数不同${both === "" ? "" : `（${both}）`}`;
    case "not finite":
      return both === "" ? "只有一侧出现 NaN 或 Inf" : both;
    case "golden is all zero":
      return both === "" ? "标杆全为零，目标不是" : `${both}（全为零）`;
    default:
      break;
  }
  const measure = spot.statistic === "relative L2 error" ? statistic(spot) : "E";
  const told = `${both === "" ? "" : `${both}；`}${measure} = ${number(spot.distance)}`;
  return spot.where === "parameter"
    ? `${told}，是 ${number(spot.ratio)} 个单位，而类型转换最多 4 个`
    : `${told}，是此前噪声 (${number(spot.noise)}) 的 ${number(spot.ratio)} 倍`;
}

function whereToLook(spot: Spot): string {
  const here = moduleName(spot.call);
  const code = spot.code === ROOT ? "整个模型" : (spot.code ?? "");
  switch (spot.where) {
    case "inside the call":
      return `请查看 ${here} 内部`;
    case "own code after the last child":
      return `请查看 ${here} 自身代码中最后一个子模块之后的部分`;
    case "own code before the call":
      return `请查看${code === "" ? "" : ` ${code} 自身代码中`} ${here} 之前的部分（残差、旋转编码、softmax、掩码、缓存），此前的输出都正常`;
    case "caller":
      return "请查看调用方：其输入已经不同";
    default:
      return "请核对该权重的加载";
  }
}

function operatorText(spot: Spot): string {
  const found = spot.operator;
  if (!found) {
    return "";
  }
  const distance = real(found.distance) === Infinity ? "性质不同" : `E = ${number(found.distance)}`;
  if (!found.clear) {
    return `；其中没有突出的算子，增大最多的是 ${found.call}（${distance}）`;
  }
  return `；首个${found.by_input ? "输入" : "输出"}异常的算子是 ${found.call}（${distance}）`;
}

function spotSentence(spot: Spot): string {
  const grade = spot.where === "parameter" ? "可疑的权重" : (GRADES[spot.grade] ?? spot.grade);
  const tensor = `${spot.call} 的${SECTIONS[spot.section] ?? spot.section} ${spot.path ?? ""}`.trimEnd();
  const first = spot.where === "parameter" ? "" : "最早见于 ";
  return `${grade}：${first}${tensor}：${seen(spot)}；${whereToLook(spot)}${operatorText(spot)}。`;
}

const typeName = (dtype: string): string => dtype.slice(dtype.lastIndexOf(".") + 1);

function nothingFound(verdict: Verdict): string {
  if (verdict.tensors_judged === 0 && verdict.parameters_judged === 0) {
    return "没有可以判断的内容：没有任何调用的输入或输出在两侧都有数值。";
  }
  const elements = verdict.by_elements
    ? `，相对 L2 误差也没有超过 ${ELEMENTS_LIMIT} 倍的跳变，最终为 ${number(verdict.by_elements.noise_end)}`
    : "";
  return `没有超过噪声 ${LIMIT} 倍的跳变；噪声最终为 B = ${number(verdict.by_statistics.noise_end)}${elements}（${verdict.calls} 次调用，${typeName(verdict.target_type)} 对 ${typeName(verdict.golden_type)}）。`;
}

export function chineseSentence(verdict: Verdict): string {
  return verdict.first ? spotSentence(verdict.first) : nothingFound(verdict);
}

function spotRiders(spot: Spot): string[] {
  const told: string[] = [];
  if (spot.may_have_started_earlier) {
    told.push(
      real(spot.noise) >= SATURATED && spot.statistic !== "relative L2 error"
        ? `可能开始得更早：此前噪声已达 B = ${number(spot.noise)}。`
        : "可能开始得更早：跳变不大。",
    );
  }
  if (spot.calls_unmatched_before > 0) {
    told.push(`自上一处正常的位置以来，有 ${spot.calls_unmatched_before} 次调用未匹配：可能从那里开始。`);
  }
  if (spot.inputs_fine_by_statistics_alone) {
    told.push("从统计量看其输入正常，但相同的元素换了次序，统计量也相同：在怀疑权重之前，请先用 acl_save 保存该输入。");
  }
  if (spot.operators_only_in_target.length > 0) {
    told.push(`标杆在此处没有的算子：${spot.operators_only_in_target.join("、")}。`);
  }
  if (spot.operators_only_in_golden.length > 0) {
    told.push(`此处缺少的标杆算子：${spot.operators_only_in_golden.join("、")}。`);
  }
  return told;
}

// The spots that the sentence does not tell of.
function otherSpots(verdict: Verdict): string[] {
  const first = JSON.stringify(verdict.first);
  const told: string[] = [];
  const add = (by: string, spot: Spot | null): void => {
    if (spot && JSON.stringify(spot) !== first) {
      told.push(by + spotSentence(spot));
    }
  };
  const statistics = verdict.by_elements ? "按统计量：" : "";
  add(statistics, verdict.by_statistics.first_suspect);
  add(statistics, verdict.by_statistics.first_fault);
  add("按元素：", verdict.by_elements?.first_suspect ?? null);
  add("按元素：", verdict.by_elements?.first_fault ?? null);
  return [...told, ...verdict.by_statistics.hints.map(spotSentence)];
}

/** What limits the sentence. */
export function chineseRiders(verdict: Verdict): string[] {
  const { first } = verdict;
  const told = first ? spotRiders(first) : [];
  const isParameter = first?.where === "parameter";
  const parts = (walk: Verdict["by_elements"]): boolean => Boolean(walk && (walk.first_suspect ?? walk.first_fault));
  if (verdict.parameters_off > 1) {
    told.push(`${verdict.parameters_judged} 个参数中有 ${verdict.parameters_off} 个的差别超过类型转换所致。`);
  }
  if (verdict.parameters_not_comparable > 0) {
    told.push(`有 ${verdict.parameters_not_comparable} 个参数在一侧的形状或类型不同，无法比对（融合、切分或量化的权重）。`);
  }
  if (isParameter && !parts(verdict.by_statistics) && !parts(verdict.by_elements)) {
    told.push(`输入与输出：${nothingFound(verdict)}`);
  }
  told.push(...otherSpots(verdict));
  if (verdict.by_statistics.saturated_at) {
    told.push(`从 ${verdict.by_statistics.saturated_at} 起，统计量只能看出幅度上的故障 (B >= ${SATURATED})：分布正确而内容错误的张量看不出来。`);
  }
  if (verdict.discrete_choices > 0) {
    told.push(`有 ${verdict.discrete_choices} 次离散选择（top-k、argmax、路由）结果不同，首次在 ${verdict.first_discrete_choice ?? ""}：这本身不是故障，接近相等时由噪声决定。`);
  }
  if (first && verdict.through_collective) {
    told.push("差异来自集合通信：由另一张卡送来。");
  }
  if (verdict.backward) {
    told.push("这是在反向过程中，其界限没有经过测量。");
  }
  if (!verdict.ordered && verdict.tensors_judged > 0) {
    told.push("目标的数据没有执行顺序：以文件中的顺序和名称的层次代替。");
  }
  if (verdict.calls_unmatched > 0) {
    told.push(`目标有 ${verdict.calls_unmatched} 次调用未匹配，无法判断。`);
  }
  if (first && !isParameter && first.grade === "first fault") {
    told.push("其后的内容不再判断。");
  }
  return told;
}

/** The calls before and after the place. */
export function chineseChain(verdict: Verdict): string[] {
  const spot = verdict.first;
  if (!spot) {
    return [];
  }
  const line = (mark: string, link: Link): string => {
    const distance = link.distance === null ? "" : real(link.distance) === Infinity ? "  性质不同" : `  ${number(link.distance)}`;
    return `${mark}  ${link.call}${distance}`;
  };
  return [
    ...spot.around.map((call) => `所属  ${call}`),
    ...spot.before.map((link) => line("之前", link)),
    line("此处", spot),
    ...spot.after.map((link) => line("之后", link)),
  ];
}

/** Which rank parted first. */
export function chineseAcross({ found, any_collective: any }: Across): string {
  if (found.first_ranks.length === 0) {
    return "没有任何一张卡与标杆的差异超过噪声。";
  }
  const label = (rank: Across["found"]["ranks"][number]): string =>
    `${rank.name}（${rank.call ?? ""}${rank.received ? "，来自外部或集合通信" : ""}）`;
  const first = found.ranks.filter((rank) => found.first_ranks.includes(rank.name));
  const order = !any
    ? "按执行顺序中的位置判断：没有记录集合通信"
    : found.last_shared_collective === null
      ? "在第一次集合通信之前"
      : `在各卡都经过的最后一次集合通信 ${found.last_shared_collective} 之后`;
  const several = first.length === 1 ? "最早出现差异" : "最早出现差异，无法分辨其中谁先谁后";
  const later = found.ranks.filter((rank) => rank.call !== null && !found.first_ranks.includes(rank.name));
  return [
    `${first.map(label).join("、")} ${several}，${order}。`,
    ...later.map((rank) => `${label(rank)} ${any ? `在 ${rank.collectives_before} 次集合通信之后` : "随后"}出现差异。`),
  ].join("");
}

// SPDX-License-Identifier: Apache-2.0
// What the columns mean. The table of a comparison keeps the names of the CSV; those of a page of one dump are the page's own.
import type { Column } from "./columns";
import { language } from "./texts";

type Words = [english: string, chinese: string, own?: string];

// By the keys of csrc/report/page_columns.cpp; `own` is the title in Chinese on a page of one dump.
const MEANING: Record<string, Words> = {
  target_name: ["the row's name in target", "该行在目标中的名称", "名称"],
  golden_name: ["the row's name in golden", "该行在标杆中的名称"],
  target_dtype: ["type in target", "目标的数据类型", "类型"],
  golden_dtype: ["type in golden", "标杆的数据类型"],
  target_shape: ["shape in target", "目标的形状", "形状"],
  golden_shape: ["shape in golden", "标杆的形状"],
  target_grad: ["requires_grad in target", "目标的 requires_grad", "requires_grad"],
  golden_grad: ["requires_grad in golden", "标杆的 requires_grad"],
  max_diff: ["target minus golden, largest elements", "最大值之差：目标减标杆"],
  min_diff: ["target minus golden, smallest elements", "最小值之差：目标减标杆"],
  mean_diff: ["target minus golden, means", "均值之差：目标减标杆"],
  norm_diff: ["target minus golden, L2 norms", "L2 范数之差：目标减标杆"],
  max_error: ["relative error of the largest elements", "最大值的相对误差"],
  min_error: ["relative error of the smallest elements", "最小值的相对误差"],
  mean_error: ["relative error of the means", "均值的相对误差"],
  norm_error: ["relative error of the L2 norms", "L2 范数的相对误差"],
  cosine: ["cosine similarity of the two tensors", "两个张量的余弦相似度"],
  euclidean: ["Euclidean distance of the two tensors", "两个张量的欧氏距离"],
  max_abs: ["largest absolute error of an element", "元素的最大绝对误差"],
  max_rel: ["largest relative error of an element", "元素的最大相对误差"],
  one_thousandth: ["share of elements whose relative error is below 0.001", "相对误差小于千分之一的元素比例"],
  five_thousandths: ["share of elements whose relative error is below 0.005", "相对误差小于千分之五的元素比例"],
  target_max: ["largest element in target", "目标的最大值", "最大值"],
  target_min: ["smallest element in target", "目标的最小值", "最小值"],
  target_mean: ["mean in target", "目标的均值", "均值"],
  target_norm: ["L2 norm in target", "目标的 L2 范数", "L2 范数"],
  golden_max: ["largest element in golden", "标杆的最大值"],
  golden_min: ["smallest element in golden", "标杆的最小值"],
  golden_mean: ["mean in golden", "标杆的均值"],
  golden_norm: ["L2 norm in golden", "标杆的 L2 范数"],
  target_md5: ["checksum in target", "目标的校验值", "校验值"],
  golden_md5: ["checksum in golden", "标杆的校验值"],
  grad_consistent: ["whether requires_grad is the same", "requires_grad 是否相同"],
  result: ["pass, warning, error or unmatched, by the rules of the table", "按结果表的规则：通过、警告、错误或未匹配", "结果"],
  message: ["why the row has its result", "该结果的原因", "说明"],
  stack: ["where the call was made", "调用处"],
  data_name: ["files of the saved tensors", "保存的张量文件", "张量文件"],
  worst_index: ["where the elements are furthest apart", "相差最大的元素的位置"],
  worst_target: ["that element in target", "该元素在目标中的值"],
  worst_golden: ["that element in golden", "该元素在标杆中的值"],
  worst_ulp: ["steps of the coarser type between the two", "两者之间相隔的较粗类型的间隔数"],
  over_tolerance: ["elements that are not close by rtol and atol", "按 rtol 和 atol 超出容差的元素数"],
  target_special: ["NaN, +Inf, -Inf and zero elements in target", "目标中 NaN、+Inf、-Inf 和零元素的个数", "特殊值"],
  golden_special: ["NaN, +Inf, -Inf and zero elements in golden", "标杆中 NaN、+Inf、-Inf 和零元素的个数"],
  distance: ["how far the tensors are apart, as where it starts measures it: about half the relative L2 error", "两个张量相差多远，与“差异从哪里开始”的尺度相同：约为相对 L2 误差的一半"],
  order: ["the place in the order of execution", "在执行顺序中的位置", "顺序"],
};

let ofView = false;

/** Told once: whether the page is of one dump. */
export function setTitlesOfView(is: boolean): void {
  ofView = is;
}

export function columnTitle(column: Column): string {
  return language() === "zh" && ofView ? (MEANING[column.key]?.[2] ?? column.title) : column.title;
}

export function columnHint(column: Column): string {
  return MEANING[column.key]?.[language() === "zh" ? 1 : 0] ?? column.title;
}

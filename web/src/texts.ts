// SPDX-License-Identifier: Apache-2.0
// Every word of the page, in English and in Chinese.

const ENGLISH = {
  compare_title: "Comparison of two dumps",
  view_title: "A dump",
  language: "中文",
  theme: "Theme",
  theme_auto: "as the system",
  theme_light: "light",
  theme_dark: "dark",
  copy_link: "Copy link to this place",
  copied: "Copied",
  loading: "Unpacking the rows",
  verdict: "Where it starts",
  view_verdict: "What stands out",
  no_verdict: "Checksums were compared: which rows differ stands in the table; how far they part cannot be told.",
  detail_of_verdict: "The calls around it, and what limits the finding",
  dumps: "Dumps",
  target: "target",
  golden: "golden",
  one_dump: "dump",
  written: "written",
  page_made: "page made",
  compute_type: "compute type",
  seconds: "compared in {0} s",
  rows: "{0} rows",
  pass: "pass",
  warning: "warning",
  error: "error",
  unmatched: "unmatched",
  unpaired: "Without a partner",
  warnings: "Warnings",
  overview: "Ranks and steps",
  overview_hint: "Largest relative error of each pair; choose one to see its rows.",
  step: "step",
  growth: "Largest relative error by step",
  not_compared: "could not be compared",
  chart_compare: "Relative error in the order of execution",
  chart_view: "Statistics in the order of execution",
  chart_hint: "Drag to zoom, double click for everything, click to choose the row.",
  chart_none: "There are no numbers to draw.",
  zoom_in: "Zoom in",
  zoom_out: "Zoom out",
  zoom_left: "Earlier",
  zoom_right: "Later",
  zoom_all: "Everything",
  not_finite: "NaN or Inf",
  tree: "Modules",
  tree_search: "Search modules",
  tree_all: "All modules",
  more: "{0} more",
  table: "Rows",
  filter_text: "Name has",
  filter_dtype: "Type",
  any: "any",
  clear: "Clear filter",
  columns: "Columns",
  copy_csv: "Copy as CSV",
  shown: "{0} of {1} rows",
  copied_rows: "{0} rows copied",
  copied_part: "The first {0} rows copied; the table of the comparison has all",
  left_out: "{0} of {1} rows are in this page, those that did not pass before others, since a page carries {2} at most.",
  left_out_files: "All rows: {0}",
  left_out_none: "The same command with --format csv,html writes all rows.",
  nothing: "No rows",
  no_selection: "Choose a row in the chart or in the table to see both records.",
  record: "The chosen row",
  close: "Close",
  difference: "difference",
  relative: "relative",
  name: "name",
  dtype: "dtype",
  shape: "shape",
  grad: "requires_grad",
  norm: "norm",
  max: "max",
  min: "min",
  mean: "mean",
  nan: "NaN",
  pos_inf: "+Inf",
  neg_inf: "-Inf",
  zero: "zero",
  md5: "md5",
  worst_index: "worst element at",
  worst_value: "worst element",
  worst_ulp: "steps apart (ULP)",
  over_tolerance: "elements over tolerance",
  messages: "Messages",
  stack: "Called from",
  acl_save: "To save this tensor, paste into the forward of {0}, x being the tensor:",
  copy: "Copy",
  sign_not_finite: "NaN or Inf first appears in {0}",
  sign_not_finite_own: "NaN or Inf first appears in {0}, whose inputs were finite",
  sign_none: "All numbers are finite.",
  signs_dead: "{0} outputs are all zero",
  signs_mostly_zero: "{0} outputs are zero to 99 % or more",
  signs_constant: "{0} outputs have the same value everywhere",
  signs_saturated: "{0} outputs are saturated: nearly every element has the largest magnitude",
  signs_limit: "{0} outputs reach the largest number of their type",
  signs_not_finite: "{0} tensors have NaN or Inf",
} as const;

export type Key = keyof typeof ENGLISH;

const CHINESE: Record<Key, string> = {
  compare_title: "两次运行的比对",
  view_title: "单次运行的数据",
  language: "English",
  theme: "主题",
  theme_auto: "跟随系统",
  theme_light: "浅色",
  theme_dark: "深色",
  copy_link: "复制当前位置的链接",
  copied: "已复制",
  loading: "正在展开数据",
  verdict: "差异从哪里开始",
  view_verdict: "值得注意之处",
  no_verdict: "比对的是校验值：表中列出不同的行，但无法得知相差多少。",
  detail_of_verdict: "前后的调用，以及结论的限制",
  dumps: "数据来源",
  target: "目标",
  golden: "标杆",
  one_dump: "数据",
  written: "写入时间",
  page_made: "页面生成时间",
  compute_type: "计算类型",
  seconds: "比对用时 {0} 秒",
  rows: "{0} 行",
  pass: "通过",
  warning: "警告",
  error: "错误",
  unmatched: "未匹配",
  unpaired: "没有对应的数据",
  warnings: "提示",
  overview: "卡与步",
  overview_hint: "每一对数据的最大相对误差；点击查看其各行。",
  step: "步",
  growth: "各步的最大相对误差",
  not_compared: "无法比对",
  chart_compare: "按执行顺序的相对误差",
  chart_view: "按执行顺序的统计量",
  chart_hint: "拖动放大，双击还原，点击选中该行。",
  chart_none: "没有可以绘制的数值。",
  zoom_in: "放大",
  zoom_out: "缩小",
  zoom_left: "向前",
  zoom_right: "向后",
  zoom_all: "全部",
  not_finite: "NaN 或 Inf",
  tree: "模块",
  tree_search: "搜索模块",
  tree_all: "全部模块",
  more: "还有 {0} 个",
  table: "数据行",
  filter_text: "名称包含",
  filter_dtype: "类型",
  any: "不限",
  clear: "清除筛选",
  columns: "列",
  copy_csv: "复制为 CSV",
  shown: "{1} 行中的 {0} 行",
  copied_rows: "已复制 {0} 行",
  copied_part: "已复制前 {0} 行；全部数据见比对结果表",
  left_out: "本页含 {1} 行中的 {0} 行，未通过的行优先；一个页面最多容纳 {2} 行。",
  left_out_files: "全部数据：{0}",
  left_out_none: "同一命令加上 --format csv,html 会写出全部数据。",
  nothing: "没有数据行",
  no_selection: "在图或表中选择一行，即可并排查看两侧的记录。",
  record: "选中的行",
  close: "关闭",
  difference: "差值",
  relative: "相对误差",
  name: "名称",
  dtype: "类型",
  shape: "形状",
  grad: "requires_grad",
  norm: "范数",
  max: "最大值",
  min: "最小值",
  mean: "均值",
  nan: "NaN",
  pos_inf: "+Inf",
  neg_inf: "-Inf",
  zero: "零",
  md5: "md5",
  worst_index: "最差元素位置",
  worst_value: "最差元素",
  worst_ulp: "相差的最小间隔数 (ULP)",
  over_tolerance: "超出容差的元素数",
  messages: "说明",
  stack: "调用处",
  acl_save: "要保存这个张量，请把下面这行加到 {0} 的 forward 中，x 为该张量：",
  copy: "复制",
  sign_not_finite: "NaN 或 Inf 最早出现在 {0}",
  sign_not_finite_own: "NaN 或 Inf 最早出现在 {0}，其输入均为有限值",
  sign_none: "所有数值均为有限值。",
  signs_dead: "{0} 个输出全为零",
  signs_mostly_zero: "{0} 个输出 99 % 以上为零",
  signs_constant: "{0} 个输出处处相同",
  signs_saturated: "{0} 个输出已饱和：几乎所有元素都取最大幅值",
  signs_limit: "{0} 个输出达到其类型的最大值",
  signs_not_finite: "{0} 个张量含有 NaN 或 Inf",
};

export type Language = "en" | "zh";
const KEPT = "msprobe-language";
let chosen: Language | null = null;

function kept(): string | null {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null; // some browsers give pages of files no storage
  }
}

/** What was chosen before, else the browser's first language. */
export function language(): Language {
  if (chosen === null) {
    const before = kept();
    chosen = before === "en" || before === "zh" ? before : navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
  }
  return chosen;
}

export function setLanguage(wanted: Language): void {
  chosen = wanted;
  try {
    localStorage.setItem(KEPT, wanted);
  } catch {
    // It holds for this page then.
  }
}

export function text(key: Key, ...values: (string | number)[]): string {
  const pattern = (language() === "zh" ? CHINESE : ENGLISH)[key];
  return pattern.replace(/\{(\d)\}/g, (_, place: string) => String(values[Number(place)] ?? ""));
}

export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

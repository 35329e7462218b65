# SPDX-License-Identifier: Apache-2.0
# Whole-net statistics of a captured graph: ten replays, ten dumps. Lines marked (msprobe) in the README are msprobe's.

import torch
import torch_npu
from msprobe.pytorch import AclGraphDumper

N,D_in, H, D_out = 640, 4096, 2048, 1024
# 模型初始化
model = torch.nn.Sequential(
  torch.nn.Linear(D_in, H),
  torch.nn.ReLU(),
  torch.nn.Linear(H, D_out)
).npu()
# 初始化配置
dumper = AclGraphDumper('./acl_config.json')
# 在编图前配置采集任务
dumper.start(model)
static_input = torch.randn(N, D_in).npu()
static_target = torch.randn(N, D_out).npu()

g = torch.npu.NPUGraph()
# 编图
with torch.npu.graph(g):
  static_target = model(static_input)

real_inputs = [torch.rand_like(static_input) for _ in range(10)]
real_targets = [torch.rand_like(static_target) for _ in range(10)]

for data, target in zip(real_inputs, real_targets):
  static_input.copy_(data)
  static_target.copy_(target)
  # 图replay
  g.replay()
  # 数据落盘
  dumper.step()

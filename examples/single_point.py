# SPDX-License-Identifier: Apache-2.0
"""The guide's single-point quick start: saves an intermediate tensor of a forward. The folder ./dump must exist."""

import torch
import torch_npu

from msprobe.pytorch import acl_save


class ToyModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 4)

    def forward(self, x):
        y = self.linear(x)
        # 保存中间张量
        acl_save(y, "./dump/linear_out.pt")
        return y


if __name__ == "__main__":
    model = ToyModel().to("npu:0")
    x = torch.randn(2, 8, device="npu:0")
    out = model(x)

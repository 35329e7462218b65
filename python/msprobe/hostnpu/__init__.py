# SPDX-License-Identifier: Apache-2.0
"""hostnpu: run NPU programs with the real torch_npu on a machine without an NPU. `python -m msprobe.hostnpu run script.py`.

Nothing here imports torch: the libraries must be in place before torch_npu is loaded, so `run` starts Python anew.
"""

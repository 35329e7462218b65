# SPDX-License-Identifier: Apache-2.0
"""Does all that the graph tests do to the runtime's objects and destroys what it made, for a leak detector to look at. With the
argument `leak` it forgets one tensor, which the detector must find."""

from __future__ import annotations

import sys

import acl
from test_c_leaks import WAYS

acl.set_device(0)
origin, side = acl.create_stream(), acl.create_stream()
for way in WAYS:
    for _ in range(10):
        way(origin, side)
for stream in (origin, side):
    acl.ok("aclrtDestroyStream", stream)
if "leak" in sys.argv[1:]:
    memory = acl.malloc(8)
    for _ in range(3):
        acl.tensor(memory, 2)
    memory = None
print("all ways done")

# SPDX-License-Identifier: Apache-2.0
"""The one exception of the launcher: what it says is shown in one line."""


class HostnpuError(Exception):
    """Why hostnpu cannot start, with what to do about it."""

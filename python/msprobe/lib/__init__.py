# SPDX-License-Identifier: Apache-2.0
"""The native half of msprobe."""

# SPDX-License-Identifier: Apache-2.0
"""msprobe: see inside a captured PyTorch graph. The user's entry is `msprobe.pytorch`; importing this costs no torch."""

from msprobe._name_clash import check_name_clash

__version__ = "0.1.0"

check_name_clash()

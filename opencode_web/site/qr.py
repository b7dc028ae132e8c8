"""QR codes (ISO/IEC 18004), drawn for a template."""

from __future__ import annotations

from dataclasses import dataclass

import qrcode
from qrcode.constants import ERROR_CORRECT_M

BORDER = 4
"""Modules around it that stay light, as the standard wants."""


@dataclass(frozen=True, slots=True)
class Code:
    """`path` is what an SVG of `size` by `size` has dark."""

    size: int
    path: str


def code(text: str) -> Code:
    """Raises ValueError for a text that is too long for one."""
    made = qrcode.QRCode(error_correction=ERROR_CORRECT_M, border=BORDER)
    made.add_data(text)
    made.make(fit=True)
    rows = made.get_matrix()
    dark = ((x, y) for y, row in enumerate(rows) for x, is_dark in enumerate(row) if is_dark)
    return Code(len(rows), "".join(f"M{x} {y}h1v1h-1z" for x, y in dark))

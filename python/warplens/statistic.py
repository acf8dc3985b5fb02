"""A figure over trials."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple


@dataclass(frozen=True)
class Statistic:
    """A figure over trials. `spread95` is the mean ± 2 standard deviations, `ci95` the interval of the mean."""

    mean: float
    std: float
    ci95: Tuple[float, float]
    spread95: Tuple[float, float]

    @staticmethod
    def read(data: Optional[Dict[str, Any]]) -> Optional[Statistic]:
        if data is None:
            return None
        return Statistic(data["mean"], data["std"], (data["ci95"][0], data["ci95"][1]), (data["spread95"][0], data["spread95"][1]))

    def __float__(self) -> float:
        return self.mean

    def __str__(self) -> str:
        return f"{self.mean:.4g} ± {2 * self.std:.2g}"

    def _repr_html_(self) -> str:
        return html.escape(str(self))

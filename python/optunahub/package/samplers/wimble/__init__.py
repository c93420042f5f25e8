"""Wimble's sampler, in OptunaHub's layout."""

from wimble.optuna import WimbleSampler

__all__ = ["WimbleSampler"]

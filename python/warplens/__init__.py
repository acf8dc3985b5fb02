"""Reads the results of Warplens (`warplens-result/1`): kernels and memory accesses of CUDA programs, with their figures."""

from .result import Kernel, Result, ResultError, Site, Statistic, load, loads

__all__ = ["Kernel", "Result", "ResultError", "Site", "Statistic", "load", "loads"]
__version__ = "0.1.0"

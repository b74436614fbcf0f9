"""RAPTOR (Sarthi et al. 2024)."""

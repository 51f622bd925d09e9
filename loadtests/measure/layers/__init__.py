"""Benchmarks of the channel layers alone: round trips between two processes, and deliveries to a group."""

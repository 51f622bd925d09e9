"""The run folder: written, read and checked as a whole. It holds trials, whose types are beside it."""

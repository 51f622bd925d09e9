"""Remove processes and folders when their owner ends, even by SIGKILL."""

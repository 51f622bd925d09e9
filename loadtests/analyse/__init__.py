"""From observations to intervals and verdicts. Pure: numbers in, numbers out."""

"""The benchmark of the statistics: data of known truth in, false verdicts and missed effects out."""

"""The house-keeping behind ``make lab`` and ``make test``: scripts, standard library only."""

"""One step: a Provider Turn, from what is sampled at its start to the last settled call."""

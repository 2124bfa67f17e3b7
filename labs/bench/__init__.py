"""The bench: one panel in which a learner turns a knob and watches latency, rates and cores answer."""

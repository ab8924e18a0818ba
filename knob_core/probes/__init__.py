"""The paper's three probes as functions that return numbers: E-1 `temperature`, E-2 `learning`, E-3 `dynamics`."""

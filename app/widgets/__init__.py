"""Parts that several pages share: knobs, our browser components, charts, columns, and checks of untrusted values."""

"""Numbers in, plotly-shaped figures out: dicts with `data` and `layout`, drawn by the browser's painter or by plotly."""

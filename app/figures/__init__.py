"""Numbers in, plotly-shaped figures out: dicts with `data` and `layout`, for the browser's painter or plotly."""

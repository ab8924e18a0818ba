// What of plotly's figures the painter draws. `keys`: what it reads of each object (`trace`: of every trace).
// `ignored`: what figures also have, because plotly needs it when a figure is exported. `values`: all words that a key
// may have. tests/js/features.test.js compares this list with the painter, tests/app/figures/test_painter_features.py
// with our figures.

// prettier-ignore
export const FEATURES =
{
  "keys": {
    "layout": ["annotations", "classes", "margin", "shapes"],
    "margin": ["b", "l", "r", "t"],
    "axis": [
      "anchor", "domain", "range", "scaleanchor", "showgrid", "ticktext", "tickvals", "title", "titlegap", "type"
    ],
    "axis.title": ["font", "text"],
    "axis.title.font": ["color"],
    "trace": ["type", "xaxis", "yaxis"],
    "scatter": ["dx", "error_y", "fill", "fillcolor", "hover", "line", "marker", "mode", "name", "x", "x0", "y"],
    "scatter.line": ["color", "dash", "shape", "width"],
    "scatter.marker": ["color", "line", "size", "symbol"],
    "scatter.marker.line": ["width"],
    "scatter.error_y": ["array", "color"],
    "bar": ["marker", "width", "x", "y"],
    "bar.marker": ["color"],
    "heatmap": ["colorscale", "dx", "x0", "y0", "ygap", "z"],
    "ribbon": ["name", "y0", "z"],
    "shape": ["fillcolor", "layer", "line", "type", "x0", "x1", "xref", "y0", "y1", "yref"],
    "shape.line": ["color", "dash", "width"],
    "annotation": ["font", "text", "x", "xanchor", "xref", "xshift", "y", "yref", "yshift"],
    "annotation.font": ["color", "weight"],
    "packed": ["bdata", "dtype"]
  },
  "ignored": {
    "scatter": ["hoverinfo"],
    "scatter.error_y": ["type"],
    "heatmap": ["dy", "showscale", "zmax", "zmin"],
    "annotation": ["showarrow"]
  },
  "values": {
    "axis.type": ["log"],
    "trace.type": ["bar", "heatmap", "ribbon", "scatter"],
    "scatter.mode": ["lines", "lines+markers", "markers"],
    "scatter.fill": ["tonexty"],
    "scatter.line.dash": ["", "dash", "dot", "solid"],
    "scatter.line.shape": ["hv"],
    "scatter.marker.symbol": ["circle", "circle-open", "x"],
    "shape.type": ["circle", "line", "rect"],
    "shape.layer": ["below"],
    "shape.line.dash": ["dash", "dot", "solid"],
    "annotation.xanchor": ["left", "right"],
    "packed.dtype": ["f4", "i2"]
  }
};

"""Charts as Vega-Lite JSON, and offline pages that draw them with vendored JavaScript."""

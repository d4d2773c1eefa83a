"""One self-contained HTML page: no network, no inline event handlers, a strict content security policy.

Charts are drawn by vendored Vega. Its expressions run in an interpreter, so the policy need not allow eval.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2

_IMPORT = "import { ascending, isString, DisallowedObjectProperties } from 'vega-util';"
_EXPORT = "export { expression as expressionInterpreter };"
_DRAW = """
(function () {
  const specs = JSON.parse(document.getElementById('charts').textContent);
  const look = {background: null, title: {color: 'var(--ink)'}, view: {stroke: null},
    font: 'system-ui, "DejaVu Sans", sans-serif',
    axis: {labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal',
      labelColor: 'var(--ink)', titleColor: 'var(--ink)', gridColor: 'var(--line)',
      domainColor: 'var(--faint)', tickColor: 'var(--faint)'},
    text: {fill: 'var(--ink)'},
    range: {category: ['var(--after)', 'var(--third)', 'var(--fourth)', 'var(--fifth)', 'var(--sixth)',
      'var(--before)', 'var(--good)', 'var(--bad)', 'var(--ink)', 'var(--faint)']},
    legend: {labelFontSize: 11, labelColor: 'var(--ink)', titleColor: 'var(--ink)', orient: 'bottom',
      columns: document.body.clientWidth < 500 ? 2 : 3}};
  for (const [id, spec] of Object.entries(specs)) {
    const place = document.getElementById(id);
    const drawn = Object.assign({}, spec, {config: look});
    if (drawn.width === 'container') {
      drawn.width = Math.max(220, place.clientWidth - (drawn.autosize ? 2 : 60));
    }
    const runtime = vega.parse(vegaLite.compile(drawn).spec, null, {ast: true});
    const view = {expr: shoalInterpreter, renderer: 'svg', container: place, hover: true};
    new vega.View(runtime, view).runAsync();
  }
})();
"""


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a page: a heading, prose, an optional table and an optional chart."""

    heading: str
    text: str = ""
    header: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    chart: dict[str, Any] | None = None


@cache
def _vendored(name: str) -> str:
    text = files(__package__).joinpath("vendor", name).read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if "sourceMappingURL" not in line)


@cache
def scripts() -> tuple[str, ...]:
    """Return the scripts of a page with charts, in the order they must run."""
    interpreter = _vendored("vega-interpreter.js")
    if _IMPORT not in interpreter or _EXPORT not in interpreter:
        raise RuntimeError("the vendored vega-interpreter is not the version the page builder knows")
    body = interpreter.replace(_IMPORT, "const { ascending, isString, DisallowedObjectProperties } = vega;")
    body = body.replace(_EXPORT, "return expression;")
    wrapped = f"const shoalInterpreter = (function () {{\n{body}\n}})();"
    return _vendored("vega.min.js"), _vendored("vega-lite.min.js"), wrapped, _DRAW


def render(title: str, lead: str, sections: list[Section]) -> str:
    """Return the page as HTML; every text in it is escaped."""
    charts = {f"chart-{i}": s.chart for i, s in enumerate(sections) if s.chart is not None}
    return rendered("page.html", charts, title=title, lead=lead, sections=sections)


def rendered(template: str, charts: dict[str, dict[str, Any]], **content: Any) -> str:
    """Return a template filled in, with the scripts and the policy its charts need; every text is escaped."""
    code = scripts() if charts else ()
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    hashes = " ".join(f"'sha256-{_sha256(script)}'" for script in code)
    return environment.get_template(template).render(
        scripts=code,
        script_policy=hashes or "'none'",
        # "</script>" inside a string of a specification must not end the element that holds it.
        charts=json.dumps(charts).replace("<", "\\u003c"),
        **content,
    )


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

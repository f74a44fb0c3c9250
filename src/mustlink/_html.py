"""Values as HTML in a notebook: a heading, small tables and lists, in the colors of the page, all text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from mustlink._spelling import count

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["HtmlList", "HtmlTable", "render_html"]

# Inline styles, because some viewers of notebooks remove style sheets. Text keeps the color of the page, and lines
# are a gray that is seen on light and on dark.
TEMPLATE = """\
{% set line = "border: 0; border-bottom: 1px solid rgba(127, 127, 127, 0.45)" -%}
{% set cell = "padding: 0.2em 0.8em; background: transparent; vertical-align: top; white-space: normal; " -%}
{% macro more(number, noun) %}{% if number > 0 -%}
<div style="opacity: 0.75">and {{ count(number, "more " + noun) }}</div>
{% endif %}{% endmacro -%}
<div style="max-width: 60em; line-height: 1.4">
<div>{% if title %}<b>{{ title }}</b>{% endif %} {{ text }}</div>
{% for table in tables if table.rows -%}
<table style="border-collapse: collapse; margin: 0.4em 0"><thead><tr>
{%- for name in table.columns -%}
<th style="{{ cell }}{{ line }}; text-align: {{ side[table.align[loop.index0]] }}">{{ name }}</th>
{%- endfor -%}
</tr></thead><tbody>
{% for row in table.rows -%}
<tr style="background: transparent">
{%- for value in row -%}
<td style="{{ cell }}{{ line }}; text-align: {{ side[table.align[loop.index0]] }}">
{%- for part in value.split("\\n") %}{% if not loop.first %}<br>{% endif %}{{ part }}{% endfor -%}
</td>
{%- endfor -%}
</tr>
{% endfor -%}
</tbody></table>
{{ more(table.total - table.rows | length, table.noun) }}
{%- endfor -%}
{% for part in lists if part.lines -%}
<div style="margin-top: 0.4em">{{ part.heading }}</div>
<ul style="margin: 0.2em 0">
{% for text in part.lines -%}
<li>{{ text }}</li>
{% endfor -%}
</ul>
{{ more(part.total - part.lines | length, part.noun) }}
{%- endfor -%}
</div>
"""
SIDES = {"<": "left", ">": "right"}


@dataclass(frozen=True)
class HtmlTable:
    """The first rows of a table; `align` has < or > for each column, `total` counts all rows, each a `noun`."""

    columns: Sequence[str]
    align: str
    rows: Sequence[Sequence[str]]
    total: int = 0
    noun: str = "row"


@dataclass(frozen=True)
class HtmlList:
    """A heading and the first lines of a list; `total` counts all lines, each a `noun`."""

    heading: str
    lines: Sequence[str]
    total: int = 0
    noun: str = "line"


def render_html(title: str, text: str = "", *parts: HtmlTable | HtmlList) -> str:
    """Lay out a value as HTML: a bold title and what follows it, then tables, then lists; empty parts are left out."""
    tables = [part for part in parts if isinstance(part, HtmlTable)]
    lists = [part for part in parts if isinstance(part, HtmlList)]
    return _template().render(title=title, text=text, tables=tables, lists=lists)


@cache
def _template() -> Template:
    """Compile the template; text is escaped, and a name that is not known is an error."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.globals.update(count=count, side=SIDES)
    return environment.from_string(TEMPLATE)

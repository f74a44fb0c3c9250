"""The style sheet of the page.

The colours of the clusters are those of Okabe and Ito, which people with any kind of colour blindness can tell
apart, without the yellow, which is lost on white; their black turns to grey in the dark.
"""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1c2127; --soft: #59636e; --rule: #d5dae0; --panel: #f6f7f9; --edge: #1c212780;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #cc79a7; --c4: #e69f00; --c5: #56b4e9; --c6: #333333;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --ink: #e8ebee; --soft: #a2abb5; --rule: #363d45; --panel: #1b1f24; --edge: #14171bcc;
    --c0: #2b8fd0; --c6: #c4c9ce;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1.25rem 3rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
.lead { font-size: 1.1rem; margin: 0 0 1.2rem; }
.note, figcaption, td span, li span { color: var(--soft); }
.note, figcaption { font-size: .9rem; }
figure { margin: 0; }
.scatter { display: block; width: 100%; height: auto; background: var(--panel);
  border: 1px solid var(--rule); border-radius: 8px; }
.curve { display: block; width: 100%; height: auto; background: var(--panel);
  border: 1px solid var(--rule); border-radius: 8px; }
.curve polyline { fill: none; stroke: var(--c0); stroke-width: 2; }
.curve circle { fill: var(--c0); }
.mark { stroke: var(--edge); stroke-width: .7; }
.c0 { fill: var(--c0); } .c1 { fill: var(--c1); } .c2 { fill: var(--c2); } .c3 { fill: var(--c3); }
.c4 { fill: var(--c4); } .c5 { fill: var(--c5); } .c6 { fill: var(--c6); stroke: var(--panel); }
.cn { fill: none; stroke: var(--soft); stroke-width: 1.3; }
.link { stroke: var(--soft); stroke-width: 1; stroke-opacity: .6; fill: none; }
.link.cannot { stroke-dasharray: 5 4; }
.link.broken { stroke: var(--ink); stroke-width: 2.4; stroke-opacity: 1; }
.link.broken.cannot { stroke-dasharray: 8 5; }
.under { fill: none; stroke: var(--paper); stroke-width: 5.4; stroke-opacity: .8; }
.end { fill: none; stroke: var(--ink); stroke-width: 1.8; }
.numbers text { font: 700 19px system-ui, sans-serif; text-anchor: middle; dominant-baseline: central;
  fill: var(--ink); stroke: var(--paper); stroke-width: 5px; stroke-linejoin: round; paint-order: stroke;
  pointer-events: none; }
.swatch { width: 1em; height: 1em; vertical-align: -.12em; overflow: visible; }
.swatch.wide { width: 2.4em; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; padding: 0; margin: .6rem 0 0; }
.legend li { white-space: nowrap; }
figcaption { margin-top: .5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; }
.clusters { width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .45rem 1rem .45rem 0; border-bottom: 1px solid var(--rule);
  overflow-wrap: anywhere; }
thead th { color: var(--soft); font-size: .85rem; font-weight: 600; white-space: nowrap; }
tbody th { font-weight: 600; white-space: nowrap; }
.number, .counts thead th { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.clusters thead th:nth-child(2), .clusters thead th:nth-child(3) { text-align: right; }
.traits { list-style: none; margin: 0; padding: 0; }
.traits b { font-weight: 600; }
.traits span { display: inline-block; }
.clusters td:nth-child(5) { min-width: 20rem; }
.run { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.2rem; margin: 0; }
.run dt { color: var(--soft); }
.run dd { margin: 0; overflow-wrap: anywhere; font-family: ui-monospace, monospace; font-size: .92em; }
section > ul { padding-left: 1.2rem; overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  .clusters thead { display: none; }
  .clusters, .clusters tbody, .clusters tr, .clusters th, .clusters td { display: block; }
  .clusters tr { border-bottom: 1px solid var(--rule); padding: .6rem 0; }
  .clusters th, .clusters td { border: 0; padding: .1rem 0; text-align: left; }
  .clusters td:nth-child(5) { min-width: 0; }
  .clusters td::before { content: attr(data-name) ": "; color: var(--soft); font-size: .85rem; }
  .run { grid-template-columns: 1fr; }
  .run dd { margin-bottom: .4rem; }
}
@media print {
  :root { --panel: #ffffff; }
  main { max-width: none; padding: 0; }
  figure, tr { break-inside: avoid; }
}
"""

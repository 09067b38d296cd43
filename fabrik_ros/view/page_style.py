"""
The little that the page has besides what viser offers: a style sheet and two scripts.

viser has no lasting place for one button, no rows of buttons, and sliders of a third of the width;
its hot keys are dead while a box is in focus that can be ticked, and Firefox presses a focused
button with the space bar all the same. Where a browser or a later viser does not know what is
written here, the page looks plainer and works.

"""

STATUS_HEIGHT = 9.0
"""Of the place for state and reason, whatever there is to say [em]."""

STYLE = f"""
.fabrik-status, .fabrik-events {{ contain: inline-size; }}  /* no word widens the panel */
.fabrik-status {{
  box-sizing: border-box; height: {STATUS_HEIGHT}em; padding: 0 0.8em 0.3em; line-height: 1.35;
  display: flex; flex-direction: column; font-size: 0.9em;
}}
.fabrik-status .head {{ font-size: 1.15em; font-weight: 650; height: 1.45em; flex: none; }}
.fabrik-status .head small {{ font-weight: 400; color: #666; float: right; }}
.fabrik-status .why {{ flex: 1; overflow-y: auto; overflow-wrap: anywhere; }}
.fabrik-status .near {{
  flex: none; height: 1.4em; overflow: hidden; white-space: nowrap; text-overflow: ellipsis;
  color: #555;
}}
.fabrik-status.past {{ background: #eef3fb; }}
.fabrik-events {{
  height: 7em; overflow-y: auto; padding: 0 0.8em 0.5em; font-size: 0.8em; line-height: 1.35;
}}
.fabrik-legend {{
  display: flex; gap: 0.6em; height: 1.6em; padding: 0 0.9em; font-size: 0.8em; color: #555;
  align-items: center; white-space: nowrap;
}}
.fabrik-legend i {{ flex: 1; height: 0.6em; border-radius: 0.3em; }}
.fabrik-waypoints {{
  height: 6.2em; overflow-y: auto; padding: 0 0.9em 0.4em; font-size: 0.85em; line-height: 1.5;
  contain: inline-size; font-variant-numeric: tabular-nums;
}}
.fabrik-waypoints .chosen {{ color: #1f6feb; font-weight: 650; }}
.fabrik-events div {{ overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }}

/* Stop stays at the top, however far one scrolls. */
div:has(> div > div > .fabrik-stop), div:has(> div > div > div > .fabrik-stop) {{
  overflow: visible !important;
}}
div:has(> .fabrik-stop) + div {{
  position: sticky; top: 0; z-index: 20; background: var(--mantine-color-body);
}}
div:has(> .fabrik-stop) + div button {{ height: 2.6em !important; font-weight: 650; }}

/* Three buttons in a row. */
div:has(> .fabrik-row) + div, div:has(> .fabrik-row) + div + div,
div:has(> .fabrik-row) + div + div + div {{
  display: inline-block; width: calc((100% - 2 * var(--mantine-spacing-xs)) / 3 - 0.34em);
  margin-inline: 0 0.5em !important;
}}
div:has(> .fabrik-row) + div {{ margin-inline-start: var(--mantine-spacing-xs) !important; }}
div:has(> .fabrik-row) + div + div + div {{ margin-inline-end: 0 !important; }}
div:has(> .fabrik-row) ~ div > button {{ padding-inline: 0.4em; }}

/* Sliders are as wide as the panel, below their names; their numbers are not cut off. */
.mantine-Flex-root:has(> div > .mantine-Flex-root > .mantine-Slider-root),
.mantine-Flex-root:has(> div > div > .mantine-Flex-root > .mantine-Slider-root) {{
  display: block;
}}
.mantine-Flex-root:has(> div .mantine-Slider-root) > div:first-child {{ width: 100% !important; }}
.mantine-Slider-root + .mantine-NumberInput-root {{ width: 4.4rem !important; }}
/* Nor are three numbers beside each other. */
.mantine-Flex-root:has(> div > .mantine-Flex-root > .mantine-NumberInput-root + div)
  > div:first-child {{ width: 4.2em !important; }}
.mantine-Flex-root:has(> .mantine-NumberInput-root + .mantine-NumberInput-root) input {{
  padding-inline: 0.2em 1.3em !important;
}}
.mantine-Slider-thumb:focus-visible {{ outline: 2px solid #1f6feb; outline-offset: 2px; }}
.uplot-container {{ contain: inline-size; }}
.uplot-container .u-title {{ font-size: 0.8em; font-weight: 450; color: #555; }}

div:has(> .fabrik-hidden) + div {{ display: none; }}

@media (min-width: 36em) {{  /* So does the state. */
  div:has(> .fabrik-status) {{
    position: sticky; top: 2.6em; z-index: 19; background: var(--mantine-color-body);
  }}
}}
@media (max-width: 36em) {{
  .mantine-ScrollArea-content > div > div:has(+ div .fabrik-stop) {{
    position: sticky; top: 0; z-index: 21; background: var(--mantine-color-body);
  }}
  div:has(> .fabrik-stop) + div {{ top: 3.5em; }}
  .mantine-Paper-root:has(.fabrik-stop) {{ width: 100% !important; }}
  .mantine-Paper-root:has(.fabrik-stop) .mantine-ScrollArea-viewport > div > div {{
    width: 100% !important;
  }}
}}
"""

SPACE = """
if (!window.fabrikSpace) {
  window.fabrikSpace = true;
  const text = ['text', 'number', 'search', 'email', 'url', 'tel', 'password'];
  const typing = (e) => e && (e.isContentEditable || e.tagName === 'TEXTAREA' ||
    (e.tagName === 'INPUT' && text.includes(e.type) && !e.readOnly));
  const take = (event) => {
    if (event.code !== 'Space' || !event.isTrusted || typing(event.target)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.type !== 'keydown' || event.repeat) return;
    document.documentElement.dispatchEvent(
      new KeyboardEvent('keydown', {key: ' ', code: 'Space', bubbles: true}));
  };
  for (const type of ['keydown', 'keyup', 'keypress']) window.addEventListener(type, take, true);
}
"""
"""Gives the space bar to the hot key of Stop, before any element that is in focus gets it."""

PLACE = """
const press = (tries) => {
  const place = narrow.matches ? 'below' : 'beside';
  const button = document.querySelector(`div:has(> .fabrik-${place}) + div button`);
  if (button) button.click(); else if (tries) setTimeout(press, 100, tries - 1);
};
const narrow = matchMedia('(max-width: 36em)');
narrow.addEventListener('change', () => press(50));
press(50);
"""
"""Presses one of two buttons that nobody sees, by where viser puts the panel."""

PIXEL = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA='
"""A picture of nothing: its arrival is what runs a script in an element of viser."""


def head() -> str:
    """Return what the first element of the panel has to contain."""
    return f'<style>{STYLE}</style>{_running(SPACE)}'


def hidden(name: str) -> str:
    """Return what comes before an element that has a name, and that nobody sees."""
    return f'<span class="fabrik-hidden fabrik-{name}"></span>'


def place_script() -> str:
    """Return what tells where the panel is, by the hidden buttons `below` and `beside`."""
    return _running(PLACE)


def _running(script: str) -> str:
    escaped = script.replace('&', '&amp;').replace('"', '&quot;')
    return (
        f'<img src="{PIXEL}" alt="" width="0" height="0" style="display:block" onload="{escaped}">'
    )

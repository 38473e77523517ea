"""Rules of a page that would spoil the explorer if they reached in, and how that is seen."""

#: rules as style sheets of notebooks, themes and resets have them, and worse
HOSTILE = """
dl { margin: 1em 0; } dt { float: left; width: 20%; clear: left; } dd { margin-left: 40px; }
dl dt:first-of-type { margin-top: 30px; }
button, input, select { min-width: 90px; padding: 9px; margin: 5px; border: 3px solid red;
  text-transform: uppercase; letter-spacing: 3px; font: 20px serif; }
input::placeholder { color: transparent; }
ul, li { list-style: square; margin-left: 3em; padding: 8px; }
table, th, td { border: 4px solid green; padding: 12px; font-size: 21px; }
svg, canvas, img { max-width: 50%; border: 2px solid; vertical-align: super; }
nav { display: none; } kbd { float: right; } p { text-indent: 4em; }
[hidden] { display: block; }
* { box-sizing: content-box !important; line-height: 3 !important; margin: 7px !important; }
div { padding: 6px !important; min-height: 40px !important; }
span, button { display: inline !important; color: red !important; float: left !important; }
*::before, *::after { content: "x" !important; }
"""

#: place and size of everything in the canvas, in the order of the document
RECTANGLES = """(host) => [...host.shadowRoot.querySelectorAll("*")]
  .filter((element) => element.getClientRects().length > 0).map((element) => {
  const at = element.getBoundingClientRect(), from = host.getBoundingClientRect();
  return [element.className.baseVal ?? element.className, element.textContent.slice(0, 20),
    ...[at.x - from.x, at.y - from.y, at.width, at.height].map((value) => Math.round(value)),
    getComputedStyle(element).color];
})"""

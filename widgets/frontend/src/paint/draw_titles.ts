/** Draws the titles of open groups that are seen from afar. */

import { type Pass, shareOf } from "./pass";
import { PADDING } from "./place_titles";
import { fontOf } from "./text";
import { categoryOf } from "./theme";

/** How much of what is under a title is covered. */
const GROUND = 0.92;
const RADIUS = 4;
/** The base line of the text, from the top of its ground in the ground's height. */
const BASELINE = 0.74;

export function drawTitles(pass: Pass): void {
  const { context, scene, palette, zoom } = pass;
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  // In pixels of the screen: letters of a few sizes are known to the browser at every zoom.
  context.save();
  context.scale(1 / zoom, 1 / zoom);
  for (const { box, text, size, ground } of pass.titles) {
    const share = shareOf(pass, box);
    const [x, y] = [ground.x * zoom, ground.y * zoom];
    const [width, height] = [ground.width * zoom, ground.height * zoom];
    context.font = fontOf("title", size);
    context.globalAlpha = GROUND * share;
    const colours = categoryOf(palette, scene.faceOf(box).category);
    context.fillStyle = colours.frame;
    context.beginPath();
    context.roundRect(x, y, width, height, RADIUS);
    context.fill();
    context.globalAlpha = share;
    context.fillStyle = colours.text;
    context.fillText(text, x + PADDING, y + height * BASELINE);
  }
  context.restore();
  context.globalAlpha = 1;
}

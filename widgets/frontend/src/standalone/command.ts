/** The command that draws what a page shows, as far as the page knows. */

import type { Focus } from "../address/link";
import type { CommandMessage } from "../host/messages";
import type { CanvasTraits } from "../host/traits";
import options, { type ThemeName } from "../scene/options";
import type { Opened } from "./compose";

/** What explorer/standalone/page.py says of the command: quoted for a shell there. */
export interface CommandStart {
  /** with all options but for those that can be changed on the page */
  readonly text: string;
  /** what opens the groups that are open at first; "" where no word says just that */
  readonly expand: string;
}

/**
 * Write the command.
 *
 * @param root what is open
 * @param isFirst whether that is what was open at first
 * @param focus the neighbourhood that alone is shown
 */
export function writeCommand(
  start: CommandStart,
  traits: Pick<CanvasTraits, "direction" | "paints">,
  theme: ThemeName,
  root: Opened,
  isFirst: boolean,
  focus: Focus | null = null,
): CommandMessage {
  const left: string[] = [];
  const words = [start.text];
  const expand = root.inner.size === 0 ? "none" : isFirst ? start.expand : "";
  if (expand) words.push("--expand", expand);
  else left.push("which groups are open: it opens what fits");
  if (traits.direction !== options.direction.default) words.push("--direction", traits.direction);
  if (theme !== options.theme.default) words.push("--theme", theme);
  if (focus) left.push(`that only what is around ${focus.path} is shown`);
  if (Object.keys(traits.paints).length > 0) left.push("how it is painted");
  left.push("in which folder the model is");
  return { type: "command", text: words.join(" "), left };
}

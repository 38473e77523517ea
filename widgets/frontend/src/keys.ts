/** Which key does what while the canvas has the keyboard. */

import type { Arrow } from "./walk";

export type Command =
  | { do: "walk"; arrow: Arrow }
  | { do: "zoom"; factor: number }
  | { do: "toggle" | "leave" | "search" | "fit" | "reset" | "first" };

type Keystroke = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">;

/** The command of a keystroke; null for keys that mean nothing here. */
export function readKey({ key, ctrlKey, metaKey, altKey }: Keystroke): Command | null {
  if (ctrlKey || metaKey || altKey) return null;
  switch (key) {
    case "ArrowUp":
    case "ArrowDown":
    case "ArrowLeft":
    case "ArrowRight":
      return { do: "walk", arrow: key };
    case "+":
    case "=":
      return { do: "zoom", factor: 1.25 };
    case "-":
    case "_":
      return { do: "zoom", factor: 1 / 1.25 };
    case "Enter":
      return { do: "toggle" };
    case "Escape":
      return { do: "leave" };
    case "/":
      return { do: "search" };
    case "f":
    case "F":
      return { do: "fit" };
    case "0":
      return { do: "reset" };
    case "Home":
      return { do: "first" };
    default:
      return null;
  }
}

/** The overlays of a page: what boxes can be coloured by, as explorer/standalone/overlay_block.py writes it. */

import type { LegendEntry } from "../host/messages";
import type { ThemeName } from "../scene/options";
import type { PaintsByPath, WrittenPaint } from "../scene/paints_by_path";
import { type Block, BlockError, type Texts } from "./block";
import type { Composed } from "./compose";

/** words of a line of the legend, its small pictures, "" for none, and the tone that it explains */
type Line = readonly [text: string, light: string, dark: string, tone: string];

/** the tone of boxes without a number */
const MISSING = "missing";

interface Row {
  readonly closed: ReadonlyMap<string, WrittenPaint>;
  readonly opened: ReadonlyMap<string, WrittenPaint>;
}

export class Overlays {
  private readonly told: ReadonlyArray<readonly [name: string, legend: readonly Line[]]>;
  private readonly rows = new Map<number, Row>();

  constructor(
    private readonly block: Block,
    private readonly texts: Texts,
  ) {
    this.told = block.value("overlays") as Overlays["told"];
  }

  /** How the boxes of a picture are painted; costs what is shown. */
  paint(number: number, shown: Composed): PaintsByPath {
    const row = this.row(number);
    const paints: Record<string, WrittenPaint> = {};
    const pending = [shown];
    while (pending.length > 0) {
      const { level, inner } = pending.pop()!;
      level.form.boxes.forEach((box, place) => {
        const path = level.names[box.path];
        const open = inner.get(place);
        if (open) pending.push(open);
        const paint = (open ? row.opened : row.closed).get(path);
        if (paint && !(path in paints)) paints[path] = paint;
      });
    }
    return paints;
  }

  /** What the legend says of one. */
  list(number: number, shown: PaintsByPath, theme: ThemeName): LegendEntry[] {
    const [, legend] = this.told[number] ?? this.refuse();
    const isMissing = Object.values(shown).some(([tone]) => tone === MISSING);
    return legend
      .filter(([, , , tone]) => tone !== MISSING || isMissing)
      .map(([text, ...svgs]) => ({ text, svg: svgs[theme === "dark" ? 1 : 0], overlay: true }));
  }

  private row(number: number): Row {
    let row = this.rows.get(number);
    if (!row) {
      const paints = this.block.value("paints") as WrittenPaint[];
      const paths = this.block.integers("paths");
      const read = (column: string): Map<string, WrittenPaint> => {
        const numbers = this.block.integers(column);
        const found = new Map<string, WrittenPaint>();
        paths.forEach((path, place) => {
          const paint = paints[numbers[number * paths.length + place]];
          if (paint) found.set(this.texts.at(path), paint);
        });
        return found;
      };
      if (!this.told[number]) this.refuse();
      row = { closed: read("closed"), opened: read("opened") };
      this.rows.set(number, row);
    }
    return row;
  }

  private refuse(): never {
    throw new BlockError("There is nothing of that number to colour by.");
  }
}

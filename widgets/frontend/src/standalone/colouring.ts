/** What the boxes of a page are coloured by, and what its colours and signs mean. */

import type { LocalTraits } from "../host/local_traits";
import type { LegendEntry } from "../host/messages";
import type { CanvasTraits } from "../host/traits";
import { layPaints } from "../scene/paints_by_path";
import type { ThemeName } from "../scene/options";
import type { Levels } from "./book";
import type { Composed } from "./compose";
import type { LegendWords } from "./legend";
import type { Overlays } from "./overlays";

export class Colouring {
  private words: Promise<LegendWords> | null = null;
  private reading: Promise<Overlays> | null = null;
  private overlays: Overlays | null = null;

  /** @param readOverlays null where there are none */
  constructor(
    private readonly traits: LocalTraits<CanvasTraits>,
    private readonly readLegend: () => Promise<LegendWords>,
    private readonly readOverlays: (() => Promise<Overlays>) | null,
  ) {}

  /**
   * Colour boxes by a column, none for -1.
   *
   * @throws Error where there is no such column
   */
  async choose(overlay: unknown): Promise<void> {
    const count = this.traits.get("overlays").length;
    if (!(Number.isInteger(overlay) && Number(overlay) >= -1 && Number(overlay) < count)) {
      throw new Error("There is nothing of that number to colour by.");
    }
    this.traits.set({ overlay: Number(overlay) });
    await this.read();
  }

  /** Read what boxes are coloured by, where they are. */
  async read(): Promise<void> {
    if (this.traits.get("overlay") < 0 || !this.readOverlays) return;
    this.reading ??= this.readOverlays();
    this.overlays = await this.reading;
  }

  /** Colour what is shown. */
  colour(shown: Composed): void {
    const overlay = this.traits.get("overlay");
    this.traits.set({ coloured: overlay < 0 ? {} : (this.overlays?.paint(overlay, shown) ?? {}) });
  }

  /** What the colours and signs of a picture mean. */
  async list(book: Levels, shown: Composed, theme: ThemeName): Promise<LegendEntry[]> {
    this.words ??= this.readLegend();
    const { traits } = this;
    const painted = layPaints(traits.get("paints"), traits.get("coloured"));
    const paints = layPaints(traits.get("marks"), painted);
    const overlay = traits.get("overlay");
    const entries = (await this.words).list(book, shown, paints, theme, overlay >= 0);
    const own = overlay < 0 ? [] : (this.overlays?.list(overlay, traits.get("coloured"), theme) ?? []);
    return [...own, ...entries];
  }
}

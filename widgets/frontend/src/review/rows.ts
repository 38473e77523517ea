/** Where the rows of a long list stand: all of one height, but for one that is unfolded. */

export class Rows {
  private openRow = -1;
  private extra = 0;

  constructor(
    readonly height: number,
    public count = 0,
  ) {}

  /** Let one row be higher than the others, by so many pixels; -1 for none. */
  unfold(row: number, extra: number): void {
    this.openRow = row;
    this.extra = row < 0 ? 0 : extra;
  }

  get total(): number {
    return this.count * this.height + (this.openRow < this.count ? this.extra : 0);
  }

  top(row: number): number {
    return row * this.height + (this.openRow >= 0 && row > this.openRow ? this.extra : 0);
  }

  bottom(row: number): number {
    return this.top(row) + this.height + (row === this.openRow ? this.extra : 0);
  }

  /** The first row of a part of the list, and the one after its last. */
  window(from: number, to: number): [number, number] {
    const first = clamp(this.at(from), 0, this.count);
    const last = clamp(this.at(to) + 1, first, this.count);
    return [first, last];
  }

  /** The row at a height. */
  private at(height: number): number {
    if (this.openRow < 0 || height < this.bottom(this.openRow)) {
      const row = Math.floor(height / this.height);
      return this.openRow >= 0 ? Math.min(row, this.openRow) : row;
    }
    return Math.floor((height - this.extra) / this.height);
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
